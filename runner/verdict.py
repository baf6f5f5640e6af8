"""From what happened to outcome, class and reason: the table of CONTRACT §4, in the one order in which rows win."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from contracts.attempt import Check, FaultWitness
from contracts.outcome import OutcomeClass
from contracts.verdict import Verdict, by_checks, named, of_class, passed_limits
from runner.agents.interface import Ending, EndKind
from runner.faults.witness import not_met_reason


@dataclass(frozen=True)
class Happened:
    """All that the verdict depends on."""

    ending: Ending
    checks: Sequence[Check] = ()
    lost: str | None = None
    """Why the world could not be asked about the attempt."""
    suite_error: str | None = None
    model_error: str | None = None
    expects_nothing: bool = False
    faults: Sequence[FaultWitness] = ()
    """One for each planned fault."""


def decide(happened: Happened) -> Verdict:
    """The first rule that applies.

    What makes the attempt worthless comes first (the lab or the suite failed, or a planned fault was not met: nothing
    that the agent did can be held against it or for it); then what the lab measured; then what the agent said of
    itself; then the checks.
    """
    for rule in _RULES:
        verdict = rule(happened)
        if verdict is not None:
            return verdict
    return by_checks(happened.checks)


def not_run(reason: str) -> Verdict:
    """The verdict on an attempt that never started."""
    return of_class(OutcomeClass.NOT_RUN, reason)


def _infrastructure(happened: Happened) -> Verdict | None:
    ending = happened.ending
    reason = happened.lost or (ending.reason if ending.kind is EndKind.INFRASTRUCTURE else None)
    return None if reason is None else of_class(OutcomeClass.INFRASTRUCTURE, reason)


def _setup(happened: Happened) -> Verdict | None:
    ending = happened.ending
    return of_class(OutcomeClass.SETUP, ending.reason) if ending.kind is EndKind.SETUP else None


def _suite(happened: Happened) -> Verdict | None:
    ending = happened.ending
    told = ending.reason if ending.kind is EndKind.SUITE else None
    reason = told or happened.suite_error or happened.model_error
    return None if reason is None else of_class(OutcomeClass.SUITE, reason)


def _fault_not_exposed(happened: Happened) -> Verdict | None:
    reason, end = not_met_reason(happened.faults), happened.ending.kind
    if reason is None or end is EndKind.PROVIDER:  # that may pass when it is tried again
        return None
    how = "" if end is EndKind.FINISHED else f"; the agent ended by {end.value}"  # its own words may quote it
    return of_class(OutcomeClass.FAULT_NOT_EXPOSED, reason + how)


def _limit(happened: Happened) -> Verdict | None:
    if happened.ending.kind is EndKind.LIMIT:
        return of_class(OutcomeClass.LIMIT, happened.ending.reason)
    failed = passed_limits(happened.checks)
    return of_class(OutcomeClass.LIMIT, f"it went past its {named(failed)}") if failed else None


def _provider(happened: Happened) -> Verdict | None:
    ending = happened.ending
    return of_class(OutcomeClass.PROVIDER, ending.reason) if ending.kind is EndKind.PROVIDER else None


def _agent_error(happened: Happened) -> Verdict | None:
    ending = happened.ending
    is_error = ending.kind is EndKind.AGENT_ERROR
    return of_class(OutcomeClass.AGENT_ERROR, ending.reason) if is_error else None


def _no_expectation(happened: Happened) -> Verdict | None:
    return of_class(OutcomeClass.NO_EXPECTATION, "it expects nothing") if happened.expects_nothing else None


_RULES: tuple[Callable[[Happened], Verdict | None], ...] = (
    _infrastructure,
    _setup,
    _suite,
    _fault_not_exposed,
    _limit,
    _provider,
    _agent_error,
    _no_expectation,
)
