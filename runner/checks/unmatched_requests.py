"""unmatched-requests: what the agent asked for and no route of the suite answers."""

from __future__ import annotations

from collections.abc import Iterator

from contracts.attempt import Check, CheckType
from contracts.control import UnmatchedRequest
from contracts.suite.case import Case
from runner.checks.interface import Observed, verdict


def check_unmatched_requests(case: Case, observed: Observed) -> Iterator[Check]:
    """One verdict unless the case allows such requests."""
    mode = case.expect.unmatched_requests
    if mode == "allow":
        return
    holds = True if not observed.unmatched else False if mode == "fail" else None
    yield verdict(
        "unmatched-requests",
        kind=CheckType.UNMATCHED_REQUESTS,
        holds=holds,
        expected=0,
        actual=[f"{request.method} {request.path}" for request in observed.unmatched] or 0,
        reason=_reason(observed.unmatched),
    )


def _reason(unmatched: tuple[UnmatchedRequest, ...]) -> str:
    if not unmatched:
        return "every request was answered by a route"
    first = unmatched[0]
    if first.nearest_route is None:
        return f"{len(unmatched)} unmatched; no route is near"
    parts = [f"{miss.part} {miss.name}" if miss.name else miss.part for miss in first.misses]
    return f"{len(unmatched)} unmatched; nearest {first.nearest_route}, but for {', '.join(parts)}"
