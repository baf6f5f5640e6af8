"""Summary and metrics of a run, added up case by case in bounded memory."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import Protocol

from contracts.attempt import AttemptRecord, Check, CheckType, Usage
from contracts.outcome import Outcome
from contracts.results import CaseResult, Metrics, Summary
from ledger.case_results import last_tries

_DIGITS = 6
_ASSERTION, _TOOL_CALLS, _SIZE, _RELEVANCE = (
    *(CheckType.ASSERTION, CheckType.TOOL_CALLS),
    *(CheckType.SIZE, CheckType.RELEVANCE),
)
_PASS, _UNKNOWN = Outcome.PASS, Outcome.UNKNOWN
"""Looked up once: members of an enumeration are slow to find and to hash, and 100 000 cases ask for them."""


class _Rate:
    """Passed checks of one type out of those that could tell."""

    def __init__(self) -> None:
        self.passed = 0
        self.told = 0

    def add(self, outcome: Outcome) -> None:
        self.passed += outcome is _PASS
        self.told += outcome is not _UNKNOWN

    def minus(self, part: _Rate) -> _Rate:
        rest = _Rate()
        rest.passed, rest.told = self.passed - part.passed, self.told - part.told
        return rest

    def value(self) -> float | None:
        return stable_rate(self.passed, self.told) if self.told else None


class Tried(Protocol):
    """An attempt, of results or as its own line."""

    @property
    def attempt(self) -> int:
        """Its number; 0 for a repeat that was never started."""
        ...

    @property
    def duration_ms(self) -> int:
        """How long it took."""
        ...

    @property
    def usage(self) -> Usage:
        """What it consumed."""
        ...


class Totals:
    """Counts of cases, and the measures over their attempts; the order of `add` does not matter."""

    def __init__(self) -> None:
        self._passed = self._failed = self._unknown = 0
        self._sizes, self._relevance, self._assertions = _Rate(), _Rate(), _Rate()
        self._f1_scores: Counter[float] = Counter()
        self._cost, self._priced = Fraction(0), 0
        self._duration_ms = self._timed = 0

    def add(self, case: CaseResult) -> None:
        """Count one case: rates over the tries that decide it, cost and time over everything that was tried."""
        self.count(case.outcome)
        for attempt in case.attempts:
            self.spend(attempt)
        for attempt in last_tries(case.attempts):
            self.measure(attempt.checks)

    def count(self, outcome: Outcome) -> None:
        """Count the outcome of one case."""
        self._passed += outcome is Outcome.PASS
        self._failed += outcome is Outcome.FAIL
        self._unknown += outcome is Outcome.UNKNOWN

    def add_passed(self, attempt: AttemptRecord) -> None:
        """Count a case whose only attempt passed."""
        self._passed += 1
        self.spend(attempt)
        self.measure(attempt.checks)

    def summary(self) -> Summary:
        """The counts; `passRate` is [0, 0] when nothing was planned."""
        passed, failed, unknown = self._passed, self._failed, self._unknown
        planned = passed + failed + unknown
        low, high = (stable_rate(part, planned) if planned else 0.0 for part in (passed, passed + unknown))
        return Summary(planned=planned, passed=passed, failed=failed, unknown=unknown, pass_rate=(low, high))

    def metrics(self) -> Metrics:
        """The measures, rounded to six digits; None where no attempt measured one."""
        decided = self._passed + self._failed
        return Metrics(
            tool_f1_mean=self._f1_mean(),
            size_pass_rate=self._sizes.value(),
            relevance_rate=self._relevance.value(),
            assertion_rate=self._assertions.value(),
            failure_rate=stable_rate(self._failed, decided) if decided else None,
            cost_usd=round(float(self._cost), 2 * _DIGITS) if self._priced else None,
            duration_ms=self._duration_ms if self._timed else None,
        )

    def spend(self, attempt: Tried) -> None:
        """Add the time and cost of one attempt, whatever became of it."""
        if attempt.attempt:
            self._duration_ms += attempt.duration_ms
            self._timed += 1
        cost = attempt.usage.cost_usd
        if cost is not None and math.isfinite(cost):
            self._cost += Fraction(cost)
            self._priced += 1

    def measure(self, checks: Iterable[Check]) -> None:
        """Add what the checks of an attempt that decides its repeat measured."""
        for check in checks:
            kind = check.type
            if kind is _ASSERTION:
                self._assertions.add(check.outcome)
            elif kind is _TOOL_CALLS:
                if check.score is not None and math.isfinite(check.score):
                    self._f1_scores[check.score] += 1
            elif kind is _SIZE:
                self._sizes.add(check.outcome)
            elif kind is _RELEVANCE:
                self._relevance.add(check.outcome)

    def minus(self, part: Totals) -> Totals:
        """The totals of what is left when the cases of `part`, all of which were counted here, are taken out."""
        rest = Totals()
        rest._passed, rest._failed = self._passed - part._passed, self._failed - part._failed
        rest._unknown = self._unknown - part._unknown
        rest._sizes = self._sizes.minus(part._sizes)
        rest._relevance = self._relevance.minus(part._relevance)
        rest._assertions = self._assertions.minus(part._assertions)
        rest._f1_scores = self._f1_scores - part._f1_scores
        rest._cost, rest._priced = self._cost - part._cost, self._priced - part._priced
        rest._duration_ms, rest._timed = self._duration_ms - part._duration_ms, self._timed - part._timed
        return rest

    def _f1_mean(self) -> float | None:
        """Exact until it is rounded, so that the order of the cases does not show."""
        total = sum((Fraction(score) * count for score, count in self._f1_scores.items()), Fraction(0))
        count = sum(self._f1_scores.values())
        return round(float(total / count), _DIGITS) if count else None


def stable_rate(part: int, whole: int, *, digits: int = _DIGITS) -> float:
    """Part of a whole, rounded half up, but never rounded to 0 or 1 unless it is exactly that."""
    scale: int = 10**digits
    rounded: int = (2 * part * scale + whole) // (2 * whole)
    if 0 < part < whole:
        rounded = min(max(rounded, 1), scale - 1)
    return rounded / scale
