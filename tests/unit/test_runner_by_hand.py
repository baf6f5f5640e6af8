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
from runner.hand import FAULT_PROXY, plan_by_hand, refuse_faults
from tests.fakes.suite_folder import CASE, SuiteFolder


def test_faults_by_hand_are_refused_while_this_version_has_none() -> None:
    asked: list[str] = []

    with pytest.raises(LabError) as caught:
        refuse_faults(asked.append)

    assert asked == [FAULT_PROXY]
    assert caught.value.code is ErrorCode.NOT_BUILT_YET
    assert caught.value.exit_code is Exit.USAGE
    assert "faults are not part of this version" in str(caught.value)


def test_without_the_profile_fault_there_is_no_such_name_and_all_goes_on() -> None:
    def resolve(_name: str) -> None:
        raise socket.gaierror

    refuse_faults(resolve)


def test_a_case_that_needs_a_container_is_not_run_by_hand(tmp_path: Path) -> None:
    suite = load_suite(SuiteFolder(tmp_path, cases=[{**CASE, "id": "boxed", "image": "alpine:3"}]).write())

    with pytest.raises(LabError) as caught:
        plan_by_hand(suite, command=())

    assert caught.value.exit_code is Exit.ENVIRONMENT
    assert '"boxed" needs a container of its own, and only labctl starts one' in str(caught.value)


def test_runner_and_labctl_are_of_one_version() -> None:
    assert VERSION == LABCTL
