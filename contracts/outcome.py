"""The three-valued outcome, its classes, and the one order in which outcomes merge."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Outcome(StrEnum):
    """pass, fail, or unknown (could not tell; never counted as either)."""

    PASS = "pass"  # noqa: S105 - a verdict
    FAIL = "fail"
    UNKNOWN = "unknown"


class OutcomeClass(StrEnum):
    """Why an attempt did not end in a plain verdict of its checks."""

    AGENT_ERROR = "agent-error"
    LIMIT = "limit"
    INFRASTRUCTURE = "infrastructure"
    PROVIDER = "provider"
    SETUP = "setup"
    JUDGE = "judge"
    FAULT_NOT_EXPOSED = "fault-not-exposed"
    SUITE = "suite"
    NOT_RUN = "not-run"
    NO_EXPECTATION = "no-expectation"


def merge_outcomes(outcomes: Iterable[Outcome]) -> Outcome:
    """One outcome for many: fail over unknown over pass; no outcome at all is unknown."""
    seen = set(outcomes)
    if Outcome.FAIL in seen:
        return Outcome.FAIL
    if Outcome.UNKNOWN in seen or not seen:
        return Outcome.UNKNOWN
    return Outcome.PASS
