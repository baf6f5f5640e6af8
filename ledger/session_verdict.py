"""An attempt's verdict in the words of `docker agent eval`: eval_result, and the sums over a run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from contracts.attempt import AttemptRecord, Check, CheckType
from contracts.outcome import Outcome
from contracts.record import Json

_COUNTED = {CheckType.RELEVANCE: "relevance", CheckType.ASSERTION: "assertions"}
"""Told as one success, once all of them passed, and as a failure each."""


def eval_result(attempt: AttemptRecord) -> dict[str, Json]:
    """`passed`, `successes`, `failures`, `error`, `cost`, `output_tokens` and `checks` of one attempt.

    The format has no word for what could not be told or was not measured: an unknown verdict is among the failures,
    as `could not be told: …`, and cost and tokens that nothing measured are 0. results.json says what they are.
    """
    error = _error(attempt)
    failures = [error] if error else [line for check in attempt.checks for line in _failures(check)]
    return {
        "passed": attempt.outcome is Outcome.PASS,
        "successes": [] if error else list(_successes(attempt)),
        "failures": failures,
        "error": error,
        "cost": attempt.usage.cost_usd or 0.0,
        "output_tokens": attempt.usage.output_tokens or 0,
        "checks": _checks(attempt),
    }


def _error(attempt: AttemptRecord) -> str:
    """Why the attempt ended in no plain verdict of its checks."""
    return f"{attempt.outcome_class}: {attempt.reason or 'no reason'}" if attempt.outcome_class else ""


def _of(attempt: AttemptRecord, kind: CheckType) -> list[Check]:
    return [check for check in attempt.checks if check.type is kind]


def _passed(checks: list[Check]) -> int:
    return sum(check.outcome is Outcome.PASS for check in checks)


def _successes(attempt: AttemptRecord) -> Iterator[str]:
    for check in attempt.checks:
        if check.outcome is Outcome.PASS and check.type not in _COUNTED:
            yield {CheckType.SIZE: f"size {check.actual}", CheckType.TOOL_CALLS: "tool calls"}.get(
                check.type, check.name
            )
    for kind, word in _COUNTED.items():
        checks = _of(attempt, kind)
        if checks and _passed(checks) == len(checks):
            yield f"{word} {len(checks)}/{len(checks)}"


def _failures(check: Check) -> Iterator[str]:
    if check.outcome is Outcome.PASS:
        return
    reason = f" (reason: {check.reason})" if check.reason else ""
    said = f"{check.name}{reason}"
    if check.type is CheckType.SIZE:
        said = f"size expected {check.expected}, got {check.actual}"
    elif check.type is CheckType.TOOL_CALLS and check.score is not None:
        said = f"tool calls score {check.score:.2f}"
    elif check.type is CheckType.RELEVANCE:
        said = f"relevance: {check.expected}{reason}"
    elif check.type is CheckType.ASSERTION:
        said = f"assertion {check.name}: {check.reason}" if check.reason else f"assertion: {check.name}"
    yield said if check.outcome is Outcome.FAIL else f"could not be told: {said}"


def _checks(attempt: AttemptRecord) -> dict[str, Json]:
    """Only the kinds that were checked."""
    checks: dict[str, Json] = {}
    for check in _of(attempt, CheckType.SIZE):
        told = {"actual": check.actual, "expected": check.expected}
        checks["size"] = {"passed": check.outcome is Outcome.PASS, **told}
    for check in _of(attempt, CheckType.TOOL_CALLS):
        checks["tool_calls"] = {"passed": check.outcome is Outcome.PASS, "score": check.score or 0.0}
    if relevance := _of(attempt, CheckType.RELEVANCE):
        checks["relevance"] = _counted(relevance, [{"criterion": one.expected} for one in relevance])
    if assertions := _of(attempt, CheckType.ASSERTION):
        kinds = [one.expected.get("type") if isinstance(one.expected, dict) else None for one in assertions]
        named = [{"name": one.name, "type": kind} for one, kind in zip(assertions, kinds, strict=True)]
        checks["assertions"] = _counted(assertions, named)
    return checks


def _counted(checks: list[Check], named: list[dict[str, Json]]) -> dict[str, Json]:
    passed = _passed(checks)
    results = [
        {**name, "passed": check.outcome is Outcome.PASS, "reason": check.reason or ""}
        for name, check in zip(named, checks, strict=True)
    ]
    return {"passed": passed == len(checks), "passed_count": passed, "total": len(checks), "results": results}


@dataclass
class EvalTotals:
    """The sums of a run, over the tries that decide its repeats; one that never started is an error."""

    total_evals: int = 0
    failed_evals: int = 0
    """Those that ended in an error, as docker-agent counts them."""
    total_cost: float = 0.0
    sizes_passed: int = 0
    sizes_total: int = 0
    tools_f1_sum: float = 0.0
    tools_count: int = 0
    relevance_passed: int = 0
    relevance_total: int = 0
    assertions_passed: int = 0
    assertions_total: int = 0

    def add(self, attempt: AttemptRecord | None) -> None:
        """Counts one repeat."""
        self.total_evals += 1
        if attempt is None or attempt.outcome_class:
            self.failed_evals += 1
        if attempt is None:
            return
        self.total_cost += attempt.usage.cost_usd or 0.0
        sizes, tools = _of(attempt, CheckType.SIZE), _of(attempt, CheckType.TOOL_CALLS)
        self.sizes_passed += _passed(sizes)
        self.sizes_total += len(sizes)
        self.tools_f1_sum += sum(check.score or 0.0 for check in tools)
        self.tools_count += len(tools)
        relevance, assertions = _of(attempt, CheckType.RELEVANCE), _of(attempt, CheckType.ASSERTION)
        self.relevance_passed += _passed(relevance)
        self.relevance_total += len(relevance)
        self.assertions_passed += _passed(assertions)
        self.assertions_total += len(assertions)
