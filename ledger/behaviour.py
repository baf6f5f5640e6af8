"""What an attempt did, in forms that are equal for equal behaviour whatever the capture level of its run."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from contracts.attempt import AttemptRecord, TrajectoryCall
from contracts.outcome import OutcomeClass
from contracts.plan import Capture
from contracts.record import Json
from ledger.capture import captured

_CUT = re.compile(r"(?s).*<cut to \d+ of (\d+ bytes sha256:[0-9a-f]{64})>")


def behaviour_of(record: AttemptRecord, *, level: Capture) -> int:
    """A number that is equal for equal outcomes, checks, calls, texts and ends, in one process and its forks.

    `level` is the capture level of the record's run. Durations, usage, reasons and results of tools are no behaviour.
    """
    calls = record.trajectory
    return hash(
        (
            record.trajectory_digest,
            record.texts if level == "metadata" else tuple(map(comparable, record.texts)),
            # as texts: members of an enumeration are slow to hash
            *[(check.name, str(check.outcome), check.score) for check in record.checks],
            (str(record.outcome_class), end_of(record)) if record.agent_end or record.outcome_class else None,
            *[(call.made, call.claimed, call.counts) for call in calls],
            *(_uncounted(calls) if calls else ()),
        )
    )


def comparable(value: Json) -> Json:
    """A captured value as the level `metadata` would have it: the same for the same value at either level."""
    if isinstance(value, str):
        if cut := _CUT.fullmatch(value):
            return f"<{cut[1]}>"
        return captured(value, level="metadata")
    if isinstance(value, dict):
        return {comparable(key): comparable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [comparable(item) for item in value]
    return captured(value, level="metadata")


def end_of(record: AttemptRecord) -> str | None:
    """How the agent ended, where that is its own doing: `limit`, or its process's exit code; None: as it should."""
    if record.outcome_class is OutcomeClass.LIMIT:
        return "limit"
    end = record.agent_end
    return None if end is None or end.reason != "exit" or end.exit_code == 0 else f"exit code {end.exit_code}"


def _uncounted(calls: Sequence[TrajectoryCall]) -> tuple[str, ...]:
    """Calls that are not in the trajectory's digest: claimed, and not made."""
    return tuple(
        json.dumps([call.tool, comparable(call.arguments)], sort_keys=True) for call in calls if not call.counts
    )
