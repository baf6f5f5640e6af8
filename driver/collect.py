"""Takes the runner's lines one by one: redacts, cuts to the capture level, appends; the run directory's only source."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from pydantic import ValidationError

from contracts import evidence
from contracts.attempt import AttemptRecord
from contracts.canonical import digest_of_json
from contracts.errors import ErrorCode, Found, LabError, error_code_of
from contracts.lines import (
    RunnerAttempt,
    RunnerFinished,
    RunnerLine,
    RunnerReady,
    RunnerRefused,
    RunnerSpans,
    RunnerStarted,
    runner_lines,
)
from contracts.outcome import Outcome, OutcomeClass
from contracts.plan import Plan
from contracts.telemetry import SpanCount
from driver import clock
from driver.judge_spans import JudgeSpans
from driver.judging.attempts import Judging
from driver.ports import Progress
from ledger.capture import capture_attempt
from ledger.redaction import Redactor
from ledger.run_directory import RunDirectory


@dataclass
class Collected:
    """What the runner said so far."""

    finished: bool = False
    attempts: int = 0
    spans: SpanCount | None = None
    """None: no spans are made, or it ended before it said so."""
    has_begun: bool = False
    """An attempt was begun."""
    under_way: dict[tuple[str, int], tuple[str, RunnerStarted]] = field(default_factory=dict)
    """(case id, attempt) -> when it started, and what the runner said of it."""
    unjudged: set[tuple[str, int]] = field(default_factory=set)
    """(case id, attempt) of those that are over and wait for the judge."""


def read_runner(lines: Iterable[str]) -> Iterator[RunnerLine]:
    """Parse the runner's lines.

    Raises:
        LabError: the error of a `refused` line; BUG for a line that is no record.

    """
    for line in lines:
        try:
            record = runner_lines.validate_json(line)
        except ValidationError as error:
            raise LabError(ErrorCode.BUG, "the runner printed a line that is no record", cause=line[:200]) from error
        if isinstance(record, RunnerRefused):
            raise LabError(
                error_code_of(record.code),
                record.message,
                found=[Found(text) for text in record.found],
                expected=record.expected,
                cause=record.cause,
                next_step=record.next_step,
            )
        yield record


def await_ready(records: Iterator[RunnerLine]) -> None:
    """Wait for the line that says that attempts begin.

    Raises:
        LabError: RUNNER_FAILED when the runner ended without it; what `read_runner` raises.

    """
    for record in records:
        if isinstance(record, RunnerReady):
            return
    raise LabError(ErrorCode.RUNNER_FAILED, "the runner ended before the first attempt", next_step="labctl doctor")


@dataclass(frozen=True)
class Collector:
    """Writes finished attempts into the run directory."""

    run: RunDirectory
    plan: Plan
    redactor: Redactor
    progress: Progress
    judging: Judging | None = None
    """None: nobody judges."""
    judge_spans: JudgeSpans | None = None
    """None: no spans are made."""
    collected: Collected = field(default_factory=Collected)
    _writing: threading.Lock = field(default_factory=threading.Lock)
    """Attempts come from the judge's threads too; rows of one stay together."""

    def take(self, records: Iterable[RunnerLine]) -> None:
        """Take every line until the runner ends; its death leaves the attempts under way as unknown."""
        for record in records:
            if isinstance(record, RunnerAttempt):
                self._receive(record)
            elif isinstance(record, RunnerStarted):
                self._begin_suite_time()
                self.collected.under_way[record.case_id, record.attempt] = clock.instant(clock.now()), record
                self.progress(record)
            elif isinstance(record, RunnerSpans):
                self.collected.spans = record.count
            elif isinstance(record, RunnerFinished):
                self.collected.finished = True
        if not self.collected.finished:
            self._give_up_on_attempts_under_way()

    def pace(self, tell: Callable[[str], None]) -> None:
        """Let the runner, which `tell` reaches, know when it is too far ahead of the judge, and when no more."""
        if self.judging is not None:
            self.judging.tell = tell

    def _begin_suite_time(self) -> None:
        """With the first attempt; what the judge has not told when it is over is unknown."""
        seconds = self.plan.suite_timeout_seconds
        if not self.collected.has_begun and seconds is not None and self.judging is not None:
            self.judging.end_in(seconds)
        self.collected.has_begun = True

    def settle(self) -> None:
        """Wait for the verdicts that are still to come; raises LabError WRITE_FAILED."""
        if self.judging is not None:
            self.judging.settle()

    def _receive(self, line: RunnerAttempt) -> None:
        self.collected.under_way.pop((line.record.case_id, line.record.attempt), None)
        asked_at_ns, asked_at_s = clock.wall_ns(), clock.monotonic_s()

        def done(judged: RunnerAttempt) -> None:
            self._append(judged)
            if self.judge_spans is not None:
                took_ns = int((clock.monotonic_s() - asked_at_s) * 1e9)  # the wall clock may have been set back
                self.judge_spans.add(judged, began_at_ns=asked_at_ns, ended_at_ns=asked_at_ns + took_ns)

        if self.judging is None:
            done(line)
        else:
            self.collected.unjudged.add((line.record.case_id, line.record.attempt))
            self.judging.take(line, done=done)

    def _append(self, line: RunnerAttempt) -> None:
        with self._writing:
            self._write(line)

    def _write(self, line: RunnerAttempt) -> None:
        record = capture_attempt(self._redacted(line.record), level=self.plan.capture)
        # rows first: `resume` drops rows that have no attempt line, so a cut between the two loses nothing
        for row in line.journal:
            self.run.append(evidence.JOURNAL, self._of_journal.redact_record(row).to_line())
        self.run.append(evidence.ATTEMPTS, record.to_line())
        self.collected.attempts += 1
        self.collected.unjudged.discard((record.case_id, record.attempt))
        self.progress(record)

    def _redacted(self, record: AttemptRecord) -> AttemptRecord:
        """With what was taken out of it, which capture may hide: a run that is resumed counts on from there."""
        before = self.redactor.counts.of(evidence.ATTEMPTS)
        record = self._of_attempts.redact_record(record)
        taken_out = self.redactor.counts.of(evidence.ATTEMPTS) - before
        return record.model_copy(update={"redacted": dict(sorted(taken_out.items()))}) if taken_out else record

    @cached_property
    def _of_attempts(self) -> Redactor:
        return self.redactor.writing(evidence.ATTEMPTS, may_be_cut=True)

    @cached_property
    def _of_journal(self) -> Redactor:
        return self.redactor.writing(evidence.JOURNAL)

    def _give_up_on_attempts_under_way(self) -> None:
        cases = {case.case_id: case for case in self.plan.cases}
        for _, (started_at, started) in sorted(self.collected.under_way.items(), key=lambda item: item[0]):
            case = cases[started.case_id]
            record = AttemptRecord(
                case_id=case.case_id,
                title=case.title,
                protected=case.protected,
                case_digest=case.case_digest,
                attempt=started.attempt,
                repeat=started.repeat,
                retry_of=started.retry_of,
                outcome=Outcome.UNKNOWN,
                outcome_class=OutcomeClass.INFRASTRUCTURE,
                reason="the runner ended in the middle of this attempt",
                trajectory_digest=digest_of_json([]),
                tool_calls=0,
                started_at=started_at,
                duration_ms=0,
            )
            self._append(RunnerAttempt(record=record))
