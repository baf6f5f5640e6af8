"""A run directory that will not be sealed: a new one goes if no attempt began, else it says how far it got."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from contracts import evidence
from contracts.errors import ErrorCode, Found, LabError
from contracts.machine_limits import limit_error
from contracts.plan import Plan
from contracts.record import Record
from driver import clock
from driver.at_once import Duty, promise
from driver.interrupts import Interrupted, on_its_way, signals_wait
from driver.run_readme import unsealed_readme
from driver.unsealed_files import is_resumable, kept_unsealed, next_step_of
from ledger.redaction import Redactor
from ledger.run_directory import PART_PREFIX, RunDirectory

Phase = Literal["attempts", "verdicts", "conclusion"]


class UnderWay(Record):
    """An attempt that had begun and has no line."""

    case_id: str
    attempt: int
    waits_for: Literal["agent", "judge"]


class Abort(Record):
    """abort.json: how far an interrupted run got."""

    schema_version: Literal[1] = 1
    reason: str
    aborted_at: str
    phase: Phase
    """`attempts` run; all have run and `verdicts` of the judge are waited for; the `conclusion` is written."""
    planned_cases: int
    planned_repeats: int
    finished_attempts: int
    """Lines of traces/attempts.jsonl: retries count as well."""
    finished_repeats: int
    under_way: list[UnderWay]


@dataclass
class Reached:
    """How far the run got, as the pipeline says it."""

    attempts_began: bool = False
    phase: Phase = "attempts"
    under_way: Callable[[], Sequence[UnderWay]] = field(default=lambda: ())


@dataclass(frozen=True)
class _Unsealed:
    """A run as it would be left."""

    run: RunDirectory
    plan: Plan
    redactor: Redactor
    reached: Reached

    @property
    def is_sealed(self) -> bool:
        """A signal may come after the last write."""
        return (self.run.path / evidence.COMPLETE).exists()

    def texts(self, reason: str) -> dict[str, str]:
        """File name to text: what says how far the run got."""
        redactor = self.redactor.writing(evidence.ABORT, may_be_cut=True)
        plan = redactor.redact_record(self.plan)
        attempts, repeats = _finished(self.run.path / evidence.ATTEMPTS)
        abort = Abort(
            reason=redactor.redact_text(reason),
            aborted_at=clock.instant(clock.now()),
            phase=self.reached.phase,
            planned_cases=len(plan.cases),
            planned_repeats=sum(case.repeats for case in plan.cases),
            finished_attempts=attempts,
            finished_repeats=repeats,
            under_way=list(self.reached.under_way()),
        )
        how_far = (
            f"{abort.phase}: {repeats} of {abort.planned_repeats} repeats finished",
            *(f"under way: {one.case_id}, attempt {one.attempt}, {one.waits_for}" for one in abort.under_way),
        )
        readme = unsealed_readme(
            plan,
            reason=abort.reason,
            how_far=how_far,
            redactor=self.redactor,
        )
        return {
            evidence.ABORT: json.dumps(abort.to_json(), indent=2, ensure_ascii=False) + "\n",
            evidence.README: readme,
        }

    def owed(self, reason: str) -> Duty:
        """What is left to do where there is no time to leave it in order."""
        path = self.run.path
        if moved := self.run.place.trouble():
            return Duty(told=(f"kept: {moved.kept}", f"next: {moved.next_step}"))
        if self.is_sealed:
            return Duty(told=(f"kept: {path} (sealed)",))
        if not self.reached.attempts_began:
            return Duty(remove=(str(path),))
        return Duty(
            remove=tuple(map(str, path.rglob(PART_PREFIX + "*"))),
            write={str(path / name): text for name, text in self.texts(reason).items()},
            told=(f"kept: {kept_unsealed(path)}", f"next: {next_step_of(path)}"),
            holds=self.run.lock_descriptors,  # until the last of it is written, nobody may go on with the run
        )

    def leave(self, error: BaseException) -> None:
        """Remove it or write how far it got, and tell the error what is kept."""
        if moved := self.run.place.trouble():
            _tell(error, kept=moved.kept, next_step=moved.next_step)
        elif self.is_sealed:
            _tell(error, kept=f"{self.run.path} (sealed)")
        elif not self.reached.attempts_began:
            self.run.discard()
            _tell(error, kept=None)
        else:
            self._keep(error)

    def _keep(self, error: BaseException) -> None:
        kept = kept_unsealed(self.run.path)
        try:
            for name, text in self.texts(str(error.args[0]) if error.args else type(error).__name__).items():
                self.run.write_whole(name, text.encode(errors="backslashreplace"))
        except (LabError, OSError) as second:
            # the disk that failed the run may fail this as well; the first error is the one to report
            kept += f", without {evidence.ABORT}: {getattr(second, 'cause', None) or second}"
        _tell(error, kept=kept, next_step=_next_step(error, self.run.path))


@contextmanager
def leave_unsealed(
    open_run: Callable[[], RunDirectory], *, plan: Plan, redactor: Redactor, is_new: bool = True
) -> Iterator[tuple[RunDirectory, Reached]]:
    """Within: the run is written. On any error it stays without COMPLETE; a new one is removed if no attempt began.

    Raises what `open_run` does.
    """
    reached = Reached(attempts_began=not is_new)
    with signals_wait():  # it is made and in somebody's charge, or not made
        run = open_run()
        unsealed = _Unsealed(run, plan, redactor, reached)
        left_in_order = promise(unsealed.owed)
    try:
        yield run, reached
    except BaseException as error:
        told = _told(error, run, reached)
        unsealed.leave(told)
        left_in_order()  # a signal in the middle of that finds the promise still there
        if told is error:
            raise
        raise told from error
    else:
        left_in_order()
    finally:
        run.close()


def tell_what_is_left(interrupted: Interrupted, path: Path) -> None:
    """Have it say so where it came before anybody went on with an unsealed run, which is then as it was."""
    if interrupted.kept is None and not (path / evidence.COMPLETE).exists() and is_resumable(path):
        _tell(interrupted, kept=kept_unsealed(path), next_step=next_step_of(path))


def _tell(error: BaseException, *, kept: str | None, next_step: str | None = None) -> None:
    """Have the error say it, where it is one that a person reads."""
    if isinstance(error, LabError | Interrupted):
        error.kept = kept
        error.next_step = next_step or error.next_step


def _told(error: BaseException, run: RunDirectory, reached: Reached) -> BaseException:
    """The same error; or the signal, or what became of the run directory, where that is what is behind it."""
    if not isinstance(error, Exception):
        return error
    if interrupted := on_its_way():
        return interrupted
    if moved := run.place.trouble():
        return moved
    if not isinstance(error, LabError) and (limit := limit_error(error, code=_code_of(reached))):
        return limit
    if not isinstance(error, OSError) or not str(error.filename).startswith(f"{run.path}/"):
        return error
    return LabError(
        ErrorCode.WRITE_FAILED,
        f"{error.filename} cannot be read any more; the run stays unsealed",
        found=[Found(f"{error.strerror} (errno {error.errno})", file=str(error.filename))],
    )


def _code_of(reached: Reached) -> ErrorCode:
    """The environment is refused only before the first attempt."""
    return ErrorCode.WRITE_FAILED if reached.attempts_began else ErrorCode.MACHINE_LIMIT


def _next_step(error: BaseException, path: Path) -> str:
    """What the error says first, and then what can be done with the run."""
    first = error.next_step if isinstance(error, LabError | Interrupted) else None
    then = next_step_of(path)
    return then if first in {None, then} else f"{first}; then {then}"


def _finished(path: Path) -> tuple[int, int]:
    """Whole lines of the attempts, and how many repeats have one."""
    attempts, repeats = 0, set()
    with path.open("rb") as stream:
        for line in stream:
            if line.endswith(b"\n"):
                record = json.loads(line)
                attempts += 1
                repeats.add((record["caseId"], record["repeat"]))
    return attempts, len(repeats)
