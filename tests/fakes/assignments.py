"""Cases, observations and assignments for tests of the runner, with everything that a test does not care about."""

from __future__ import annotations

from typing import Any

from contracts.attempt import TrajectoryCall
from contracts.control import ServedRequest
from contracts.journal import JournalRow, Via
from contracts.plan import AgentPlan, Conditions
from contracts.suite.case import Case
from contracts.suite.settings import Limits
from contracts.suite.tool import Tool
from runner.agents.interface import Assignment

DIGEST = "sha256:" + "0" * 64
ORIGIN = "http://fixture:8080"
TOKEN = "0123456789abcdef0123456789abcdef"
PREFIX = f"/~{TOKEN}"

LOOKUP = {
    "type": "function",
    "function": {"name": "lookup_order", "parameters": {"type": "object"}},
    "http": {"method": "GET", "path": "/orders/{order_id}"},
}
REFUND = {
    "type": "function",
    "function": {"name": "issue_refund", "parameters": {"type": "object"}},
    "http": {"method": "POST", "path": "/refunds"},
}
UNBOUND = {"type": "function", "function": {"name": "think", "parameters": {"type": "object"}}}


def case_of(*, expect: dict[str, Any] | None = None, **fields: Any) -> Case:
    """A case as cases.json would have it."""
    written = {"id": "greets", "input": "hello", "expect": expect or {}, **fields}
    return Case.model_validate(written, strict=False)


def call_of(tool: str, arguments: Any = None, *, status: int | str | None = 200, how: str = "made") -> TrajectoryCall:
    """A call: `made` (and claimed), `claimed` (a bound tool's that the journal lacks) or `unbound`."""
    return TrajectoryCall(
        tool=tool,
        arguments={} if arguments is None else arguments,
        status=status,
        made=how == "made",
        claimed=True,
        counts=how != "claimed",
    )


def served_of(sequence: int, tool: str | None, arguments: Any = None, *, status: int = 200) -> ServedRequest:
    """A served request; `tool` None is one of the model."""
    row = JournalRow(
        case="greets",
        attempt=1,
        sequence=sequence,
        method="GET",
        path=f"/{tool}" if tool else "/v1/chat/completions",
        request_digest=DIGEST,
        route="route",
        tool=tool,
        via=Via.HTTP if tool else Via.MODEL,
        status=status,
        response_digest=DIGEST,
        fault=None,
        delay_ms=0,
    )
    return ServedRequest(row=row, arguments=arguments, response_text="{}")


def conditions_of_test(limits: Limits | None = None) -> Conditions:
    """Conditions of a run of the agent `support`."""
    return Conditions(
        dataset_revision="fixtures-1",
        dataset_digest=DIGEST,
        tool_schema_revision="tools-1",
        tool_schema_digest=DIGEST,
        agent="support",
        agent_digest=DIGEST,
        adapter="chat",
        seed=1701,
        clock="2026-09-01T12:00:00Z",
        timezone="UTC",
        locale="C.UTF-8",
        backend="process",
        limits=limits or Limits(),
    )


def assignment_of(
    *,
    case: Case | None = None,
    tools: tuple[dict[str, Any], ...] = (),
    model: str | None = "scripted/support",
    limits: Limits | None = None,
    prompt: str | None = None,
    policy: str | None = None,
) -> Assignment:
    """The first attempt of a case."""
    return Assignment(
        case=case or case_of(),
        attempt=1,
        agent=AgentPlan(name="support", adapter="chat", model=model, temperature=0.0, digest=DIGEST),
        conditions=conditions_of_test(limits),
        limits=limits or Limits(),
        tools=tuple(Tool.model_validate(tool) for tool in tools),
        prompt=prompt,
        policy=policy,
        fixture_url=ORIGIN + PREFIX,
        model_url=f"{ORIGIN}{PREFIX}/v1",
    )
