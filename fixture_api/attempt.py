"""One attempt's world: its state, counters, limits and journal; no other attempt can reach any of it."""

from __future__ import annotations

import asyncio
from typing import Literal, NamedTuple

from contracts.control import AttemptClosed, AttemptOpening, UnmatchedRequest
from contracts.journal import Via
from contracts.record import Json
from fixture_api import journal, problems
from fixture_api.answers import Answer, without_body
from fixture_api.effects import EffectError, apply_effects
from fixture_api.request import WorldRequest
from fixture_api.routing import CompiledRoute, FoundRoute
from fixture_api.scripted_model import COMPLETIONS_PATH, MODELS_PATH, ScriptedModel, Situation
from fixture_api.templates import Context, MissingReferenceError
from fixture_api.tool_calls import ToolCall
from fixture_api.unmatched import explain
from fixture_api.world import CaseWorld

MCP_PATH = "/mcp"

Limit = Literal["tool_calls", "model_calls"]


class Decision(NamedTuple):
    """What a request is answered, and after how long."""

    answer: Answer
    delay_ms: int = 0


class _Outcome(NamedTuple):
    """A decision with what its row says about it."""

    answer: Answer
    route: str | None = None
    delay_ms: int = 0
    unmatched: UnmatchedRequest | None = None


class Attempt:
    """The world of one attempt, from its opening to its closing.

    Every request is decided in one go, without waiting for anything: so rows are in the order of decisions, and
    requests that come side by side see the state as if they had come one after the other.
    """

    def __init__(self, opening: AttemptOpening, case: CaseWorld, model: ScriptedModel | None) -> None:
        self.opening = opening
        self.case_header = opening.case.encode()
        self.closed = False
        self.ended = asyncio.Event()
        """Set when a limit was passed and when the attempt was closed."""
        self.breached: Limit | None = None
        self._case = case
        self._model = model
        self._state: Json = case.state
        self._turns: dict[CompiledRoute, int] = {}
        self._served: list[journal.Served] = []
        self._calls: dict[Limit, int] = {"tool_calls": 0, "model_calls": 0}
        self._refused: set[Limit] = set()
        self._last_status: int | None = None
        self._suite_error: str | None = None
        self._model_error: str | None = None

    def decide(self, request: WorldRequest) -> Decision:
        """The answer to a request; state, counters and journal are as after it."""
        if self._model is not None and (request.method, request.path) in _MODEL_REQUESTS:
            return self._decide_model(request, self._model)
        if request.path == MCP_PATH:
            return Decision(problems.NO_MCP_YET)
        return self._decide_world(request)

    def close(self) -> AttemptClosed:
        """Everything that judging needs; nothing is recorded after it."""
        self.closed = True
        self.ended.set()
        return AttemptClosed(
            served=tuple(journal.records(self._served, case=self.opening.case, attempt=self.opening.attempt)),
            state=self._state,
            suite_error=self._suite_error,
            model_error=self._model_error,
            breached=self.breached,
        )

    def _decide_world(self, request: WorldRequest) -> Decision:
        call = self._case.tools.called_by(request)
        if self._goes_over("tool_calls", self.opening.tool_call_limit):
            return self._refuse(request, problems.TOOL_CALL_LIMIT, via=Via.HTTP, call=call)
        outcome = self._outcome(request)
        if call is not None:
            self._last_status = outcome.answer.status
        self._record(request, outcome, via=Via.HTTP, call=call)
        return Decision(outcome.answer, outcome.delay_ms)

    def _decide_model(self, request: WorldRequest, model: ScriptedModel) -> Decision:
        if self._goes_over("model_calls", self.opening.model_call_limit):
            return self._refuse(request, problems.MODEL_CALL_LIMIT, via=Via.MODEL, call=None)
        said = model.models() if request.path == MODELS_PATH else model.complete(request.body, self._situation())
        self._model_error = self._model_error or said.error
        self._record(request, _Outcome(said.answer, said.route), via=Via.MODEL, call=None)
        return Decision(said.answer)

    def _situation(self) -> Situation:
        return Situation(case=self.opening.case, prompt=self.opening.prompt, last_status=self._last_status)

    def _goes_over(self, limit: Limit, most: int | None) -> bool:
        self._calls[limit] += 1
        return most is not None and self._calls[limit] > most

    def _refuse(self, request: WorldRequest, answer: Answer, *, via: Via, call: ToolCall | None) -> Decision:
        limit: Limit = "model_calls" if via is Via.MODEL else "tool_calls"
        if limit not in self._refused:
            # The first request over a limit is in the journal and decides the attempt. How many more an agent gets out
            # before it is ended is a race, and a flood of them would fill this process's memory.
            self._refused.add(limit)
            self.breached = self.breached or limit
            self.ended.set()
            self._record(request, _Outcome(answer), via=via, call=call)
        if call is not None:
            self._last_status = answer.status
        return Decision(answer)

    def _record(self, request: WorldRequest, outcome: _Outcome, *, via: Via, call: ToolCall | None) -> None:
        answer = outcome.answer
        self._served.append(
            journal.Served(
                method=request.method,
                path=request.path,
                request_digest=request.digest,
                route=outcome.route,
                tool=call.tool if call else None,
                via=via,
                status=answer.status,
                response_digest=answer.digest,
                delay_ms=outcome.delay_ms,
                arguments=call.arguments if call else None,
                body=journal.kept_body(answer.body),
                unmatched=outcome.unmatched,
            )
        )

    def _outcome(self, request: WorldRequest) -> _Outcome:
        found = self._find(request.method, request)
        if found is not None:
            return self._serve(found, request, is_head_of_get=False)
        if request.method == "HEAD":
            found = self._find("GET", request)
            if found is not None:
                return self._serve(found, request, is_head_of_get=True)
        routes = (route for table in self._case.tables for route in table.routes)
        unmatched, answer = explain(request, routes)
        return _Outcome(answer, unmatched=unmatched)

    def _find(self, method: str, request: WorldRequest) -> FoundRoute | None:
        for table in self._case.tables:
            found = table.find(method, request)
            if found is not None:
                return found
        return None

    def _serve(self, found: FoundRoute, request: WorldRequest, *, is_head_of_get: bool) -> _Outcome:
        """The route's answer; a route without a response of its own for HEAD answers it as GET, but nothing moves."""
        route = found.route
        turn = self._turns.get(route, 0)
        response = route.responses[min(turn, len(route.responses) - 1)]
        if response.fixed is not None and not route.effects and not is_head_of_get:
            self._turns[route] = turn + 1
            return _Outcome(response.fixed, route.route_id, response.delay_ms)
        context = Context(self._state, found.params_of(request), request.query, request.body)
        try:
            if route.effects and not is_head_of_get:
                context.state = apply_effects(route.effects, context)
            answer = response.answer(context)
        except (EffectError, MissingReferenceError, ValueError) as error:
            return self._broken(route, error)
        if is_head_of_get:
            return _Outcome(without_body(answer, response.head), route.route_id, response.delay_ms)
        # Only now: a request that fails half-way leaves the world as it was.
        self._state = context.state
        self._turns[route] = turn + 1
        return _Outcome(answer, route.route_id, response.delay_ms)

    def _broken(self, route: CompiledRoute, error: Exception) -> _Outcome:
        reason = f"route {route.route_id}: {error}"
        self._suite_error = self._suite_error or reason
        return _Outcome(problems.suite_broken(reason), route.route_id)


_MODEL_REQUESTS = frozenset({("POST", COMPLETIONS_PATH), ("GET", MODELS_PATH)})
