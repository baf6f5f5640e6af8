"""An agent in a container of its own: what its setup makes of the attempt, and which time is the agent's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from contracts.containers import RootSetupWanted
from contracts.hosting import HostStart
from contracts.outcome import Outcome, OutcomeClass
from contracts.plan import ImageIdentity
from contracts.suite.settings import Limits
from runner import clock
from runner.agents import contained
from runner.agents.contained import ContainedAgent, image_of
from runner.agents.interface import AgentRun, Assignment, Ending, EndKind
from runner.suite_time import CUT_OFF
from runner.verdict import Happened, decide
from tests.fakes.assignments import ORIGIN, PREFIX, TOKEN, assignment_of, case_of
from tests.fakes.scripted_containers import ScriptedDriver
from tests.fakes.written_runs import plan_of

OK = {"op": "ended", "exitCode": 0}


class Inner:
    """Counts its runs."""

    def __init__(self) -> None:
        self.runs = 0

    def run(self, assignment: Assignment) -> AgentRun:
        self.runs += 1
        return AgentRun(ending=Ending(kind=EndKind.FINISHED), texts=("done",))


def run(
    driver: ScriptedDriver,
    monkeypatch: pytest.MonkeyPatch,
    *,
    setup: str | None = "make",
    given: dict[str, Any] | None = None,
    **conditions: Any,
) -> tuple[AgentRun, Inner]:
    driver.reach(monkeypatch)
    inner = Inner()
    agent = ContainedAgent(inner, containers=driver.containers, plan=plan_of("greets"), agent_env={"KEY": "k"})
    assignment = replace(assignment_of(case=case_of(setup=setup), limits=Limits(setup_seconds=7)), **(given or {}))
    conditions = {"isolation": "container"} | conditions
    found = agent.run(replace(assignment, conditions=assignment.conditions.model_copy(update=conditions)))
    return found, inner


def test_the_setup_runs_first_with_the_agents_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = ScriptedDriver(script=[[OK]])

    found, inner = run(driver, monkeypatch)

    (order,) = driver.hosts[0].orders
    assert isinstance(order, HostStart)
    assert (order.argv, order.cwd, order.seconds, order.leave) == (("sh", "-c", "make"), "/working_dir", 7, True)
    assert order.env["KEY"] == "k"
    assert order.env["FIXTURE_URL"].endswith(PREFIX)
    assert (found.texts, inner.runs) == (("done",), 1)
    assert found.seconds is not None


@pytest.mark.parametrize("conditions", [{"no_setup": True}, {"no_setup": True, "setup_root": True}])
def test_no_setup_skips_it(monkeypatch: pytest.MonkeyPatch, conditions: dict[str, Any]) -> None:
    driver = ScriptedDriver()

    found, inner = run(driver, monkeypatch, **conditions)

    assert (driver.hosts[0].orders, inner.runs, found.ending.kind) == ([], 1, EndKind.FINISHED)


@pytest.mark.parametrize(
    ("events", "words"),
    [
        (
            [{"op": "out", "stream": "stderr", "text": "a\nb\n"}, {"op": "ended", "exitCode": 3}],
            "it exited with 3; its",
        ),
        ([{"op": "ended", "signal": 9, "reason": "seconds"}], "it took longer than 7 s (setup_seconds)"),
        ([{"op": "ended", "signal": 9, "reason": "output"}], "it printed more than"),
        ([{"op": "ended", "signal": 11}], "it was ended by signal 11"),
        ([{"op": "failed", "message": "FileNotFoundError"}], "has no `sh` to run it"),
    ],
)
def test_a_setup_that_fails_is_unknown_setup_and_the_agent_never_runs(
    monkeypatch: pytest.MonkeyPatch, events: list[dict[str, Any]], words: str
) -> None:
    found, inner = run(ScriptedDriver(script=[events]), monkeypatch)

    assert (found.ending.kind, inner.runs, found.seconds) == (EndKind.SETUP, 0, 0.0)
    assert found.ending.reason is not None
    assert words in found.ending.reason
    assert "next: --setup-root if it needs root" in found.ending.reason
    verdict = decide(Happened(ending=found.ending, expects_nothing=True))
    assert (verdict.outcome, verdict.outcome_class) == (Outcome.UNKNOWN, OutcomeClass.SETUP)


def test_the_address_of_the_attempt_is_in_no_reason_and_no_log(monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"op": "out", "stream": "stdout", "text": f"curl: {PREFIX}/x failed\n"}
    events: list[dict[str, Any]] = [said, {"op": "ended", "exitCode": 1}]

    found, _ = run(ScriptedDriver(script=[events]), monkeypatch)

    assert "failed" in (found.log or "")
    assert TOKEN not in repr(found)


@pytest.mark.parametrize(
    ("setup", "words"),
    [
        ((4, "apt: no\n"), "it exited with 4; its last lines: apt: no"),
        ((None, ""), "it took longer than 7 s"),
        ((127, "no sh\n"), "has no `sh`"),
    ],
)
def test_a_setup_as_root_is_the_drivers_and_fails_alike(
    monkeypatch: pytest.MonkeyPatch, setup: tuple[int | None, str], words: str
) -> None:
    driver = ScriptedDriver(setup=setup)

    found, inner = run(driver, monkeypatch, setup_root=True)

    wanted = driver.requests[1]
    assert isinstance(wanted, RootSetupWanted)
    assert (wanted.script, wanted.seconds, wanted.env["HOME"], wanted.env["KEY"]) == ("make", 7, "/work", "k")
    assert (inner.runs, driver.hosts[0].orders) == (0, [])
    assert words in (found.ending.reason or "")
    assert "--setup-root" not in (found.ending.reason or "")


def test_a_setup_as_root_that_succeeds_lets_the_agent_run(monkeypatch: pytest.MonkeyPatch) -> None:
    _, inner = run(ScriptedDriver(setup=(0, "installed")), monkeypatch, setup_root=True)

    assert inner.runs == 1


def test_a_setup_that_fails_for_an_agent_that_selects_by_header_is_told_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = {"op": "out", "stream": "stdout", "text": f"curl: {ORIGIN}/x failed\n"}
    events: list[dict[str, Any]] = [said, {"op": "ended", "exitCode": 1}]

    found, _ = run(ScriptedDriver(script=[events]), monkeypatch, given={"fixture_url": ORIGIN})

    assert found.log == f"curl: {ORIGIN}/x failed\n"


@pytest.mark.parametrize("setup_root", [True, False])
def test_a_setup_under_way_is_left_when_the_suites_time_ends_and_the_agent_never_runs(
    monkeypatch: pytest.MonkeyPatch, setup_root: bool
) -> None:
    driver = ScriptedDriver(script=[[]])
    answer = driver.answer
    monkeypatch.setattr(driver, "answer", lambda request: None if "setup" in request.type else answer(request))
    given = {"suite_until_s": clock.elapsed_s() + 0.5}

    found, inner = run(driver, monkeypatch, given=given, setup_root=setup_root)

    assert (found.ending, inner.runs) == (Ending(kind=EndKind.INFRASTRUCTURE, reason=CUT_OFF), 0)
    assert driver.hosts[0].is_closed
    assert driver.kinds()[-1] == "container-over"


def test_a_setup_that_is_done_when_the_suites_time_is_over_lets_no_agent_start(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = ScriptedDriver(script=[[OK]])
    monkeypatch.setattr(contained, "run_setup", lambda *_: clock.pause(0.6))

    found, inner = run(driver, monkeypatch, given={"suite_until_s": clock.elapsed_s() + 0.5})

    assert (found.ending.reason, inner.runs) == (CUT_OFF, 0)


def test_an_attempt_without_a_container_is_infrastructure(monkeypatch: pytest.MonkeyPatch) -> None:
    found, inner = run(ScriptedDriver(fails="docker run: no such network"), monkeypatch)

    assert (found.ending.kind, inner.runs) == (EndKind.INFRASTRUCTURE, 0)
    assert "no such network" in (found.ending.reason or "")


def test_the_image_is_named_as_it_was_planned() -> None:
    def image(reference: str) -> ImageIdentity:
        return ImageIdentity(reference=reference, digest="d", image_id="i")

    images = {"agent": image("lab"), "base": image("alpine:3"), "base:debian:1": image("debian:1")}
    plan = plan_of("greets").model_copy(update={"images": images})
    own = plan.model_copy(update={"images": {"agent": image("lab")}})

    assert image_of(plan, case_of(image="debian:1")) == "debian:1"
    assert (image_of(plan, case_of()), image_of(own, case_of())) == ("alpine:3", "lab")
