"""What became of each case: regressed, improved, unknown, changed, added, removed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from comparison.first_divergence import first_divergence
from comparison.flipped_checks import flipped_checks
from comparison.pairing import Pairing
from comparison.sides import Side
from comparison.tool_responses import unequal_answers
from contracts.comparison import CaseChange, ToolResponse
from contracts.outcome import Outcome
from ledger.run_rows import CODES, OUTCOMES, DecidingAttempt, deciding_attempts

Kind = Literal["regressed", "improved", "unknown", "changed", "added", "removed"]

_GATING_UNKNOWN = {
    (Outcome.PASS, Outcome.UNKNOWN),
    (Outcome.UNKNOWN, Outcome.FAIL),
    (Outcome.UNKNOWN, Outcome.UNKNOWN),
}
"""Was and now that leave open whether the candidate is worse."""
_UNKNOWN = CODES[Outcome.UNKNOWN]
REDEFINED = "its definition changed"
DRIFTED = "the world drifted: nothing says that the agent did it"


@dataclass(frozen=True)
class Ruling:
    """What the outcomes of one paired case mean; None for `kind`: nothing, unless it behaved otherwise."""

    kind: Kind | None
    gates: bool = False
    reason: str = ""


def rule_of(was: Outcome, now: Outcome, *, is_redefined: bool, is_comparable: bool) -> Ruling:
    """CONTRACT §8, rules 2 to 4, for one paired case."""
    if is_redefined:
        return Ruling("unknown", gates=True, reason=REDEFINED)
    if Outcome.UNKNOWN in (was, now):
        gates = (was, now) in _GATING_UNKNOWN
        return Ruling(
            "unknown", gates=gates, reason="one side could not be told" if was is not now else "still unknown"
        )
    if was is now:
        return Ruling(None)
    if not is_comparable:
        return Ruling("unknown", reason=DRIFTED)
    if now is Outcome.FAIL:
        return Ruling("regressed", gates=True, reason="passed before")
    return Ruling("improved", reason="failed before")


@dataclass(frozen=True)
class Looking:
    """Both runs, and how they may be looked at."""

    baseline: Side
    candidate: Side
    is_comparable: bool

    @property
    def is_whole(self) -> bool:
        """Both runs keep bodies."""
        return self.baseline.plan.capture == self.candidate.plan.capture == "payloads"

    @property
    def same_adapter(self) -> bool:
        """Both agents are run alike."""
        return self.baseline.manifest.conditions.adapter == self.candidate.manifest.conditions.adapter

    def case(self, pair: tuple[int, int]) -> tuple[CaseChange | None, tuple[ToolResponse, ...]]:
        """What changed in one paired case, and which equal requests of it got unequal answers."""
        before, after = self.baseline.rows, self.candidate.rows
        place_then, place_now = pair
        code_then, code_now = before.outcomes[place_then], after.outcomes[place_now]
        is_redefined = before.cases[place_then].case_digest != after.cases[place_now].case_digest
        behaves_alike = before.behaviour[place_then] == after.behaviour[place_now]
        answers_alike = before.answers[place_then] == after.answers[place_now]
        if code_then == code_now != _UNKNOWN and behaves_alike and answers_alike and not is_redefined:
            return None, ()
        was, now = OUTCOMES[code_then], OUTCOMES[code_now]
        ruling = rule_of(was, now, is_redefined=is_redefined, is_comparable=self.is_comparable)
        then = deciding_attempts(self.baseline.root, before, place_then)
        nows = deciding_attempts(self.candidate.root, after, place_now)
        if is_redefined or answers_alike:
            return self._change(pair, ruling, then, nows), ()
        roots = (self.baseline.root, self.candidate.root)
        return self._change(pair, ruling, then, nows), tuple(unequal_answers(then, nows, roots=roots))

    def _change(
        self, pair: tuple[int, int], ruling: Ruling, then: dict[int, DecidingAttempt], now: dict[int, DecidingAttempt]
    ) -> CaseChange | None:
        checks = flipped_checks(then, now, is_whole=self.is_whole)
        divergence = first_divergence(then, now, is_whole=self.is_whole, same_adapter=self.same_adapter)
        kind, reason = ruling.kind, ruling.reason
        if kind is None:
            if not checks and divergence is None:
                return None
            kind, reason = ("changed", "the same outcome") if self.is_comparable else ("unknown", DRIFTED)
        row = self.candidate.rows.cases[pair[1]]
        told = [self.baseline.rows.outcome(pair[0]), self.candidate.rows.outcome(pair[1])]
        return CaseChange(
            case_id=row.case_id,
            title=row.title,
            protected=row.protected,
            kind=kind,
            was=told[0],
            now=told[1],
            gates=ruling.gates,
            reason=_why(reason, now if kind != "improved" else then),
            checks=checks,
            divergence=divergence,
        )

    def alone(self, pairing: Pairing, *, allow_removed: bool) -> Iterator[CaseChange]:
        """Cases that one side does not have."""
        for place in pairing.added:
            row, now = self.candidate.rows.cases[place], self.candidate.rows.outcome(place)
            is_open = now is Outcome.UNKNOWN
            yield CaseChange(
                case_id=row.case_id,
                title=row.title,
                protected=row.protected,
                kind="added",
                now=now,
                gates=is_open,
                reason="the baseline does not have it" + (", and it could not be told" if is_open else ""),
            )
        for place in pairing.removed:
            row, was = self.baseline.rows.cases[place], self.baseline.rows.outcome(place)
            yield CaseChange(
                case_id=row.case_id,
                title=row.title,
                protected=row.protected,
                kind="removed",
                was=was,
                gates=row.protected or not allow_removed,
                reason="the candidate does not have it" + (", and it is protected" if row.protected else ""),
            )


def _why(reason: str, attempts: dict[int, DecidingAttempt]) -> str:
    """The rule's words, then those of the first attempt that did not pass."""
    told = (one.record for one in attempts.values() if one.record.outcome is not Outcome.PASS)
    record = next(told, None)
    if record is None or record.reason is None:
        return reason
    named = f"{record.outcome_class.value}: " if record.outcome_class else ""
    return f"{reason}; {named}{record.reason}"
