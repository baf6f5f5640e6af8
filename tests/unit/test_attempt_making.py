"""The life of one attempt against a scripted world and a scripted agent: what ends up in its record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from contracts.attempt import Usage
from contracts.control import AttemptClosed, AttemptKey, AttemptOpened, AttemptOpening, Select, ServedRequest
from contracts.lines import RunnerAttempt
from contracts.outcome import Outcome, OutcomeClass
from contracts.plan import AgentPlan, Plan, PlannedCase
from contracts.suite.case import Case
from contracts.suite.fault import Toxic
from contracts.suite.kept_cases import KeptCases
from contracts.suite.settings import Adapter, Limits, SuiteSettings
from contracts.suite.suite import Revision, Suite, Text
from contracts.suite.tool import Tool
from runner.agents.interface import AgentRun, Assignment, Ending, EndKind, ToolEvent
from runner.attempts import AttemptMaker, Task
from runner.faults.counters import Counters, Flow, ProxiedAttempt
from runner.faults.trouble import FaultProxyError
from runner.world import WorldLostError, WorldRefusedError
from tests.fakes.assignments import (
    DIGEST,
    LOOKUP,
    ORIGIN,
    PREFIX,
    TOKEN,
    UNBOUND,
    case_of,
    conditions_of_test,
    served_of,
)

SAYS = {"assertions": [{"type": "contains", "value": "done"}]}
FINISHED = Ending(kind=EndKind.FINISHED)
DONE = AgentRun(ending=FINISHED, texts=("done",))


@dataclass
class ScriptedWorld:
    """Implements what `AttemptMaker` needs of `runner.world.World`; exceptions in place of answers are raised."""

    closed: AttemptClosed | Exception = field(default_factory=lambda: AttemptClosed(state={}))
    opened: AttemptOpened | Exception = field(default_factory=lambda: AttemptOpened(prefix=PREFIX))
    openings: list[AttemptOpening] = field(default_factory=list)
    closings: list[tuple[AttemptKey, str]] = field(default_factory=list)

    def open(self, opening: AttemptOpening) -> AttemptOpened:
        self.openings.append(opening)
        if isinstance(self.opened, Exception):
            raise self.opened
        return self.opened

    def close(self, key: AttemptKey, *, hide: str) -> AttemptClosed:
        self.closings.append((key, hide))
        if isinstance(self.closed, Exception):
            raise self.closed
        return self.closed


@dataclass
class ScriptedAgent:
    """Implements `runner.agents.interface.Agent`."""

    result: AgentRun = DONE
    assignments: list[Assignment] = field(default_factory=list)

    def run(self, assignment: Assignment) -> AgentRun:
        self.assignments.append(assignment)
        return self.result


@dataclass
class ScriptedProxies:
    """Implements `runner.attempts.LeadsThroughProxies`; what goes wrong is raised before or after the attempt."""

    flows: Mapping[str, Counters] = field(default_factory=dict)
    not_applied: Exception | None = None
    lost: Exception | None = None
    asked: list[tuple[str, ...]] = field(default_factory=list)

    @contextmanager
    def around(self, toxics: Sequence[Toxic], *, fixture_url: str, model_url: str) -> Iterator[ProxiedAttempt]:
        self.asked.append((*(toxic.type for toxic in toxics), fixture_url, model_url))
        if self.not_applied:
            raise self.not_applied
        attempt = ProxiedAttempt(fixture_url=f"http://proxy:1{PREFIX}", model_url=f"http://proxy:2{PREFIX}/v1")
        yield attempt
        if self.lost:
            raise self.lost
        attempt.flows = self.flows


def suite_of(case: Case) -> Suite:
    empty: Mapping[str, Any] = {}
    return Suite(
        root=Path("fixtures"),
        settings=SuiteSettings(),
        defaulted=(),
        cases=KeptCases.of([case]),
        case_digests={case.id: DIGEST},
        routes=(),
        state={},
        tools=tuple(Tool.model_validate(tool) for tool in (LOOKUP, UNBOUND)),
        models=empty,
        model_digests={},
        prompts={"polite": Text(name="polite", text="Be kind.", digest=DIGEST)},
        policy=Text(name="policy-1", text="Pay late.", digest=DIGEST),
        dataset=Revision(label="x", digest=DIGEST),
        tool_schema=Revision(label="x", digest=DIGEST),
        agent_files={},
        agent_digests={},
    )


@dataclass
class Made:
    """One attempt and everybody who took part in it."""

    attempt: RunnerAttempt
    world: ScriptedWorld
    agent: ScriptedAgent
    started: list[Task]

    @property
    def verdict(self) -> tuple[Outcome, OutcomeClass | None]:
        return self.attempt.record.outcome, self.attempt.record.outcome_class


def make(
    result: AgentRun = DONE,
    *,
    world: ScriptedWorld | None = None,
    case: Case | None = None,
    limits: Limits | None = None,
    model: str | None = "scripted/support",
    adapter: Adapter = "chat",
    select: Select = "prefix",
    proxies: ScriptedProxies | None = None,
) -> Made:
    case = case or case_of(expect=SAYS)
    plan = Plan(
        run_id="run",
        labctl="0",
        command=(),
        suite="fixtures",
        agent=AgentPlan(name="support", adapter=adapter, select=select, model=model, prompt="polite", digest=DIGEST),
        conditions=conditions_of_test(limits).model_copy(update={"profiles": ("fault",) if proxies else ()}),
        capture="metadata",
        concurrency=1,
        planned_at="2026-09-01T12:00:00Z",
        cases=(PlannedCase(case_id=case.id, title="Greets", protected=True, case_digest=DIGEST),),
    )
    world, agent = world or ScriptedWorld(), ScriptedAgent(result)
    started: list[Task] = []
    maker = AttemptMaker(
        plan=plan,
        suite=suite_of(case),
        fixture_url=ORIGIN,
        world=world,
        agent=agent,
        started=started.append,
        proxies=proxies,
    )
    attempt = maker.make(Task(planned=plan.cases[0], case=case, attempt=1, repeat=1))
    return Made(attempt=attempt, world=world, agent=agent, started=started)


def closed(*served: ServedRequest, **fields: Any) -> ScriptedWorld:
    return ScriptedWorld(closed=AttemptClosed(served=served, state={"paid": 1}, **fields))


@pytest.mark.parametrize(
    ("adapter", "select", "prefix"),
    [
        ("command", "prefix", PREFIX),
        ("command", "header", ""),
        ("http", "header", ""),
        ("chat", "header", PREFIX),
    ],
)
def test_who_selects_by_header_is_told_no_prefix_and_the_chat_loop_needs_no_header(
    adapter: Adapter, select: Select, prefix: str
) -> None:
    (assignment,) = make(adapter=adapter, select=select).agent.assignments

    assert (assignment.fixture_url, assignment.model_url) == (ORIGIN + prefix, f"{ORIGIN}{prefix}/v1")


def test_an_attempt_is_opened_with_agent_and_limits() -> None:
    case = case_of(expect=SAYS, limits={"tool_calls": 3})

    (opening,) = make(case=case, limits=Limits(tool_calls=50, model_calls=7)).world.openings

    assert opening == AttemptOpening(
        case="greets",
        attempt=1,
        prompt="polite",
        model="scripted/support",
        tool_call_limit=3,
        model_call_limit=7,
        request_limit=130,
    )


@pytest.mark.parametrize("model", [None, "openai/gpt"])
def test_no_model_is_served_for_one_that_is_outside(model: str | None) -> None:
    assert make(model=model).world.openings[0].model is None


def test_the_agent_is_told_its_own_urls_prompt_policy_and_tools() -> None:
    (assignment,) = make().agent.assignments

    assert assignment.fixture_url == f"{ORIGIN}{PREFIX}"
    assert assignment.model_url == f"{ORIGIN}{PREFIX}/v1"
    assert (assignment.prompt, assignment.policy) == ("Be kind.", "Pay late.")
    assert [tool.name for tool in assignment.tools] == ["lookup_order", "think"]


def test_what_is_planned_stands_in_the_record() -> None:
    record = make().attempt.record

    assert (record.case_id, record.title, record.protected, record.case_digest) == ("greets", "Greets", True, DIGEST)
    assert (record.attempt, record.repeat, record.retry_of) == (1, 1, None)


def test_an_attempt_that_did_what_was_expected_passes() -> None:
    made = make()

    assert made.verdict == (Outcome.PASS, None)
    assert made.attempt.record.reason is None
    assert len(made.started) == 1


def test_journal_rows_go_with_the_record_and_are_counted() -> None:
    made = make(world=closed(served_of(1, None), served_of(2, "lookup_order", {"order_id": "1"})))

    assert [row.sequence for row in made.attempt.journal] == [1, 2]
    record = made.attempt.record
    assert (record.journal_rows, record.tool_calls, record.usage.model_calls) == (2, 1, 1)
    assert record.state_digest is not None


def test_asking_which_models_there_are_calls_none() -> None:
    asked = served_of(1, None)
    listed = asked.model_copy(update={"row": asked.row.model_copy(update={"path": "/v1/models"})})

    assert make(world=closed(listed, asked)).attempt.record.usage.model_calls == 1


def test_calls_of_a_model_outside_are_not_counted_as_none() -> None:
    assert make(model=None).attempt.record.usage.model_calls is None
    assert make().attempt.record.usage.model_calls == 0


def test_the_agents_own_count_of_model_calls_stays() -> None:
    counted = AgentRun(ending=FINISHED, texts=("done",), usage=Usage(model_calls=4))

    assert make(counted).attempt.record.usage.model_calls == 4


def test_the_fixture_apis_answer_is_cleared_of_the_secret() -> None:
    assert make().world.closings == [(AttemptKey(case="greets", attempt=1), TOKEN)]


def test_an_attempt_that_could_not_be_opened_because_the_world_is_gone_never_started() -> None:
    made = make(world=ScriptedWorld(opened=WorldLostError("gone")))

    assert made.verdict == (Outcome.UNKNOWN, OutcomeClass.NOT_RUN)
    assert made.attempt.record.reason == "gone"
    assert made.started == []
    assert made.agent.assignments == []


def test_an_attempt_that_the_living_world_refuses_to_open_is_infrastructure() -> None:
    made = make(world=ScriptedWorld(opened=WorldRefusedError("409")))

    assert made.verdict == (Outcome.UNKNOWN, OutcomeClass.INFRASTRUCTURE)
    assert made.started == []


@pytest.mark.parametrize("trouble", [WorldLostError("gone"), WorldRefusedError("500")])
@pytest.mark.parametrize("ending", [FINISHED, Ending(kind=EndKind.AGENT_ERROR), Ending(kind=EndKind.LIMIT)])
def test_an_attempt_that_could_not_be_closed_is_infrastructure_whatever_the_agent_did(
    trouble: Exception, ending: Ending
) -> None:
    made = make(AgentRun(ending=ending, texts=("done",)), world=ScriptedWorld(closed=trouble))

    assert made.verdict == (Outcome.UNKNOWN, OutcomeClass.INFRASTRUCTURE)
    record = made.attempt.record
    assert (record.texts, record.checks, record.state_digest, record.journal_rows) == (("done",), (), None, 0)


def test_an_agent_that_could_not_be_started_is_not_judged() -> None:
    made = make(AgentRun(ending=Ending(kind=EndKind.INFRASTRUCTURE, reason="no such file")))

    assert made.verdict == (Outcome.UNKNOWN, OutcomeClass.INFRASTRUCTURE)
    assert made.attempt.record.checks == ()


def test_an_agent_that_failed_is_judged_all_the_same() -> None:
    made = make(AgentRun(ending=Ending(kind=EndKind.AGENT_ERROR, reason="it exited with 3"), texts=("done",)))

    assert made.verdict == (Outcome.FAIL, OutcomeClass.AGENT_ERROR)
    assert [check.outcome for check in made.attempt.record.checks] == [Outcome.PASS, Outcome.PASS]


@pytest.mark.parametrize("kind", [EndKind.FINISHED, EndKind.AGENT_ERROR])
@pytest.mark.parametrize(
    ("breached", "words"),
    [("tool_calls", "2 tool calls"), ("requests", "120 requests beside its tool and model calls")],
)
def test_a_limit_that_only_the_fixture_api_saw_is_a_limit(kind: EndKind, breached: str, words: str) -> None:
    made = make(
        AgentRun(ending=Ending(kind=kind), texts=("done",)),
        world=closed(breached=breached),
        limits=Limits(tool_calls=2),
    )

    assert made.verdict == (Outcome.FAIL, OutcomeClass.LIMIT)
    assert made.attempt.record.reason == f"it went past its limit of {words}"


def test_bound_and_unbound_calls_count_together_for_the_limit() -> None:
    events = tuple(ToolEvent(tool="think", arguments={}) for _ in range(2))
    served = served_of(1, "lookup_order", {"order_id": "1"})
    run = AgentRun(ending=FINISHED, texts=("done",), events=events)

    assert make(run, world=closed(served), limits=Limits(tool_calls=3)).verdict == (Outcome.PASS, None)
    assert make(run, world=closed(served), limits=Limits(tool_calls=2)).verdict == (Outcome.FAIL, OutcomeClass.LIMIT)


@pytest.mark.parametrize("fields", [{"suite_error": "route x: /a"}, {"model_error": "no rule for turn 1"}])
def test_an_error_of_the_suite_makes_the_attempt_unknown(fields: dict[str, str]) -> None:
    made = make(world=closed(**fields))

    assert made.verdict == (Outcome.UNKNOWN, OutcomeClass.SUITE)
    assert made.attempt.record.reason == next(iter(fields.values()))


def test_a_state_with_integers_beyond_canonical_json_has_a_digest() -> None:
    made = make(world=ScriptedWorld(closed=AttemptClosed(state={"n": 2**70})))

    assert made.attempt.record.state_digest is not None
    assert str(2**70) not in made.attempt.to_line()


def test_the_line_of_an_attempt_can_be_read_back() -> None:
    made = make(world=closed(served_of(1, "lookup_order", {"order_id": "1"})))

    assert RunnerAttempt.model_validate_json(made.attempt.to_line()) == made.attempt


CUT = {"network": [{"type": "reset_peer"}]}
WENT = {"tools": Counters(upstream=Flow(60, 60), downstream=Flow(90, 0))}
STOOD_STILL = {"tools": Counters()}


def faulted(proxies: ScriptedProxies, result: AgentRun = DONE, **faults: Any) -> Made:
    return make(result, case=case_of(expect=SAYS, faults=faults or CUT), proxies=proxies)


def test_an_attempt_with_toxics_is_led_through_its_proxies_and_opened_as_such() -> None:
    proxies = ScriptedProxies(flows=WENT)
    made = faulted(proxies)

    assert proxies.asked == [("reset_peer", ORIGIN + PREFIX, f"{ORIGIN}{PREFIX}/v1")]
    (assignment,), (opening,) = made.agent.assignments, made.world.openings
    assert (assignment.fixture_url, assignment.model_url) == (f"http://proxy:1{PREFIX}", f"http://proxy:2{PREFIX}/v1")
    assert (opening.faults, opening.proxied) == (True, True)
    assert made.verdict == ("pass", None)
    assert made.attempt.record.faults is not None
    assert [fault.met for fault in made.attempt.record.faults] == [True]


def test_without_toxics_no_proxy_is_made_under_the_profile_either() -> None:
    proxies = ScriptedProxies()
    made = faulted(proxies, responses=[{"route": "r", "kind": "empty"}])

    assert proxies.asked == []
    assert made.agent.assignments[0].fixture_url == ORIGIN + PREFIX
    assert (made.world.openings[0].faults, made.world.openings[0].proxied) == (True, False)


@pytest.mark.parametrize(
    ("result", "verdict"),
    [
        (DONE, ("unknown", "fault-not-exposed")),
        (AgentRun(ending=Ending(kind=EndKind.AGENT_ERROR, reason="x")), ("unknown", "fault-not-exposed")),
        (AgentRun(ending=Ending(kind=EndKind.LIMIT, reason="x", limit="seconds")), ("unknown", "fault-not-exposed")),
        (AgentRun(ending=Ending(kind=EndKind.PROVIDER, reason="x")), ("unknown", "provider")),
        (AgentRun(ending=Ending(kind=EndKind.INFRASTRUCTURE, reason="x")), ("unknown", "infrastructure")),
    ],
)
def test_a_fault_that_was_not_met_says_nothing_for_or_against_the_agent(
    result: AgentRun, verdict: tuple[str, str]
) -> None:
    assert faulted(ScriptedProxies(flows=STOOD_STILL), result).verdict == verdict


def test_a_met_fault_leaves_the_agent_s_own_failures_its_own() -> None:
    crashed = AgentRun(ending=Ending(kind=EndKind.AGENT_ERROR, reason="it exited with 3"))

    assert faulted(ScriptedProxies(flows=WENT), crashed).verdict == ("fail", "agent-error")


def test_where_a_fault_could_not_be_applied_no_agent_runs_and_the_world_is_closed() -> None:
    made = faulted(ScriptedProxies(not_applied=FaultProxyError("it answered 500")))

    assert made.verdict == ("unknown", "infrastructure")
    assert made.attempt.record.reason == "its faults could not be applied: it answered 500"
    assert made.agent.assignments == []
    assert len(made.world.closings) == 1
    assert made.attempt.record.faults is None


def test_where_the_proxy_is_lost_the_attempt_is_worthless_whatever_the_agent_did() -> None:
    made = faulted(ScriptedProxies(lost=FaultProxyError("it gave no answer")))

    assert made.verdict == ("unknown", "infrastructure")
    assert made.attempt.record.reason == "the fault proxy was lost: it gave no answer"
    assert (made.attempt.record.checks, made.attempt.record.faults) == ((), None)
    assert made.attempt.record.texts == ("done",)
