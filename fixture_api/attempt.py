"""One attempt's world: its state, counters, limits and journal; no other attempt can reach any of it."""

from __future__ import annotations

import asyncio
import math

from contracts.control import AttemptClosed, AttemptOpening, Breachable, RequestMiss, UnmatchedRequest
from contracts.journal import Via
from contracts.own_address import OwnAddress
from contracts.record import Json
from fixture_api import problems
from fixture_api.answers import Answer, allowed, without_body
from fixture_api.effects import EffectError, apply_effects
from fixture_api.faults import Faults
from fixture_api.journal import Decision, Served, records, served
from fixture_api.locations import Location
from fixture_api.model_errors import MODEL_CALL_LIMIT, no_scripted_model
from fixture_api.model_rules import Situation
from fixture_api.pointers import shown
from fixture_api.request import ABSENT, MAX_JSON_DEPTH, WorldRequest, is_too_deep
from fixture_api.routing import CompiledRoute, FoundRoute, first_holding
from fixture_api.scripted_model import ScriptedModel, is_completion, is_for_model, method_at
from fixture_api.state_size import Size
from fixture_api.templates import Context, MissingReferenceError
from fixture_api.tool_calls import BoundCall
from fixture_api.unmatched import explain, explain_missing
from fixture_api.world import CaseWorld

MAX_KEPT_BYTES = 16 * 1024 * 1024
"""Of request bodies that one attempt keeps for its judge and its state, about, in memory."""

_NO_ROOM = RequestMiss(
    part="json",
    expected="16 MiB in memory at most, all bodies of the attempt together",
    found="too much for this attempt",
)

_OVER: dict[Breachable, Answer] = {
    "tool_calls": problems.TOOL_CALL_LIMIT,
    "model_calls": MODEL_CALL_LIMIT,
    "requests": problems.REQUEST_LIMIT,
}
"""What the requests over a limit are answered."""


class Attempt:
    """The world of one attempt, from its opening to its closing.

    Every request is decided in one go, without waiting for anything: so rows are in the order of decisions, and
    requests that come side by side see the state as if they had come one after the other.
    """

    def __init__(self, opening: AttemptOpening, case: CaseWorld, model: ScriptedModel | None) -> None:
        self.opening = opening
        self.case_header = opening.case.encode()
        self.address: OwnAddress | None = None
        """What its prefix hides; a world by hand has none."""
        self.ended = asyncio.Event()
        """Set when a limit was passed and when the attempt was closed."""
        self.over = asyncio.Event()
        """Set when the attempt was closed."""
        self.breached: Breachable | None = None
        self.locate = case.locations.at
        """What a method and a path on the wire mean here."""
        self.tools = case.locations.tools
        """The bound tools."""
        self._case = case
        self._model = model
        self._state: Json = case.state
        self._grown = Size()
        self._turns: dict[CompiledRoute, int] = {}
        self._faults = Faults(case.faults) if opening.faults and case.faults else None
        self._served: list[Served] = []
        self._room = MAX_KEPT_BYTES
        self._left: dict[Breachable, float] = {
            "tool_calls": _most(opening.tool_call_limit),
            "model_calls": _most(opening.model_call_limit),
            "requests": _most(opening.request_limit),
        }
        self._refused: set[Breachable] = set()
        self._last_status: int | None = None
        self._suite_error: str | None = None
        self._model_error: str | None = None

    def decide(self, location: Location, request: WorldRequest, *, via: Via = Via.HTTP) -> Decision:
        """The answer to a request; state, counters and journal are as after it."""
        if self._model is not None and via is Via.HTTP and is_for_model(request.target):
            return self._decide_model(request, self._model)
        call = location.call
        limit: Breachable = "requests" if call is None else "tool_calls"
        if self._is_past(limit):
            return self._refuse(limit, request, call, via=via)
        decision = self._decide_world(location, request)
        if request.target.method == "HEAD":
            decision = decision._replace(answer=without_body(decision.answer))
        if call is not None:
            self._last_status = decision.answer.head.status
        self._served.append(served(self._kept(request), decision, call=call, via=via))
        return decision

    def decide_unmade(self, tool: str, request: WorldRequest, *, why: str) -> Decision:
        """The answer to a call of a bound tool, over MCP, of which no request of the world can be made."""
        call = self.tools.unmade(tool)
        if self._is_past("tool_calls"):
            return self._refuse("tool_calls", self._kept(request), call, via=Via.MCP)
        decision = Decision(problems.call_not_made(why))
        self._last_status = decision.answer.status
        self._served.append(served(self._kept(request), decision, call=call, via=Via.MCP))
        return decision

    def count_unmade_call(self) -> Answer | None:
        """Counts a call of a tool that is not there; the refusal, where the limit is passed."""
        if not self._is_past("tool_calls"):
            return None
        self._breach("tool_calls")
        return problems.TOOL_CALL_LIMIT

    @property
    def closed(self) -> bool:
        """Nothing is recorded any more."""
        return self.over.is_set()

    def close(self) -> AttemptClosed:
        """Everything that judging needs; nothing is recorded after it."""
        self.ended.set()
        self.over.set()
        if is_too_deep(self._state):
            self._suite_error = self._suite_error or f"the state is nested deeper than {MAX_JSON_DEPTH}"
            self._state = None
        return AttemptClosed(
            served=tuple(records(self._served, opening=self.opening)),
            state=self._state,
            suite_error=self._suite_error,
            model_error=self._model_error,
            breached=self.breached,
        )

    def _is_past(self, limit: Breachable) -> bool:
        """Counts one more."""
        self._left[limit] -= 1
        return self._left[limit] < 0

    def _kept(self, request: WorldRequest) -> WorldRequest:
        """The request as its row keeps it: without a body that the attempt's memory has no room for."""
        if request.weight > self._room:
            return request._replace(body=ABSENT)
        self._room -= request.weight
        return request

    def _decide_model(self, request: WorldRequest, model: ScriptedModel) -> Decision:
        limit: Breachable = "model_calls" if is_completion(request.target) else "requests"
        if self._is_past(limit):
            return self._refuse(limit, request, None, via=Via.MODEL)
        situation = Situation(case=self.opening.case, prompt=self.opening.prompt, last_status=self._last_status)
        said = model.answer(request, situation)
        self._model_error = self._model_error or said.error
        decision = Decision(said.answer, said.route, ending=said.ending)
        self._served.append(served(request, decision, call=None, via=Via.MODEL))
        return decision

    def _refuse(self, limit: Breachable, request: WorldRequest, call: BoundCall | None, *, via: Via) -> Decision:
        answer = _OVER[limit]
        decision = Decision(without_body(answer) if request.target.method == "HEAD" else answer)
        if self._breach(limit):
            # The first request over a limit is in the journal and decides the attempt. How many more an agent gets out
            # before it is ended is a race, and a flood of them would fill this process's memory.
            self._served.append(served(request, decision, call=call, via=via))
        if call is not None:
            self._last_status = answer.status
        return decision

    def _breach(self, limit: Breachable) -> bool:
        """The limit is passed; True for the first time."""
        if limit in self._refused:
            return False
        self._refused.add(limit)
        self.breached = self.breached or limit
        self.ended.set()
        return True

    def _decide_world(self, location: Location, request: WorldRequest) -> Decision:
        target = request.target
        if self._model is None and is_for_model(target):  # these paths are the lab's: no route is asked
            answer = no_scripted_model(case=self.opening.case, method=target.method, path=target.path)
            return Decision(answer, unmatched=UnmatchedRequest(method=target.method, path=target.path))
        found = self._find(location, request)
        if found is not None:
            return self._serve(found, request)
        if request.target.method == "HEAD":
            of_get = self._case.routes.fitting("GET", request.target.segments)
            found = self._find(location._replace(target=request.target._replace(method="GET"), routes=of_get), request)
            if found is not None:
                return self._answer(found, request, is_head_of_get=True)
        if request.target.method == "OPTIONS" and (methods := self._methods_at(request)):
            return Decision(allowed(methods))
        own = self._case.own_routes.routes if self._case.own_routes else ()
        unmatched, answer = explain(request, [*own, *self._case.routes.routes])
        return Decision(answer, unmatched=unmatched)

    def _methods_at(self, request: WorldRequest) -> set[str]:
        own = method_at(request.target.path) if self._model is not None else None
        return self._case.methods_at(request.target.segments) | ({own} if own else set())

    def _find(self, location: Location, request: WorldRequest) -> FoundRoute | None:
        if self._case.own_routes is not None:
            own = self._case.own_routes.fitting(location.target.method, location.target.segments)
            found = first_holding(own, request)
            if found is not None:
                return found
        return first_holding(location.routes, request)

    def _serve(self, found: FoundRoute, request: WorldRequest) -> Decision:
        """The route's answer, or the fault that is planned for it."""
        if self._faults is None:
            return self._answer(found, request, is_head_of_get=False)
        fault = self._faults.due(found.route.route_id)
        decision = (fault and fault.instead) or self._answer(found, request, is_head_of_get=False)
        if decision.route is None:  # not this route's after all
            return decision
        self._faults.count(decision.route)
        return fault.spoil(decision) if fault and not fault.instead else decision

    def _answer(self, found: FoundRoute, request: WorldRequest, *, is_head_of_get: bool) -> Decision:
        """The route's answer; a route without a response of its own for HEAD answers it as GET, but nothing moves."""
        route = found.route
        turn = self._turns.get(route, 0)
        response = route.responses[min(turn, len(route.responses) - 1)]
        if response.fixed is not None and not route.effects and not is_head_of_get:
            self._turns[route] = turn + 1
            return Decision(response.fixed, route.route_id, response.delay_ms)
        context = Context(self._state, found.params_of(request), request.query, request.body, self._grown)
        try:
            if route.effects and not is_head_of_get:
                context.state = self._changed(route, context, request)
            answer = response.answer(context)
        except (EffectError, MissingReferenceError) as error:
            if error.miss is None:
                return self._broken(route, str(error))
            # an agent that invents an id or leaves a field out gets no answer; the suite is not at fault
            unmatched, answer = explain_missing(request, route, error.miss)
            return Decision(answer, unmatched=unmatched)
        except (ValueError, RecursionError):  # what their texts quote may be the state's
            return self._broken(route, "what it makes cannot be sent as JSON, or is nested too deeply")
        if is_head_of_get:
            return Decision(answer, route.route_id, response.delay_ms)
        # Only now: a request that fails half-way leaves the world as it was.
        self._state, self._grown = context.state, context.grown
        self._turns[route] = turn + 1
        return Decision(answer, route.route_id, response.delay_ms)

    def _changed(self, route: CompiledRoute, context: Context, request: WorldRequest) -> Json:
        """The state after the route's effects; raises EffectError or MissingReferenceError."""
        if request.weight > self._room:
            raise MissingReferenceError("there is no room for the body", miss=_NO_ROOM)
        return apply_effects(route.effects, context)

    def _broken(self, route: CompiledRoute, why: str) -> Decision:
        """The answer of a route that cannot do what the suite says; `why` has no value of the state in it."""
        reason = f"route {shown(route.route_id)}: {why}"
        self._suite_error = self._suite_error or reason
        return Decision(problems.suite_broken(reason), route.route_id)


def _most(limit: int | None) -> float:
    return math.inf if limit is None else limit
