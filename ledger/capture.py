"""What a run keeps of actual values: digests at the level `metadata`, whole values up to a limit at `payloads`."""

from __future__ import annotations

import hashlib
import json

from contracts.attempt import AttemptRecord, Check, CheckType, JudgeVerdict, TrajectoryCall
from contracts.outcome import Outcome
from contracts.plan import Capture
from contracts.record import Json

PLAIN_BYTES = 64
"""At `metadata`, scalars up to so many UTF-8 bytes stay as they are."""

WHOLE_BYTES = 64 * 1024
"""At `payloads`, longer texts are cut to so many UTF-8 bytes and say so."""

_QUOTING_CHECKS = frozenset({CheckType.STATE, CheckType.ASSERTION})
"""Types whose reason may quote a value, unless they could not tell; the others' are of names, counts and limits."""


def captured(value: Json, *, level: Capture) -> Json:
    """The JSON value as the level keeps it: same shape, with long strings, keys and numbers replaced or cut.

    Redact first: a digest of a text that holds a short secret would let the secret be guessed.
    """
    if isinstance(value, str):
        return captured_text(value, level=level)
    if isinstance(value, dict):
        return {captured_text(key, level=level): captured(item, level=level) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [captured(item, level=level) for item in value]
    if isinstance(value, int | float) and len(number := json.dumps(value)) > PLAIN_BYTES:
        return captured_text(number, level=level)
    return value


def captured_text(text: str, *, level: Capture) -> str:
    """The text itself, `<N bytes sha256:HEX>` of it, or its first bytes with a note that it was cut.

    Lone surrogates, which no UTF-8 file can hold, become `?` first.
    """
    content = text.encode("utf-8", "replace")
    limit = PLAIN_BYTES if level == "metadata" else WHOLE_BYTES
    if len(content) <= limit:
        return content.decode()
    identity = f"{len(content)} bytes sha256:{hashlib.sha256(content).hexdigest()}"
    if level == "metadata":
        return f"<{identity}>"
    return f"{content[:limit].decode('utf-8', 'ignore')}<cut to {limit} of {identity}>"


def capture_attempt(record: AttemptRecord, *, level: Capture) -> AttemptRecord:
    """The attempt as the level keeps it; names, digests, counts, times and expectations stay plain.

    So does the reason of its outcome: it is in the lab's own words; what agent, model or service said is in the log.
    """
    return record.model_copy(
        update={
            "checks": tuple(_capture_check(check, level) for check in record.checks),
            "trajectory": tuple(_capture_call(call, level) for call in record.trajectory),
            "texts": tuple(captured_text(text, level=level) for text in record.texts),
            "judge_verdicts": _capture_verdicts(record.judge_verdicts, level),
            "log": captured(record.log, level=level),
        }
    )


def _capture_check(check: Check, level: Capture) -> Check:
    # where the judge told, the reason is its own text; whoever could not tell says why in the lab's words
    quotes = check.outcome is not Outcome.UNKNOWN and check.type in {CheckType.RELEVANCE, *_QUOTING_CHECKS}
    reason = captured(check.reason, level=level) if quotes else check.reason
    return check.model_copy(update={"actual": captured(check.actual, level=level), "reason": reason})


def _capture_verdicts(verdicts: tuple[JudgeVerdict, ...] | None, level: Capture) -> tuple[JudgeVerdict, ...] | None:
    if verdicts is None:
        return None
    return tuple(
        verdict.model_copy(
            update={
                "votes": tuple(
                    vote.model_copy(update={"reason": captured(vote.reason, level=level)}) for vote in verdict.votes
                )
            }
        )
        for verdict in verdicts
    )


def _capture_call(call: TrajectoryCall, level: Capture) -> TrajectoryCall:
    return call.model_copy(
        update={
            # A name that only the agent gave is its text; the suite's own names stay plain whatever their length.
            "tool": call.tool if call.made else captured_text(call.tool, level=level),
            "arguments": captured(call.arguments, level=level),
            "status": captured(call.status, level=level),
            "result": captured(call.result, level=level),
        }
    )
