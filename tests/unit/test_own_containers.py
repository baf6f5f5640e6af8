"""The runner's side of containers of attempts: asked for ahead, opened with a token, answered by name, given back."""

from __future__ import annotations

import hashlib
import json
import threading
from typing import Any

import pytest

from contracts.attempt import AttemptRecord
from contracts.containers import REQUEST_MARKS, ContainerFailed, ContainerOver, ContainerWanted, container_requests
from contracts.control import AttemptKey
from contracts.hosting import HostStart
from contracts.lines import RunnerAttempt
from contracts.outcome import Outcome, OutcomeClass
from contracts.plan import PlannedCase
from runner import clock
from runner import containers as module
from runner.attempts import Task
from runner.containers import LEAVING, Containers, NoContainerError, in_container
from runner.suite_time import SuiteTimeOverError
from tests.fakes.assignments import DIGEST, case_of
from tests.fakes.scripted_containers import ScriptedDriver

KEY = AttemptKey(case="greets", attempt=1)


def task(attempt: int) -> Task:
    planned = PlannedCase(case_id="greets", title="", protected=False, case_digest=DIGEST)
    return Task(planned=planned, case=case_of(), attempt=attempt, repeat=attempt)


def nothing_lost() -> None:
    return None


def finished(attempt: int) -> RunnerAttempt:
    record = AttemptRecord(
        case_id="greets",
        title="",
        protected=False,
        case_digest=DIGEST,
        attempt=attempt,
        repeat=attempt,
        outcome=Outcome.UNKNOWN,
        outcome_class=OutcomeClass.NOT_RUN,
        trajectory_digest=DIGEST,
        tool_calls=0,
        started_at="2026-09-01T12:00:00Z",
        duration_ms=0,
    )
    return RunnerAttempt(record=record)


def test_the_token_is_given_to_the_host_and_only_its_digest_to_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = ScriptedDriver()
    driver.reach(monkeypatch)

    with driver.containers.taken(KEY):
        (host,), (wanted,) = driver.hosts, driver.requests
        assert isinstance(wanted, ContainerWanted)
        assert wanted.token_sha256 == hashlib.sha256(host.token.encode()).hexdigest()
        assert host.token not in wanted.to_line()
        assert (host.where.host, host.where.port) == (wanted.alias, 7070)
        assert (wanted.case_id, wanted.attempt) == ("greets", 1)

    assert host.is_closed
    assert driver.requests[-1] == ContainerOver(alias=wanted.alias, entered=True)


def test_every_request_is_told_from_other_lines_by_how_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = ScriptedDriver()
    driver.reach(monkeypatch)
    with driver.containers.taken(KEY) as container:
        driver.containers.set_up_as_root(container, "true", env={"A": "b"}, seconds=1)

    assert driver.kinds() == ["container-wanted", "root-setup-wanted", "container-over"]
    for request in driver.requests:
        assert request.to_line().startswith(REQUEST_MARKS)
        assert container_requests.validate_json(request.to_line()) == request


def test_one_container_is_asked_for_ahead_of_those_that_are_taken() -> None:
    driver = ScriptedDriver(answers_at_once=False)
    groups = driver.containers.ahead(((task(number),) for number in range(1, 5)), lost=nothing_lost)

    assert [len(driver.requests) for _ in groups] == [2, 3, 4, 4]
    assert [request.attempt for request in driver.requests if isinstance(request, ContainerWanted)] == [1, 2, 3, 4]


def test_after_a_loss_no_container_is_asked_for_and_the_one_of_a_skipped_attempt_is_over() -> None:
    driver, reasons, emitted = ScriptedDriver(answers_at_once=False), list[str](), list[RunnerAttempt]()
    groups = driver.containers.ahead(
        ((task(number),) for number in range(1, 9)), lost=lambda: reasons[0] if reasons else None
    )
    emit = driver.containers.giving_back(emitted.append)
    next(groups)
    reasons.append("the fixture API is gone")
    emit(finished(1))
    for (skipped,) in groups:
        emit(finished(skipped.attempt))

    assert driver.kinds() == ["container-wanted", "container-wanted", "container-over", "container-over"]
    wanted, over = driver.requests[:2], driver.requests[2:]
    assert [one.alias for one in over] == [one.alias for one in wanted]
    assert all(isinstance(one, ContainerOver) and not one.entered for one in over)
    assert len(emitted) == 8


def test_a_container_that_was_taken_is_over_once(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = ScriptedDriver()
    driver.reach(monkeypatch)
    with driver.containers.taken(KEY):
        pass
    driver.containers.giving_back(lambda _: None)(finished(1))

    assert driver.kinds() == ["container-wanted", "container-over"]


@pytest.mark.parametrize("answers", [True, False])
def test_no_wait_for_a_container_goes_past_the_suites_time(monkeypatch: pytest.MonkeyPatch, answers: bool) -> None:
    driver = ScriptedDriver(answers_at_once=answers)
    driver.reach(monkeypatch)

    with pytest.raises(SuiteTimeOverError), driver.containers.taken(KEY, until_s=clock.elapsed_s() - 1):
        raise AssertionError("the time was over before")

    assert driver.hosts == []
    assert driver.kinds() == ["container-wanted", "container-over"]


def test_a_driver_that_does_not_answer_is_left_when_the_suites_time_ends() -> None:
    driver = ScriptedDriver(answers_at_once=False)

    with pytest.raises(SuiteTimeOverError), driver.containers.taken(KEY, until_s=clock.elapsed_s() + 0.05):
        raise AssertionError("it never started")


def test_what_was_asked_for_ahead_is_not_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = ScriptedDriver()
    driver.reach(monkeypatch)
    next(driver.containers.ahead([(task(1),)], lost=nothing_lost))

    with driver.containers.taken(KEY):
        assert driver.kinds() == ["container-wanted"]


def test_a_container_that_could_not_be_started_is_over_with_the_drivers_reason() -> None:
    driver = ScriptedDriver(fails="docker run: no space left on device")

    with pytest.raises(NoContainerError, match="no space left on device"), driver.containers.taken(KEY):
        raise AssertionError("it was not started")

    over = driver.requests[-1]
    assert isinstance(over, ContainerOver)
    assert over.entered is False


def test_a_setup_that_the_driver_cannot_run_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = ScriptedDriver()
    driver.reach(monkeypatch)
    with driver.containers.taken(KEY) as container:
        driver.containers.hear(ContainerFailed(alias=container.alias, reason="MemoryError").to_line().encode())

        with pytest.raises(NoContainerError, match="MemoryError"):
            driver.containers.set_up_as_root(container, "true", env={}, seconds=1)


def test_an_answer_about_a_container_that_is_over_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = ScriptedDriver()
    driver.reach(monkeypatch)
    with driver.containers.taken(KEY):
        (wanted,) = driver.requests
    driver.answer(wanted)

    with driver.containers.taken(KEY):
        assert driver.kinds().count("container-wanted") == 2


def test_closing_ends_the_agents_that_run(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = ScriptedDriver()
    driver.reach(monkeypatch)

    with driver.containers.taken(KEY):
        driver.containers.close()
        assert driver.hosts[0].is_closed


def test_a_session_needs_a_container() -> None:
    with pytest.raises(AssertionError):
        Containers(tell=lambda _: None, port=1, seconds=1).session("greets#1")


def test_an_order_starts_in_the_working_folder_with_a_home_unless_e_names_one() -> None:
    order = HostStart(id="a", argv=("a",), env={"K": "v"}, stdin="", seconds=1, output_bytes=1, grace_seconds=1)

    placed = in_container(order)
    own = in_container(order.model_copy(update={"env": {"HOME": "/mine"}}))

    assert (placed.cwd, placed.env) == ("/working_dir", {"K": "v", "HOME": "/work", "TMPDIR": "/work"})
    assert own.env["HOME"] == "/mine"
    assert json.loads(placed.model_dump_json(by_alias=True))["cwd"] == "/working_dir"


def test_leaving_lets_nobody_wait_for_a_container_that_is_still_to_start() -> None:
    driver, ended = ScriptedDriver(answers_at_once=False), list[str]()

    def take() -> None:
        try:
            with driver.containers.taken(KEY):
                raise AssertionError("it never started")
        except NoContainerError as error:
            ended.append(str(error))

    thread = threading.Thread(target=take)
    thread.start()
    while not driver.requests:
        clock.pause(0.01)
    driver.containers.close()
    thread.join(30)

    assert ended == [LEAVING]
    assert driver.kinds() == ["container-wanted", "container-over"]


def test_a_container_that_is_entered_while_the_runner_leaves_is_left_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = ScriptedDriver()
    driver.reach(monkeypatch)
    reach: Any = vars(module)["reach_host"]  # that of the script

    def reach_while_leaving(*arguments: Any, **named: Any) -> Any:
        host = reach(*arguments, **named)
        driver.containers.close()
        return host

    monkeypatch.setattr(module, "reach_host", reach_while_leaving)
    with pytest.raises(NoContainerError, match=LEAVING), driver.containers.taken(KEY):
        raise AssertionError("nothing runs in it")

    (host,) = driver.hosts
    assert host.is_closed


def test_a_setup_as_root_is_not_waited_for_by_a_runner_that_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = ScriptedDriver()
    driver.reach(monkeypatch)
    with driver.containers.taken(KEY) as container:
        driver.answers_at_once = False
        driver.containers.close()
        with pytest.raises(NoContainerError, match=LEAVING):
            driver.containers.set_up_as_root(container, "sleep 600", env={}, seconds=600)


def test_after_the_runner_was_left_no_container_is_asked_for() -> None:
    driver = ScriptedDriver()
    driver.containers.close()

    assert len(list(driver.containers.ahead([(task(1),), (task(2),)], lost=nothing_lost))) == 2
    with pytest.raises(NoContainerError, match=LEAVING), driver.containers.taken(KEY):
        raise AssertionError("there is none")
    assert driver.requests == []
