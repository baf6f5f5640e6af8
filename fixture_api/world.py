"""The suite compiled once: what every attempt of every case starts from and shares."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from contracts.errors import ErrorCode, Found, LabError
from contracts.record import Json
from contracts.suite.case import Case
from contracts.suite.suite import Suite
from contracts.suite.tool import Tool
from fixture_api.clock import FixedClock
from fixture_api.effects import merge_patch
from fixture_api.faults import FaultPlan, compile_faults
from fixture_api.locations import Locations
from fixture_api.routing import RouteTable, compile_routes
from fixture_api.scripted_model import ScriptedModel
from fixture_api.tool_calls import ToolTable

T = TypeVar("T")

SCRIPTED = "scripted/"


@dataclass(frozen=True, slots=True, eq=False)
class CaseWorld:
    """What one case adds to the suite's world; nothing in it is ever changed."""

    case_id: str
    locations: Locations
    """The suite's routes and tools."""
    own_routes: RouteTable | None
    """The case's routes, tried before the suite's."""
    routes: RouteTable
    """The suite's."""
    state: Json
    """The suite's state with the case's merged over it."""
    faults: FaultPlan
    """The case's, for attempts that meet them."""

    def methods_at(self, segments: list[str]) -> set[str]:
        """The methods of the routes whose path fits, of the suite and of the case."""
        own = self.own_routes.methods_at(segments) if self.own_routes else set()
        return own | self.routes.methods_at(segments)


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """Everything that does not depend on an attempt."""

    revision: str
    clock: FixedClock
    models: dict[str, ScriptedModel]
    """By `scripted/NAME`."""
    default_prompt: str | None
    default_model: str | None
    """The default agent's: what a request by hand meets."""
    tools: tuple[Tool, ...]
    _suite_state: Json
    _routes: RouteTable
    _locations: Locations
    _cases: Mapping[str, Case]

    def has_case(self, case_id: str) -> bool:
        """True when the suite has such a case."""
        return case_id in self._cases

    def case(self, case_id: str) -> CaseWorld | None:
        """The world of a case; None when the suite has no such case.

        Made anew each time, since most cases are met once and none is held: costs what it costs to read the case, to
        merge its state and to compile its own routes.
        """
        case = self._cases.get(case_id)
        if case is None:
            return None
        state = self._suite_state if case.state is None else merge_patch(self._suite_state, case.state)
        return CaseWorld(
            case_id=case_id,
            locations=self._locations,
            own_routes=compile_routes(case.routes) if case.routes else None,
            routes=self._routes,
            state=state,
            faults=compile_faults(case.faults.responses) if case.faults else {},
        )


def compile_world(suite: Suite, clock: FixedClock) -> World:
    """The world of a suite.

    Raises:
        LabError: suite-invalid, with everything that could never be served.

    """
    found: list[Found] = []

    def attempted(place: str, compile_: Callable[[], T]) -> T | None:
        try:
            return compile_()
        except ValueError as error:
            found.append(Found(text=str(error), place=place))
            return None

    routes = attempted("routes", lambda: compile_routes(suite.routes))
    for case in suite.cases.having("routes"):  # only looked at: an attempt at the case compiles its own
        attempted(f"case {case.id}", partial(compile_routes, case.routes))
    models = {
        SCRIPTED + name: attempted(f"model {name}", lambda name=name, file=file: ScriptedModel(name, file, clock))  # type: ignore[misc]
        for name, file in suite.models.items()
    }
    if found or routes is None:
        message = f"the fixture API cannot serve the suite {suite.root.name}"
        raise LabError(ErrorCode.SUITE_INVALID, message, found=found)
    agent = suite.agents.get(suite.settings.default_agent or "")
    return World(
        revision=suite.dataset.label,
        clock=clock,
        models=_present(models),
        default_prompt=agent.prompt if agent else None,
        default_model=agent.model if agent and agent.model in models else None,
        tools=suite.tools,
        _suite_state=suite.state,
        _routes=routes,
        _locations=Locations(routes, ToolTable(suite.tools)),
        _cases=suite.cases.by_id,
    )


def _present(items: dict[str, T | None]) -> dict[str, T]:
    return {key: value for key, value in items.items() if value is not None}
