"""From the judge's reply to a verdict: one call of the one tool with the two fields, or none."""

from __future__ import annotations

from dataclasses import dataclass

from contracts.json_text import parse_unambiguous
from contracts.outcome import Outcome
from contracts.record import Json
from driver.judging.prompt import TOOL
from driver.judging.settings import QUOTED_BYTES, REASON_BYTES
from providers.conversation import Reply, ToolCall

_RESULTS = {"pass": Outcome.PASS, "fail": Outcome.FAIL}


@dataclass(frozen=True)
class Answer:
    """A verdict, or why there is none; `reason` is the judge's text, `trouble` the lab's."""

    outcome: Outcome
    reason: str | None
    trouble: str | None = None


def answer_of(reply: Reply) -> Answer:
    """The verdict of a reply; nothing is looked for in its text, which may quote anybody."""
    if not reply.calls:
        said = "nothing" if reply.text is None else "a text"
        return _none(f"the judge answered {said} instead of calling {TOOL}", reply.text)
    if len(reply.calls) > 1:
        return _none(f"the judge made {len(reply.calls)} calls instead of one", _written(reply.calls))
    (call,) = reply.calls
    if call.name != TOOL:
        return _none(f"the judge called another tool than {TOOL}", _written(reply.calls))
    if reply.is_cut:
        return _none("the judge's answer was cut off at its limit of tokens", call.written)
    return _verdict(call)


def _verdict(call: ToolCall) -> Answer:
    try:
        fields: Json = parse_unambiguous(call.written)
    except ValueError:
        return _none("the judge's answer is no JSON", call.written)
    if not isinstance(fields, dict) or fields.keys() != {"reason", "result"}:
        return _none("the judge's answer has other fields than reason and result", call.written)
    if next(iter(fields)) != "reason":  # a reason that is found afterwards defends the verdict instead of leading to it
        return _none("the judge's result stands before its reason", call.written)
    reason, result = fields["reason"], fields["result"]
    outcome = _RESULTS.get(result) if isinstance(result, str) else None
    if outcome is None:
        return _none("the judge's result is neither pass nor fail", call.written)
    if not isinstance(reason, str) or not reason.strip():
        return _none("the judge gave no reason", call.written)
    return Answer(outcome, _cut(reason, REASON_BYTES))


def _none(trouble: str, said: str | None) -> Answer:
    return Answer(Outcome.UNKNOWN, None if said is None else _cut(said, QUOTED_BYTES), trouble)


def _written(calls: tuple[ToolCall, ...]) -> str:
    return "\n".join(f"{call.name} {call.written}" for call in calls)


def _cut(text: str, limit: int) -> str:
    content = text.encode()
    return text if len(content) <= limit else content[:limit].decode(errors="ignore") + "…"
