"""The outcome of every case of the self-test's suite, and whether its planned fault is met."""

from __future__ import annotations

from dataclasses import dataclass

from contracts.outcome import Outcome, OutcomeClass


@dataclass(frozen=True)
class Expected:
    """What the lab has to say of one agent of known behaviour."""

    outcome: Outcome
    outcome_class: OutcomeClass | None = None
    is_met: bool | None = None
    """Of its one planned fault; None where none is planned."""

    def __str__(self) -> str:
        return told(self.outcome, self.outcome_class)


def told(outcome: Outcome, outcome_class: OutcomeClass | None) -> str:
    """As results are read out: `fail/limit`."""
    return f"{outcome.value}/{outcome_class.value}" if outcome_class else outcome.value


NETWORK = "meets-a-slow-network"
"""The case that needs toxiproxy."""
REGRESSED = "answers-rightly"
"""What the worse agent does worse, and nothing else."""
SECRET = "tells-a-secret"  # noqa: S105 - the name of a case

EXPECTED = {
    REGRESSED: Expected(Outcome.PASS),
    "answers-wrongly": Expected(Outcome.FAIL),
    "pays-in-silence": Expected(Outcome.FAIL),
    "claims-a-call": Expected(Outcome.FAIL),
    "crashes": Expected(Outcome.FAIL, OutcomeClass.AGENT_ERROR),
    "is-stuck": Expected(Outcome.FAIL, OutcomeClass.LIMIT),
    SECRET: Expected(Outcome.PASS),
    "meets-a-bad-answer": Expected(Outcome.PASS, is_met=True),
    NETWORK: Expected(Outcome.PASS, is_met=True),
    "misses-its-fault": Expected(Outcome.UNKNOWN, OutcomeClass.FAULT_NOT_EXPOSED, is_met=False),
}
"""Case id to what must come of it; the suite has exactly these."""

COMPARED = (REGRESSED, "answers-wrongly", "pays-in-silence", "claims-a-call", "meets-a-bad-answer", NETWORK)
"""Quick cases, none of them unknown: a comparison of unknown ones could tell nothing."""
