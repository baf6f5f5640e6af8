"""The scripted model: an OpenAI-compatible service that only says what its rules say."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import NamedTuple

from contracts.record import Json
from contracts.suite.scripted_model import ModelFile, Reply, Rule, ScriptedError, When
from fixture_api.answers import Answer, json_bytes, make_answer, make_head, own_headers
from fixture_api.clock import FixedClock
from fixture_api.conversation import BadConversationError, Conversation, read_conversation
from fixture_api.problems import problem

COMPLETIONS_PATH = "/v1/chat/completions"
MODELS_PATH = "/v1/models"

_JSON_HEAD = make_head(HTTPStatus.OK, {"content-type": "application/json"})


@dataclass(frozen=True, slots=True)
class Situation:
    """What a rule may look at beside the conversation: facts of the attempt, not of the request."""

    case: str
    prompt: str | None
    last_status: int | None
    """The HTTP status last served to a tool call of the attempt."""


class ModelAnswer(NamedTuple):
    """What the model's service answers."""

    answer: Answer
    route: str | None
    """`model:NAME#INDEX` of the rule, `model:NAME` for the list of models; None: refused."""
    error: str | None = None
    """No rule answers: case, turn and the nearest rule."""


class _CompiledRule(NamedTuple):
    when: When
    text: re.Pattern[str] | None
    reply: Reply
    error: Answer | None
    """The planned error, ready to be sent."""


class ScriptedModel:
    """One file of models/, compiled once; it keeps nothing between requests."""

    def __init__(self, name: str, file: ModelFile, clock: FixedClock) -> None:
        """Raises ValueError for a `text` that is no regular expression and for a reply that cannot be sent."""
        self.name = name
        self._created = clock.epoch_s
        self._rules = tuple(_compile(rule) for rule in file.rules)
        listed = {"id": f"scripted/{name}", "object": "model", "created": clock.epoch_s, "owned_by": "labctl"}
        models = {"object": "list", "data": [listed]}
        self._models = ModelAnswer(make_answer(_JSON_HEAD, json_bytes(models)), f"model:{name}")

    def models(self) -> ModelAnswer:
        """GET /v1/models."""
        return self._models

    def complete(self, body: Json, situation: Situation) -> ModelAnswer:
        """POST /v1/chat/completions; which model it is says the attempt, not the request's own `model`."""
        try:
            conversation = read_conversation(body)
        except BadConversationError as error:
            return ModelAnswer(problem(HTTPStatus.BAD_REQUEST, "No chat-completions request", str(error)), None)
        if refused := _not_built_yet(body):
            return refused
        for index, rule in enumerate(self._rules):
            if not any(_misses(rule, conversation, situation)):
                answer = rule.error or self._answer(rule.reply, conversation, situation)
                return ModelAnswer(answer, f"model:{self.name}#{index}")
        return self._no_rule(conversation, situation)

    def _answer(self, reply: Reply, conversation: Conversation, situation: Situation) -> Answer:
        completion: dict[str, Json] = {
            "id": _completion_id(conversation, situation),
            "object": "chat.completion",
            "created": self._created,
            "model": f"scripted/{self.name}",
            "choices": [_choice(reply, turn=conversation.turn)],
        }
        if reply.usage:
            read, written = reply.usage.input_tokens, reply.usage.output_tokens
            completion["usage"] = {
                "prompt_tokens": read,
                "completion_tokens": written,
                "total_tokens": read + written,
            }
        return make_answer(_JSON_HEAD, json_bytes(completion))

    def _no_rule(self, conversation: Conversation, situation: Situation) -> ModelAnswer:
        misses = [list(_misses(rule, conversation, situation)) for rule in self._rules]
        nearest = min(range(len(misses)), key=lambda index: len(misses[index]))
        error = (
            f"no rule of the scripted model {self.name} answers case {situation.case}, turn {conversation.turn}; "
            f"the nearest is rules/{nearest}: " + "; ".join(misses[nearest])
        )
        answer = problem(
            HTTPStatus.INTERNAL_SERVER_ERROR,
            "No rule answers",
            error,
            case=situation.case,
            turn=conversation.turn,
            nearestRule=f"model:{self.name}#{nearest}",
            misses=misses[nearest],
        )
        return ModelAnswer(answer, None, error)


def _compile(rule: Rule) -> _CompiledRule:
    try:
        text = re.compile(rule.when.text) if rule.when.text is not None else None
    except re.error as error:
        raise ValueError(f"when.text {rule.when.text!r} is no regular expression: {error}") from error
    json_bytes(_choice(rule.reply, turn=1))  # what could not be sent is found now
    planned = _planned_error(rule.reply.error) if rule.reply.error else None
    return _CompiledRule(rule.when, text, rule.reply, planned)


def _misses(rule: _CompiledRule, conversation: Conversation, situation: Situation) -> Iterator[str]:
    """Every part of `when` that does not hold, as a sentence."""
    when = rule.when
    last_status = situation.last_status if conversation.last_tool is not None else None
    parts = (
        ("case", when.case, situation.case),
        ("prompt", when.prompt, situation.prompt),
        ("turn", when.turn, conversation.turn),
        ("lastTool", when.last_tool, conversation.last_tool),
        ("lastStatus", when.last_status, last_status),
    )
    for name, expected, found in parts:
        if expected is not None and expected != found:
            yield f"{name} is {'nothing' if found is None else found}, expected {expected}"
    if rule.text and not rule.text.search(conversation.text):
        yield f"text {rule.text.pattern!r} is not found in the last message"


def _choice(reply: Reply, *, turn: int) -> dict[str, Json]:
    message: dict[str, Json] = {"role": "assistant", "content": reply.text, "refusal": None}
    if reply.tool_calls:
        message["tool_calls"] = [
            {
                "id": f"call_{turn}_{index}",
                "type": "function",
                "function": {
                    "name": call.name,
                    "arguments": json.dumps(call.arguments, ensure_ascii=False, separators=(",", ":")),
                },
            }
            for index, call in enumerate(reply.tool_calls)
        ]
    elif reply.text is None:
        message["content"] = ""
    finish_reason = "tool_calls" if reply.tool_calls else "stop"
    return {"index": 0, "message": message, "logprobs": None, "finish_reason": finish_reason}


def _completion_id(conversation: Conversation, situation: Situation) -> str:
    named = "\0".join((situation.case, situation.prompt or "", str(conversation.turn)))
    return "chatcmpl-" + hashlib.sha256(named.encode()).hexdigest()[:24]


def _planned_error(error: ScriptedError) -> Answer:
    headers = {"content-type": "application/json"} | own_headers(error.headers)
    kind = "rate_limit_error" if error.status == HTTPStatus.TOO_MANY_REQUESTS else "api_error"
    message = {"message": f"planned error {error.status}", "type": kind, "param": None, "code": None}
    return make_answer(make_head(error.status, headers), json_bytes({"error": message}))


def _not_built_yet(body: dict[str, Json]) -> ModelAnswer | None:
    """The refusal of what this version does not serve; an error of the attempt too, because no agent is to blame."""
    if body.get("stream"):
        detail = "stream: true is not served by this version of the scripted model"
    elif body.get("n", 1) not in (1, None):
        detail = "n: the scripted model makes one choice"
    else:
        return None
    return ModelAnswer(problem(HTTPStatus.NOT_IMPLEMENTED, "Not built yet", detail), None, detail)
