"""`protocol = "openai"`: the agent is a chat endpoint, asked for each user message with the conversation so far."""

from __future__ import annotations

from contracts.json_text import parse_json
from contracts.record import Json
from runner.agents.amounts import added, whole
from runner.agents.claims import agent_error, hiding
from runner.agents.interface import Assignment
from runner.agents.served_attempt import OverError, ServedAttempt

COMPLETIONS = "/chat/completions"


def ask_as_chat(attempt: ServedAttempt) -> None:
    """Have the conversation; calls meanwhile are in the journal. Raises what `ServedAttempt.ask` raises."""
    assignment = attempt.assignment
    messages: list[Json] = []
    if assignment.prompt:  # without one the agent has its own, and nothing is added to it
        texts = (assignment.prompt, assignment.policy)
        messages.append({"role": "system", "content": "\n\n".join(text.rstrip("\n") for text in texts if text)})
    for message in assignment.case.messages:
        messages.append({"role": "user", "content": message.content})
        text = _reply(attempt, {**_settings(assignment), "messages": messages})
        messages.append({"role": "assistant", "content": text})
        attempt.keep_limits()


def _settings(assignment: Assignment) -> dict[str, Json]:
    agent = assignment.agent
    optional = {"temperature": agent.temperature, "max_tokens": agent.max_output_tokens}
    return {
        # the protocol demands one; an agent that declares none is asked by its own name
        "model": (agent.model or "").partition("/")[2] or agent.name,
        "seed": assignment.conditions.seed,
        **{key: value for key, value in optional.items() if value is not None},
    }


def _reply(attempt: ServedAttempt, request: dict[str, Json]) -> str:
    _, pieces = attempt.ask(request)
    body = b"".join(pieces)
    try:
        completion = parse_json(body)
        message = completion["choices"][0]["message"]
        text = message.get("content")
    except (ValueError, LookupError, TypeError, AttributeError) as trouble:
        attempt.claims.reader.log.add(body.decode(errors="replace"))
        raise OverError(agent_error("protocol broken, its reply is no chat completion")) from trouble
    if text is None and message.get("tool_calls"):
        raise OverError(agent_error("protocol broken, it asks its user to call tools; a served agent calls its own"))
    if not isinstance(text, str | None):
        raise OverError(agent_error("protocol broken, the text of its reply is none"))
    _count(attempt, completion.get("usage"))
    if text:
        attempt.claims.reader.texts.append(hiding(attempt.assignment)(text))
    return text or ""


def _count(attempt: ServedAttempt, usage: Json) -> None:
    """Add what it says it consumed; what is no count is nothing."""
    if not isinstance(usage, dict):
        return
    lines = attempt.claims.reader
    lines.input_tokens = added(lines.input_tokens, whole(usage.get("prompt_tokens")))
    lines.output_tokens = added(lines.output_tokens, whole(usage.get("completion_tokens")))
