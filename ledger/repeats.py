"""What repeats say: how likely one of k tries passes (pass@k), and how likely all of them do (pass^k)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import comb

from contracts.outcome import Outcome
from contracts.results import CaseResult
from ledger.case_results import last_tries


def pass_at_k(*, repeats: int, passed: int, k: int) -> Fraction:
    """The chance that at least one of k repeats passes, drawn without return: 1 - C(n-c, k) / C(n, k)."""
    return 1 - Fraction(comb(repeats - passed, k), comb(repeats, k))


def pass_hat_k(*, repeats: int, passed: int, k: int) -> Fraction:
    """The chance that all of k repeats pass, drawn without return: C(c, k) / C(n, k)."""
    return Fraction(comb(passed, k), comb(repeats, k))


@dataclass(frozen=True)
class Means:
    """Means over the cases whose repeats could all be told; None where there is no such case."""

    repeats: int
    told: int
    untold: int
    flaky: int
    pass_at_1: float | None
    pass_at_k: float | None
    pass_hat_k: float | None


class RepeatTotals:
    """Adds up cases in bounded memory; the order does not matter. A case with an unknown repeat is in no mean."""

    def __init__(self) -> None:
        self._repeats = 1
        self._told = self._untold = self._flaky = 0
        self._passed_share = self._any_passed = self._all_passed = Fraction(0)

    def add(self, case: CaseResult) -> None:
        """Count one case by the tries that decide its repeats."""
        outcomes = [attempt.outcome for attempt in last_tries(case.attempts)]
        repeats, passed = len(outcomes), outcomes.count(Outcome.PASS)
        self._repeats = max(self._repeats, repeats)
        self._flaky += case.flaky
        if Outcome.UNKNOWN in outcomes:
            self._untold += 1
            return
        self._told += 1
        self._passed_share += pass_at_k(repeats=repeats, passed=passed, k=1)
        self._any_passed += pass_at_k(repeats=repeats, passed=passed, k=repeats)
        self._all_passed += pass_hat_k(repeats=repeats, passed=passed, k=repeats)

    def means(self) -> Means | None:
        """The means as numbers; None for a run without repeats."""
        if self._repeats == 1:
            return None
        shares = (self._passed_share, self._any_passed, self._all_passed)
        at_1, at_k, hat_k = (float(total / self._told) if self._told else None for total in shares)
        return Means(self._repeats, self._told, self._untold, self._flaky, at_1, at_k, hat_k)

    def line(self) -> str | None:
        """The means as one sentence for people; None for a run without repeats."""
        if self._repeats == 1:
            return None
        parts = [f"{self._repeats} repeats of each case: {self._means()}", f"{self._flaky} flaky"]
        if self._untold:
            parts.append(f"{self._untold} cases are in no mean: a repeat of each is unknown")
        return "; ".join(parts)

    def _means(self) -> str:
        if not self._told:
            return "nothing could be told"
        shares = ((1, "@", self._passed_share), (self._repeats, "@", self._any_passed))
        means = [f"pass{sign}{k} {float(total / self._told):.3f}" for k, sign, total in shares]
        return ", ".join([*means, f"pass^{self._repeats} {float(self._all_passed / self._told):.3f}"])
