"""relevance: statements for a judge, who is on the driver's side."""

from __future__ import annotations

from collections.abc import Iterator

from contracts.attempt import Check, CheckType
from contracts.suite.case import Case
from runner.checks.interface import Observed, short, verdict

NO_JUDGE = "no judge was asked; next: labctl run --judge-model PROVIDER/MODEL, or judge_model in suite.toml"


def check_relevance(case: Case, observed: Observed) -> Iterator[Check]:  # noqa: ARG001 - the judge looks
    """One verdict for each statement: the runner cannot tell, and a driver that has a judge asks it."""
    for statement in case.expect.relevance:
        yield verdict(
            f"relevance {short(statement)}",
            kind=CheckType.RELEVANCE,
            holds=None,
            expected=statement,
            reason=NO_JUDGE,
        )
