"""Controls of the comparison: it finds the planted regression, and nothing where the agent did the same."""

from __future__ import annotations

from collections.abc import Iterator

from comparison.compare import compare
from contracts.comparison import Comparison, Verdict
from contracts.errors import LabError
from contracts.exits import Exit
from driver.allowances import NO_TOLERANCE, allowance_of
from driver.self_test.expected import COMPARED, REGRESSED
from driver.self_test.looked import Looked, judged
from driver.self_test.runs import Runs
from driver.two_runs import verified_sides

_PLANTED = "comparison: a planted regression"
_SAME = "comparison: what the worse agent did as before"


def look_at_comparisons(runs: Runs) -> Iterator[Looked]:
    """One comparison, of the two runs that the controls of the seal saw accepted."""
    try:
        with verified_sides(runs.known, runs.worse) as sides:
            found = compare(*sides, allowance=allowance_of(NO_TOLERANCE, drift=(), removed=False))
    except LabError as error:
        yield Looked(_PLANTED, f"refused: {error.message}; must be {Verdict.REGRESSION}", Exit.NO, error=error)
        return
    yield judged(
        _PLANTED,
        is_so=found.verdict is Verdict.REGRESSION and found.cases_regressed == (REGRESSED,),
        text=_told(found.verdict, found.cases_regressed),
        must=f"must be {_told(Verdict.REGRESSION, (REGRESSED,))}",
    )
    others, same = _differences_beside_the_planted_one(found), found.statistics.paired - 1 if found.statistics else 0
    wanted = len(COMPARED) - 1 - (runs.no_network is not None)
    yield judged(
        _SAME,
        is_so=not others and same == wanted,
        text=", ".join(others) or _no_difference(same),
        must=f"must be {_no_difference(wanted)}",
    )


def _no_difference(cases: int) -> str:
    return f"no difference in {cases} cases, no drift"


def _told(verdict: Verdict, regressed: tuple[str, ...]) -> str:
    return verdict.value + (f" of {', '.join(regressed)}" if regressed else "")


def _differences_beside_the_planted_one(found: Comparison) -> list[str]:
    """Also a right verdict must be so for the right reason: no other case, no other answer, no drift of the world."""
    cases = [f"{change.case_id} {change.kind}" for change in found.cases if change.case_id != REGRESSED]
    answers = [f"another answer in {one.case_id}" for one in found.tool_responses if one.case_id != REGRESSED]
    return [*cases, *answers, *(f"drift {one.key}" for one in found.drift)]
