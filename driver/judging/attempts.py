"""Attempts on their way past the judge: many at once, a bounded number, each handed on when its last verdict is in.

Nobody waits for the judge but the end of the run: a runner that gets too far ahead is told to begin nothing further.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial

from contracts.lines import RunnerAttempt
from contracts.pace import Pace
from contracts.suite.case import Case
from driver.judging.deciding import is_decided_by_checks, left_unjudged, statements_of, with_verdicts
from driver.judging.judge import Judge, Told
from driver.judging.settings import ATTEMPTS_AHEAD, REQUESTS_AT_ONCE
from driver.judging.transcript import transcript_of

Done = Callable[[RunnerAttempt], None]


class Judging:
    """Takes finished attempts from one thread and hands them on from others."""

    def __init__(self, judge: Judge, cases: Mapping[str, Case], *, ahead: int = ATTEMPTS_AHEAD) -> None:
        self._judge = judge
        self._cases = cases
        self._ahead = ahead
        self._pool = ThreadPoolExecutor(REQUESTS_AT_ONCE, thread_name_prefix="judge")
        self._waiting = 0
        self._holds = False
        self._changed = threading.Condition()
        self._error: BaseException | None = None
        self._is_over = False
        self.tell: Callable[[str], None] = _nobody
        """Reaches the runner; without it nobody holds back."""

    def take(self, line: RunnerAttempt, *, done: Done) -> None:
        """Judge the attempt and give it to `done`, at once where there is nothing to judge.

        Never waits: whoever reads the runner has more to do than to judge. Once too many wait the runner is told to
        begin no further attempt, so no more come than were under way. Raises what `done` raised for an earlier one.
        """
        if not statements_of(line.record):
            done(line)
            return
        if not is_decided_by_checks(line.record):
            done(line.model_copy(update={"record": left_unjudged(line.record)}))
            return
        with self._changed:
            self._raise_error()
            self._waiting += 1
            self._keep_pace()
        attempt = _Case(self._cases[line.record.case_id], line, finish=lambda judged: self._finish(judged, done))
        attempt.start(lambda ask: self._pool.submit(ask, self._judge))

    def end_in(self, seconds: float) -> None:
        """After so many seconds nobody is asked any more."""
        self._judge.end_in(seconds)

    def settle(self) -> None:
        """Wait until every attempt was handed on; raises what `done` raised."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting == 0 or self._error is not None)
            self._raise_error()

    def stop(self) -> None:
        """Hand nothing on any more, and try nothing again."""
        self._is_over = True
        self._judge.stop()

    def close(self) -> None:
        """Wait for the threads, whose requests somebody ended."""
        self.stop()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _finish(self, judged: Callable[[], RunnerAttempt], done: Done) -> None:
        if self._is_over:
            return  # an attempt that waits is lost like one that is under way: no half verdict is kept
        try:
            done(judged())
        except BaseException as error:  # noqa: BLE001 - it is raised in the thread that reads the runner
            with self._changed:
                self._error = self._error or error
        finally:
            with self._changed:
                self._waiting -= 1
                self._keep_pace()
                self._changed.notify_all()

    def _keep_pace(self) -> None:
        """Tell the runner to hold, or to go on once half of them are judged; called with the lock, so in order."""
        holds = self._waiting >= self._ahead or (self._holds and self._waiting > self._ahead // 2)
        if holds != self._holds:
            self._holds = holds
            self.tell(Pace(hold=holds).to_line())

    def _raise_error(self) -> None:
        if self._error is not None:
            raise self._error


def _nobody(_line: str) -> None:
    """There is no runner that could be told."""


class _Case:
    """One attempt: a verdict for each statement, in whatever order they come."""

    def __init__(
        self, case: Case, line: RunnerAttempt, *, finish: Callable[[Callable[[], RunnerAttempt]], None]
    ) -> None:
        self._case = case
        self._line = line
        self._finish = finish
        self._statements = statements_of(line.record)
        self._told: list[Future[Told]] = []
        self._left = len(self._statements)
        self._lock = threading.Lock()
        self._transcript: str | None = None

    def start(self, submit: Callable[[Callable[[Judge], Told]], Future[Told]]) -> None:
        """Have each statement asked about; the last answer finishes the attempt."""
        self._told = [submit(partial(self._ask, str(check.expected))) for check in self._statements]
        for asked in self._told:
            asked.add_done_callback(self._count)

    def _ask(self, statement: str, judge: Judge) -> Told:
        return judge.tell(statement, self._seen())

    def _seen(self) -> str:
        """The transcript, made by whoever asks first: it takes time, and room, that an attempt in waiting needs not."""
        with self._lock:
            if self._transcript is None:
                self._transcript = transcript_of(self._case, self._line.record)
            return self._transcript

    def _count(self, _asked: Future[Told]) -> None:
        with self._lock:
            self._left -= 1
            is_last = self._left == 0
        if is_last:
            self._finish(self._judged)

    def _judged(self) -> RunnerAttempt:
        told = {check.name: asked.result() for check, asked in zip(self._statements, self._told, strict=True)}
        return self._line.model_copy(update={"record": with_verdicts(self._line.record, told)})
