"""What the by-hand runner refuses before it starts, and the parts that say which version runs."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from contracts.errors import ErrorCode, LabError
from contracts.exits import Exit
from contracts.suite.loading import load_suite
from driver.version import VERSION as LABCTL
from runner import VERSION
from runner.hand import plan_by_hand, profiles_that_are_on
from tests.fakes.suite_folder import CASE, SuiteFolder

TOXIC_ON_MODEL = {"network": [{"type": "latency", "attributes": {"latency": 5}, "target": "model"}]}


@pytest.mark.parametrize(
    ("names", "profiles"),
    [
        ((), ()),
        (("fault-proxy",), ("fault",)),
        (("otel-collector",), ("observe",)),
        (("fault-proxy", "otel-collector"), ("fault", "observe")),
    ],
)
def test_a_profile_is_on_where_its_service_has_a_name(names: tuple[str, ...], profiles: tuple[str, ...]) -> None:
    def resolve(name: str) -> None:
        if name not in names:
            raise socket.gaierror

    assert profiles_that_are_on(resolve) == profiles


def test_a_plan_by_hand_says_whether_its_faults_are_on(tmp_path: Path) -> None:
    suite = load_suite(SuiteFolder(tmp_path, cases=[{**CASE, "faults": TOXIC_ON_MODEL}]).write())
    clean, fault = (plan_by_hand(suite, command=(), profiles=profiles).conditions for profiles in ((), ("fault",)))

    assert (clean.profiles, clean.fault_plan_digest) == ((), None)
    assert fault.profiles == ("fault",)
    assert fault.fault_plan_digest is not None


def test_faults_that_the_default_agent_cannot_meet_are_refused_by_hand_too(tmp_path: Path) -> None:
    folder = SuiteFolder(tmp_path, cases=[{**CASE, "faults": TOXIC_ON_MODEL}])
    folder.settings = folder.settings.replace('"scripted/support"', '"openai/gpt"')
    suite = load_suite(folder.write())

    with pytest.raises(LabError) as caught:
        plan_by_hand(suite, command=(), profiles=("fault",))

    assert (caught.value.code, caught.value.exit_code) == (ErrorCode.BAD_USAGE, Exit.USAGE)
    assert "found: greets: " in str(caught.value)


def test_a_case_that_needs_a_container_is_not_run_by_hand(tmp_path: Path) -> None:
    suite = load_suite(SuiteFolder(tmp_path, cases=[{**CASE, "id": "boxed", "image": "alpine:3"}]).write())

    with pytest.raises(LabError) as caught:
        plan_by_hand(suite, command=())

    assert caught.value.exit_code is Exit.ENVIRONMENT
    assert '"boxed" needs a container of its own, and only labctl starts one' in str(caught.value)


def test_runner_and_labctl_are_of_one_version() -> None:
    assert VERSION == LABCTL
