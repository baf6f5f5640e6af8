"""The runner's side of containers of attempts: asked for ahead, opened with a token, answered by name, given back."""

from __future__ import annotations

import hashlib
import json

import pytest

from contracts.containers import REQUEST_MARKS, ContainerOver, ContainerWanted, container_requests
from contracts.control import AttemptKey
from contracts.hosting import HostStart
from contracts.plan import PlannedCase
from runner.attempts import Task
from runner.containers import Containers, NoContainerError, in_container
from tests.fakes.assignments import DIGEST, case_of
from tests.fakes.scripted_containers import ScriptedDriver

KEY = AttemptKey(case="greets", attempt=1)


def task(attempt: int) -> Task:
    planned = PlannedCase(case_id="greets", title="", protected=False, case_digest=DIGEST)
    return Task(planned=planned, case=case_of(), attempt=attempt, repeat=attempt)


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
    groups = driver.containers.ahead((task(number),) for number in range(1, 5))

    assert [len(driver.requests) for _ in groups] == [2, 3, 4, 4]
    assert [request.attempt for request in driver.requests if isinstance(request, ContainerWanted)] == [1, 2, 3, 4]


def test_what_was_asked_for_ahead_is_not_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = ScriptedDriver()
    driver.reach(monkeypatch)
    next(driver.containers.ahead([(task(1),)]))

    with driver.containers.taken(KEY):
        assert driver.kinds() == ["container-wanted"]


def test_a_container_that_could_not_be_started_is_over_with_the_drivers_reason() -> None:
    driver = ScriptedDriver(fails="docker run: no space left on device")

    with pytest.raises(NoContainerError, match="no space left on device"), driver.containers.taken(KEY):
        raise AssertionError("it was not started")

    over = driver.requests[-1]
    assert isinstance(over, ContainerOver)
    assert over.entered is False


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
