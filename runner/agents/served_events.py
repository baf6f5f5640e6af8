"""`protocol = "lab"`: the whole task in one request, events in the reply."""

from __future__ import annotations

from runner.agents.claims import agent_error
from runner.agents.reply_events import ReplyEvents
from runner.agents.served_attempt import OverError, ServedAttempt
from runner.agents.task import task_of


def ask_for_events(attempt: ServedAttempt) -> None:
    """Ask once and take the events as they come; raises what `ServedAttempt.ask` raises."""
    headers, pieces = attempt.ask(task_of(attempt.assignment))
    media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    reply = ReplyEvents(attempt.claims.reader, is_json=media_type == "application/json" or media_type.endswith("+json"))
    for piece in pieces:
        reply.feed(piece)
        attempt.keep_limits()
    trouble = reply.finish()
    if trouble is not None:
        # what it said before goes first, as with a process that exits badly after an error event
        raise OverError(attempt.claims.told() or agent_error(f"protocol broken, {trouble}"))
