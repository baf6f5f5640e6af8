"""The tool calls of a docker-agent event stream: which ran, which were refused, and which tools never existed."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, field, replace

from contracts.json_text import parse_json
from contracts.record import Json
from runner import clock
from runner.agents.event_lines import MAX_NAME
from runner.agents.interface import ToolEvent
from runner.checks.interface import DENIED
from runner.texts import cut_text

FAILED, CANCELED, NO_SUCH_TOOL = "error", "canceled", "no-such-tool"

_REFUSALS = (
    "The user rejected the tool call.",
    "The tool call was rejected by a ",
    "Tool call blocked by hook: ",
    "Tool '{name}' is denied by ",
    "Tool '{name}' requires user confirmation ",
)
"""How the answer to a call begins that a policy refused, in every version of docker-agent whose source was read."""
_CANCELED = ("The tool call was canceled ", "The tool call was skipped ")
_UNAVAILABLE = "Tool '{name}' is not available."


class MalformedError(ValueError):
    """An event without what its type needs."""


@dataclass
class CallsOfStream:
    """Calls in the order in which they were made or refused.

    A `tool_call` says that the call ran, whatever its answer reads like: a tool cannot make its own call look refused.
    A `tool_call_response` without one is a call that did not run.
    """

    made: list[ToolEvent] = field(default_factory=list)
    _open: dict[str, deque[int]] = field(default_factory=lambda: defaultdict(deque))
    """By id, which a model may use again: the calls that have no answer yet."""
    _asked: dict[str, Json] = field(default_factory=dict)
    """By id: the arguments of calls that wait for a confirmation or were blocked."""
    _pieces: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """By id: the arguments of a call as the model wrote them."""

    def partial(self, event: dict[str, Json]) -> None:
        """Take `partial_tool_call`: the model writes a call."""
        call_id, _, written = _call_of(event)  # a later piece has no name
        self._pieces[call_id].append(written if isinstance(written, str) else "")

    def refusal(self, event: dict[str, Json]) -> None:
        """Take `tool_call_confirmation`, which nobody is there to give, or `hook_blocked`."""
        call_id, _, written = _call_of(event)
        self._asked[call_id] = _arguments(written)
        if event["type"] == "hook_blocked" and self._open[call_id]:
            self._change(self._open[call_id][0], status=DENIED)

    def call(self, event: dict[str, Json]) -> None:
        """Take `tool_call`: it runs."""
        call_id, name, written = _call_of(event)
        call = ToolEvent(tool=_name(name), arguments=_arguments(written))
        self._asked.pop(call_id, None)
        self._pieces.pop(call_id, None)
        self._open[call_id].append(len(self.made))
        self.made.append(call)

    def response(self, event: dict[str, Json]) -> None:
        """Take `tool_call_response`, with or without a call before it."""
        call_id, text = _text(event, "tool_call_id"), _text(event, "response")
        result = event.get("result")
        failed = isinstance(result, dict) and result.get("isError") is True
        if self._open[call_id]:
            index = self._open[call_id].popleft()
            status = self.made[index].status or (FAILED if failed else None)
            self._change(index, status=status, result=cut_text(text))
            self.made[index] = replace(self.made[index], answered_at_ns=clock.wall_ns())
            return
        definition = event.get("tool_definition")
        name = _name(definition.get("name") if isinstance(definition, dict) else None)
        status = DENIED if call_id in self._asked else _status_of(text, name=name)
        arguments = self._asked.pop(call_id) if call_id in self._asked else _joined(self._pieces.get(call_id, []))
        self._pieces.pop(call_id, None)
        self.made.append(ToolEvent(tool=name, arguments=arguments, status=status, result=cut_text(text)))

    def _change(self, index: int, *, status: int | str | None, result: str | None = None) -> None:
        self.made[index] = replace(self.made[index], status=status, result=result)


def _status_of(answer: str, *, name: str) -> str:
    if answer.startswith(_UNAVAILABLE.format(name=name)):
        return NO_SUCH_TOOL
    if any(answer.startswith(refusal.replace("{name}", name)) for refusal in _REFUSALS):
        return DENIED
    return CANCELED if answer.startswith(_CANCELED) else FAILED


def _call_of(event: dict[str, Json]) -> tuple[str, Json, Json]:
    """Id, name and arguments, these as they stand."""
    call = event.get("tool_call")
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(call, dict) or not isinstance(function, dict):
        raise MalformedError("no call in `tool_call`")
    call_id = call.get("id")
    return call_id if isinstance(call_id, str) else "", function.get("name"), function.get("arguments")


def _name(name: Json) -> str:
    if not isinstance(name, str) or not name:
        raise MalformedError("no name of a tool")
    if len(name) > MAX_NAME:
        raise MalformedError("its name is too long")
    return name


def _arguments(written: Json) -> Json:
    """The object; None for what is none."""
    if isinstance(written, str):
        try:
            written = parse_json(written) if written.strip() else {}
        except ValueError:
            return None
    return written if isinstance(written, dict) else {} if written is None else None


def _joined(pieces: list[str]) -> Json:
    """Versions differ in whether each piece holds all arguments so far, or only what is new."""
    if not pieces:
        return None
    whole = _arguments("".join(pieces))
    return _arguments(pieces[-1]) if whole is None else whole


def _text(event: dict[str, Json], key: str) -> str:
    value = event.get(key)
    if not isinstance(value, str):
        raise MalformedError(f"no text in `{key}`")
    return value
