"""What a span may say: names, counts, statuses and digests; bodies only where the capture level keeps them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from contracts import span_names as names
from contracts.attempt import AttemptRecord, Check
from contracts.control import ServedRequest
from contracts.plan import AgentPlan, Conditions
from contracts.record import Json
from providers.conversation import Reply
from runner.texts import TEXT_BYTES

Attributes = Mapping[str, str | int | float | bool]
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_.:/-]{1,64}")
_BAD_STATUS = 400


def plain(text: str) -> str:
    """The text without lone surrogates, which no exporter takes."""
    return text.encode("utf-8", "replace").decode()


def tool_name(name: str, *, known: frozenset[str]) -> str:
    """A tool's name; one that only the agent gave is its own text, and shown where it looks like a name."""
    return plain(name) if name in known or _PLAIN_NAME.fullmatch(name) else f"<a name of {len(name)} characters>"


def body(value: Json) -> str:
    """A text or a JSON value, or its size where it is too large to be kept: half a value may hide half a secret."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    size = len(text.encode("utf-8", "replace"))
    return plain(text) if size <= TEXT_BYTES else f"<{size} bytes>"


def of_model(agent: AgentPlan, conditions: Conditions) -> Attributes:
    """A request to the agent's model."""
    provider, _, model = (agent.model or "").partition("/")
    known = {
        names.PROVIDER: provider or None,
        names.REQUEST_MODEL: model or None,
        names.REQUEST_TEMPERATURE: agent.temperature,
        names.REQUEST_SEED: conditions.seed,
        names.REQUEST_MAX_TOKENS: agent.max_output_tokens,
    }
    return {
        names.KIND: "model request",
        names.OPERATION: names.CHAT,
        **{name: value for name, value in known.items() if value is not None},
    }


def of_reply(reply: Reply, *, bodies: bool) -> Attributes:
    """What a model said."""
    counts = {
        names.INPUT_TOKENS: reply.input_tokens,
        names.OUTPUT_TOKENS: reply.output_tokens,
        names.COST_USD: reply.cost_usd,
    }
    known = {name: value for name, value in counts.items() if value is not None}
    if not bodies:
        return known
    parts: list[Json] = [{"type": "text", "content": reply.text}] if reply.text else []
    parts += [{"type": "tool_call", "name": call.name, "arguments": call.arguments} for call in reply.calls]
    return {**known, names.OUTPUT_MESSAGES: body([{"role": "assistant", "parts": parts}])}


def of_tool(name: str) -> Attributes:
    """A call of a tool, by its name as it may be shown."""
    return {
        names.KIND: "tool call",
        names.OPERATION: names.EXECUTE_TOOL,
        names.TOOL_NAME: name,
        names.TOOL_TYPE: "function",
    }


def of_status(status: int | str) -> Attributes:
    """How a call ended: an HTTP status, or the lab's word for it."""
    if isinstance(status, int):
        failed = {names.ERROR_TYPE: str(status)} if status >= _BAD_STATUS else {}
        return {names.HTTP_STATUS: status, **failed}
    word = tool_name(status, known=frozenset())
    return {names.TOOL_STATUS: word, names.ERROR_TYPE: word}


def of_call_bodies(arguments: Json, result: str | None) -> Attributes:
    """What a tool was given and what it answered."""
    given = {} if arguments is None else {names.TOOL_ARGUMENTS: body(arguments)}
    return given if result is None else {**given, names.TOOL_RESULT: body(result)}


def of_served(served: ServedRequest) -> Attributes:
    """A request as the journal has it."""
    row = served.row
    route = {} if row.route is None else {names.ROUTE: plain(row.route)}
    fault = {} if row.fault is None else {names.FAULT: plain(row.fault)}
    return {
        **of_status(row.status),
        names.SEEN_BY: "fixture-api",
        names.VIA: row.via.value,
        names.REQUEST_DIGEST: row.request_digest,
        names.RESPONSE_DIGEST: row.response_digest,
        **route,
        **fault,
    }


def of_check(check: Check) -> Attributes:
    """A check, without the values that it looked at."""
    return {names.KIND: "check", names.CHECK_TYPE: check.type.value, names.OUTCOME: check.outcome.value}


def of_evaluation(check: Check) -> Attributes:
    """The event on a check's span."""
    score = {} if check.score is None else {names.EVALUATION_SCORE: check.score}
    return {names.EVALUATION_NAME: plain(check.name), names.EVALUATION_LABEL: check.outcome.value, **score}


def of_end(record: AttemptRecord) -> Attributes:
    """How an attempt ended; its reason may quote somebody and stays out."""
    usage = record.usage
    known = {
        names.OUTCOME_CLASS: record.outcome_class.value if record.outcome_class else None,
        names.INPUT_TOKENS: usage.input_tokens,
        names.OUTPUT_TOKENS: usage.output_tokens,
        names.COST_USD: usage.cost_usd,
    }
    return {names.OUTCOME: record.outcome.value, **{name: one for name, one in known.items() if one is not None}}
