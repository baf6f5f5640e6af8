"""Opens and verifies the two runs of a comparison, large ones side by side; all that is wrong is told at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from comparison.sides import Side
from contracts import evidence
from contracts.errors import ErrorCode, Found, LabError
from driver.refusals import Refusals
from driver.run_names import EVIDENCE, run_directory_of, shown_as
from driver.verify import Verified, verify_directory

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_LARGE_BYTES = 2 * 1024 * 1024
"""Of plan.json, some 10 000 cases: from here on a second process pays."""


@contextmanager
def verified_side(path: Path, *, evidence_folder: Path = EVIDENCE) -> Iterator[Side]:
    """One run, verified; of an archive for as long as the context lasts.

    Raises:
        LabError: as `driver.run_names.run_directory_of` and `driver.verify.verify_directory` do.

    """
    with run_directory_of(path, evidence=evidence_folder) as root:
        yield side_of(verify_directory(root, shown=shown_as(path, root)))


@contextmanager
def verified_sides(baseline: Path, candidate: Path) -> Iterator[tuple[Side, Side]]:
    """Both runs, likewise, with at least one case in common.

    Raises:
        LabError: for one run or both; NOTHING_IN_COMMON.

    """
    refusals = Refusals()
    with ExitStack() as kept:
        roots = [
            refusals.value_of(lambda path=path: kept.enter_context(run_directory_of(path)))  # type: ignore[misc]
            for path in (baseline, candidate)
        ]
        if roots[0] is None or roots[1] is None:
            raise refusals.as_one()
        jobs = [_Job(root, shown_as(path, root)) for root, path in ((roots[0], baseline), (roots[1], candidate))]
        found = _side_by_side(*jobs) if any(job.is_large for job in jobs) else [job.done() for job in jobs]
        verified = [refusals.value_of(_value_or_error(one)) for one in found]
        if verified[0] is None or verified[1] is None:
            raise refusals.as_one()
        were, are = side_of(verified[0]), side_of(verified[1])
        require_common(were.plan.run_id, were.rows.index, are.plan.run_id, are.rows.index)
        yield were, are


def side_of(verified: Verified) -> Side:
    """A verified run as a side of a comparison."""
    return Side(root=verified.root, plan=verified.plan, manifest=verified.manifest, rows=verified.rows)


def require_common(baseline: str, were: dict[str, Any], candidate: str, are: dict[str, Any]) -> None:
    """Raise NOTHING_IN_COMMON unless a case id stands on both sides; the texts are how the runs are called."""
    if not were.keys().isdisjoint(are):
        return
    empty = [name for name, cases in ((baseline, were), (candidate, are)) if not cases]
    raise LabError(
        ErrorCode.NOTHING_IN_COMMON,
        f"{' and '.join(empty)} has no case" if empty else f"{baseline} and {candidate} have no case in common",
        found=[
            Found(f"{len(cases)} cases" + (f", the first {next(iter(cases))}" if cases else ""), file=name)
            for name, cases in ((baseline, were), (candidate, are))
        ],
        expected="two runs of one suite",
    )


@dataclass(frozen=True)
class _Job:
    """One run to verify."""

    root: Path
    shown: Path

    @property
    def is_large(self) -> bool:
        plan = self.root / evidence.PLAN
        return plan.is_file() and plan.stat().st_size > _LARGE_BYTES

    def done(self) -> Verified | LabError:
        try:
            return verify_directory(self.root, shown=self.shown)
        except LabError as error:
            return error


def _side_by_side(baseline: _Job, candidate: _Job) -> list[Verified | LabError]:
    """The candidate's in a fork, whose numbers of behaviour mean the same as those of this process."""
    import multiprocessing  # noqa: PLC0415 - small runs need none

    context = multiprocessing.get_context("fork")
    receiving, sending = context.Pipe(duplex=False)
    child = context.Process(target=_send, args=(candidate, sending), daemon=True)
    child.start()
    sending.close()
    try:
        here = baseline.done()
        there = _received(receiving)
    finally:
        child.kill()
        child.join()
    return [here, there if there is not None else candidate.done()]


def _send(job: _Job, sending: Connection) -> None:
    sending.send(job.done())
    sending.close()


def _received(receiving: Connection) -> Verified | LabError | None:
    """What the fork found; None where it died, for whatever reason this process will meet itself."""
    try:
        found: Verified | LabError = receiving.recv()
    except EOFError:
        return None
    return found


def _value_or_error(found: Verified | LabError) -> Callable[[], Verified]:
    def decide() -> Verified:
        if isinstance(found, LabError):
            raise found
        return found

    return decide
