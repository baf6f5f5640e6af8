"""The scripted model: an OpenAI-compatible service that only says what its rules say."""

from __future__ import annotations

import hashlib
from http import HTTPStatus
from typing import NamedTuple

from contracts.record import Json
from contracts.suite.scripted_model import ModelFile
from fixture_api.answers import Answer, cut_off, json_bytes, make_answer, make_head, without_body
from fixture_api.clock import FixedClock
from fixture_api.completions import Envelope, stream, whole
from fixture_api.conversation import BadConversationError, Conversation, read_conversation
from fixture_api.journal import Ending
from fixture_api.model_errors import bad_request, no_model, no_rule
from fixture_api.model_rules import CompiledRule, Situation, compile_rule, facts_of, first_that_holds, nearest
from fixture_api.request import Target, WorldRequest

COMPLETIONS_PATH = "/v1/chat/completions"
MODELS_PATH = "/v1/models"
_ONE_MODEL = MODELS_PATH + "/"

_JSON_HEAD = make_head(HTTPStatus.OK, {"content-type": "application/json"})
_MAX_SHOWN = 200


class ModelAnswer(NamedTuple):
    """What the model's service answers."""

    answer: Answer
    route: str | None
    """`model:NAME#INDEX` of the rule, `model:NAME` for the models; None: refused."""
    error: str | None = None
    """No rule answers: case, turn and the nearest rule."""
    ending: Ending = Ending.WHOLE


def method_at(path: str) -> str | None:
    """What a model's service can be asked at a path (HEAD where it is GET); None where it has nothing."""
    if path == COMPLETIONS_PATH:
        return "POST"
    return "GET" if path == MODELS_PATH or path.startswith(_ONE_MODEL) else None


def is_for_model(target: Target) -> bool:
    """True for a request of a model's service."""
    method = method_at(target.path)
    return method is not None and (target.method == method or (method == "GET" and target.method == "HEAD"))


def is_completion(target: Target) -> bool:
    """True for a call of the model, among the requests that `is_for_model`."""
    return target.path == COMPLETIONS_PATH


class ScriptedModel:
    """One file of models/, compiled once; it keeps nothing between requests."""

    def __init__(self, name: str, file: ModelFile, clock: FixedClock) -> None:
        """Raises ValueError for a `text` that is no regular expression and for a reply that cannot be sent."""
        self.name = name
        self._id = f"scripted/{name}"
        self._created = clock.epoch_s
        self._rules = tuple(compile_rule(rule) for rule in file.rules)
        listed = {"id": self._id, "object": "model", "created": clock.epoch_s, "owned_by": "labctl"}
        self._one = make_answer(_JSON_HEAD, json_bytes(listed))
        self._all = make_answer(_JSON_HEAD, json_bytes({"object": "list", "data": [listed]}))

    def answer(self, request: WorldRequest, situation: Situation) -> ModelAnswer:
        """The answer to a request that `is_for_model`."""
        target = request.target
        if target.path == COMPLETIONS_PATH:
            return self._complete(request.body, situation)
        answer = self._about_models(target.path)
        return ModelAnswer(without_body(answer) if target.method == "HEAD" else answer, f"model:{self.name}")

    def _about_models(self, path: str) -> Answer:
        if path == MODELS_PATH:
            return self._all
        asked = path.removeprefix(_ONE_MODEL)
        return self._one if asked == self._id else no_model(asked[:_MAX_SHOWN], known=self._id)

    def _complete(self, body: Json, situation: Situation) -> ModelAnswer:
        """Which model answers says the attempt, not the request's own `model`."""
        try:
            conversation = read_conversation(body)
        except BadConversationError as error:
            # A right request that this service cannot answer is no agent's fault, and so an error of the attempt.
            blamed = f"{error.param}: {error}" if error.needs_more_choices else None
            return ModelAnswer(bad_request(str(error), param=error.param), None, blamed)
        facts = facts_of(conversation, situation)
        index = first_that_holds(self._rules, facts)
        if index is not None:
            return self._say(self._rules[index], conversation, situation, route=f"model:{self.name}#{index}")
        near, misses = nearest(self._rules, facts)
        error_text = (
            f"no rule of the scripted model {self.name} answers case {situation.case}, turn {conversation.turn}; "
            f"the nearest is rules/{near}: " + "; ".join(misses)
        )
        where = {"case": situation.case, "turn": conversation.turn, "nearestRule": f"model:{self.name}#{near}"}
        return ModelAnswer(no_rule(error_text, **where, misses=misses), None, error_text)

    def _say(self, rule: CompiledRule, conversation: Conversation, situation: Situation, *, route: str) -> ModelAnswer:
        if rule.error is not None:
            return ModelAnswer(rule.error, route)
        envelope = Envelope(_completion_id(conversation, situation), self._created, self._id, conversation.turn)
        if conversation.streamed:
            said = stream(rule.reply, envelope, with_usage=conversation.with_usage)
        else:
            said = whole(rule.reply, envelope)
        if rule.reply.cut:
            return ModelAnswer(cut_off(said.answer, after=said.half), route, ending=Ending.CUT)
        return ModelAnswer(said.answer, route)


def _completion_id(conversation: Conversation, situation: Situation) -> str:
    named = "\0".join((situation.case, situation.prompt or "", str(conversation.turn)))
    return "chatcmpl-" + hashlib.sha256(named.encode()).hexdigest()[:24]
