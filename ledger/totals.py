"""Summary and metrics of a run, added up case by case in bounded memory."""

from __future__ import annotations

import math
from fractions import Fraction

from contracts.attempt import Check, CheckType
from contracts.outcome import Outcome
from contracts.results import AttemptResult, CaseResult, Metrics, Summary
from ledger.case_results import last_tries

_DIGITS = 6


class _Rate:
    """Passed checks of one type out of those that could tell."""

    def __init__(self) -> None:
        self.passed = 0
        self.told = 0

    def add(self, outcome: Outcome) -> None:
        self.passed += outcome is Outcome.PASS
        self.told += outcome is not Outcome.UNKNOWN

    def value(self) -> float | None:
        return stable_rate(self.passed, self.told) if self.told else None


class Totals:
    """Counts of cases, and the measures over their attempts; the order of `add` does not matter."""

    def __init__(self) -> None:
        self._outcomes = dict.fromkeys(Outcome, 0)
        self._rates = {kind: _Rate() for kind in (CheckType.SIZE, CheckType.RELEVANCE, CheckType.ASSERTION)}
        self._f1_sum, self._f1_count = Fraction(0), 0
        self._cost: Fraction | None = None
        self._duration_ms: int | None = None

    def add(self, case: CaseResult) -> None:
        """Count one case: rates over the tries that decide it, cost and time over everything that was tried."""
        self._outcomes[case.outcome] += 1
        for attempt in case.attempts:
            self._spend(attempt)
        for attempt in last_tries(case.attempts):
            for check in attempt.checks:
                self._measure(check)

    def summary(self) -> Summary:
        """The counts; `passRate` is [0, 0] when nothing was planned."""
        passed, failed, unknown = (self._outcomes[outcome] for outcome in (Outcome.PASS, Outcome.FAIL, Outcome.UNKNOWN))
        planned = passed + failed + unknown
        low, high = (stable_rate(part, planned) if planned else 0.0 for part in (passed, passed + unknown))
        return Summary(planned=planned, passed=passed, failed=failed, unknown=unknown, pass_rate=(low, high))

    def metrics(self) -> Metrics:
        """The measures, rounded to six digits; None where no attempt measured one."""
        decided = self._outcomes[Outcome.PASS] + self._outcomes[Outcome.FAIL]
        return Metrics(
            tool_f1_mean=round(float(self._f1_sum / self._f1_count), _DIGITS) if self._f1_count else None,
            size_pass_rate=self._rates[CheckType.SIZE].value(),
            relevance_rate=self._rates[CheckType.RELEVANCE].value(),
            assertion_rate=self._rates[CheckType.ASSERTION].value(),
            failure_rate=stable_rate(self._outcomes[Outcome.FAIL], decided) if decided else None,
            cost_usd=None if self._cost is None else round(float(self._cost), 2 * _DIGITS),
            duration_ms=self._duration_ms,
        )

    def _spend(self, attempt: AttemptResult) -> None:
        if attempt.attempt:
            self._duration_ms = (self._duration_ms or 0) + attempt.duration_ms
        cost = attempt.usage.cost_usd
        if cost is not None and math.isfinite(cost):
            self._cost = (self._cost or 0) + Fraction(cost)

    def _measure(self, check: Check) -> None:
        if check.type is CheckType.TOOL_CALLS and check.score is not None and math.isfinite(check.score):
            self._f1_sum += Fraction(check.score)
            self._f1_count += 1
        elif check.type in self._rates:
            self._rates[check.type].add(check.outcome)


def stable_rate(part: int, whole: int, *, digits: int = _DIGITS) -> float:
    """Part of a whole, rounded half up, but never rounded to 0 or 1 unless it is exactly that."""
    scale: int = 10**digits
    rounded: int = (2 * part * scale + whole) // (2 * whole)
    if 0 < part < whole:
        rounded = min(max(rounded, 1), scale - 1)
    return rounded / scale
