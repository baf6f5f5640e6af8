"""Controls of the comparison: it finds the planted regression and no other, and none between equal runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from comparison.compare import compare
from contracts.comparison import Verdict
from contracts.errors import LabError
from contracts.exits import Exit
from driver.allowances import NO_TOLERANCE, allowance_of
from driver.self_test.expected import REGRESSED
from driver.self_test.looked import Looked, judged
from driver.self_test.runs import Runs
from driver.two_runs import verified_sides


def look_at_comparisons(runs: Runs) -> Iterator[Looked]:
    """Two of them, with the runs that the controls of the seal saw accepted."""
    yield _looked("the same agent again", runs.known, runs.again, verdict=Verdict.NO_REGRESSION, regressed=[])
    yield _looked("a planted regression", runs.known, runs.worse, verdict=Verdict.REGRESSION, regressed=[REGRESSED])


def _looked(name: str, baseline: Path, candidate: Path, *, verdict: Verdict, regressed: list[str]) -> Looked:
    """Also where the verdict is right it must be so for the right reason: this case, and no drift of the world."""
    try:
        with verified_sides(baseline, candidate) as sides:
            found = compare(*sides, allowance=allowance_of(NO_TOLERANCE, drift=(), removed=False))
    except LabError as error:
        return Looked(f"comparison: {name}", f"refused: {error.message}; must be {verdict.value}", Exit.NO, error=error)
    drift = [one.key for one in found.drift]
    is_so = found.verdict is verdict and list(found.cases_regressed) == regressed and not drift
    return judged(
        f"comparison: {name}",
        is_so=is_so,
        text=_told(found.verdict, list(found.cases_regressed), drift),
        must=f"must be {_told(verdict, regressed, [])}",
    )


def _told(verdict: Verdict, regressed: list[str], drift: list[str]) -> str:
    of = f" of {', '.join(regressed)}" if regressed else ""
    return f"{verdict.value}{of}" + (f", drift {', '.join(drift)}" if drift else "")
