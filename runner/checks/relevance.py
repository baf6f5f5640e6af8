"""relevance: statements for a judge, who is on the driver's side."""

from __future__ import annotations

from collections.abc import Iterator

from contracts.attempt import Check, CheckType
from contracts.suite.case import Case
from runner.checks.interface import Observed, short, verdict


def check_relevance(case: Case, observed: Observed) -> Iterator[Check]:  # noqa: ARG001 - nobody looks yet
    """One verdict for each statement: it could not be told."""
    for statement in case.expect.relevance:
        yield verdict(
            f"relevance {short(statement)}",
            kind=CheckType.RELEVANCE,
            holds=None,
            expected=statement,
            reason="no judge was asked: this version has none",
        )
