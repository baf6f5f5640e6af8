"""Event streams in the shapes of `docker-agent run --exec --json`, made here: none is a recording."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

Event = dict[str, Any]
MAIN, SUB = "11111111-aaaa-4bbb-8ccc-000000000001", "22222222-aaaa-4bbb-8ccc-000000000002"
_WHEN = "2026-09-01T12:00:00.000000001Z"


def event(kind: str, *, agent: str = "root", **fields: Any) -> Event:
    """An event of any type."""
    return {"agent_name": agent, "timestamp": _WHEN, "type": kind, **fields}


def begins(message: str, *, session: str = MAIN, agent: str = "root") -> list[Event]:
    """What stands before the first word of the model in every turn."""
    return [
        event("team_info", available_agents=[{"name": agent}], current_agent=agent),
        event("mcp_init_started"),
        event("mcp_init_finished"),
        event("toolset_info", available_tools=2, loading=False),
        event("user_message", message=message, session_id=session, session_position=0),
        event("stream_started", agent=agent, session_id=session),
        event("agent_info", model="mock/scripted"),
    ]


def says(*pieces: str, session: str = MAIN, agent: str = "root") -> list[Event]:
    """Pieces of a text."""
    return [event("agent_choice", agent=agent, content=piece, session_id=session) for piece in pieces]


def spends(
    cost: float, *, session: str = MAIN, tokens: tuple[int, int] = (11, 3), total: tuple[int, int] | None = None
) -> list[Event]:
    """The counters of a session after one message of its model."""
    given, made = total or tokens
    last = {"input_tokens": tokens[0], "output_tokens": tokens[1], "Cost": cost, "Model": "mock/scripted"}
    usage = {"input_tokens": given, "output_tokens": made, "context_length": given + made, "cost": cost}
    message = event("message_added", session_id=session)
    return [message, event("token_usage", session_id=session, usage={**usage, "last_message": last})]


def ends(*, session: str = MAIN) -> list[Event]:
    """The end of a turn."""
    return [event("stream_stopped", session_id=session)]


def _call(name: str, arguments: Any, call_id: str) -> Event:
    written = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": written}}


def asks(name: str, arguments: Any = None, *, call_id: str = "call_1", kind: str = "partial_tool_call") -> Event:
    """The model writes a call; also `tool_call_confirmation` and `hook_blocked`."""
    return event(kind, tool_call=_call(name, {} if arguments is None else arguments, call_id))


def runs(name: str, arguments: Any = None, *, call_id: str = "call_1") -> Event:
    """The call runs."""
    return event(
        "tool_call",
        tool_call=_call(name, {} if arguments is None else arguments, call_id),
        tool_definition={"name": name, "category": "test"},
    )


def answers(name: str, text: str, *, call_id: str = "call_1", is_error: bool = False) -> Event:
    """The answer to a call, whether it ran or not."""
    return event(
        "tool_call_response",
        tool_call_id=call_id,
        tool_definition={"name": name, "category": "test"},
        response=text,
        result={"output": text, **({"isError": True} if is_error else {})},
    )


def called(name: str, arguments: Any = None, *, answer: str = "ok", call_id: str = "call_1") -> list[Event]:
    """A call that ran, from the model's first letter to the answer."""
    return [
        asks(name, arguments, call_id=call_id),
        runs(name, arguments, call_id=call_id),
        answers(name, answer, call_id=call_id),
    ]


def refused(name: str, arguments: Any = None, *, answer: str = "", call_id: str = "call_1") -> list[Event]:
    """A call that a policy refused: no `tool_call`."""
    text = answer or f"Tool '{name}' is denied by session permissions."
    return [asks(name, arguments, call_id=call_id), answers(name, text, call_id=call_id, is_error=True)]


def text_of(events: Iterable[Event]) -> str:
    """The stream as the program prints it."""
    return "".join(json.dumps(one, separators=(",", ":")) + "\n" for one in events)


TRANSFER = [
    *begins("ask the expert"),
    *spends(0.5),
    asks("transfer_task", {"agent": "expert", "task": "look"}, call_id="call_t"),
    runs("transfer_task", {"agent": "expert", "task": "look"}, call_id="call_t"),
    *begins("look", session=SUB, agent="expert"),
    *called("read_file", {"path": "a.txt"}, call_id="call_1"),
    *spends(0.25, session=SUB),
    *says("It is ", "blue.", session=SUB, agent="expert"),
    *spends(0.75, session=SUB),
    *ends(session=SUB),
    answers("transfer_task", "It is blue.", call_id="call_t"),
    *says(" So: blue."),
    *spends(1.0),
    *ends(),
]
"""A sub-agent with a session of its own: costs 1.0 + 0.75."""
