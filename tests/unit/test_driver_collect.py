"""What the driver makes of the runner's lines."""

from __future__ import annotations

import pytest

from contracts.errors import ErrorCode, LabError
from contracts.lines import RunnerReady, RunnerRefused
from driver.collect import await_ready, read_runner


def test_a_refusal_is_raised_as_the_error_it_names() -> None:
    line = RunnerRefused(code="agent-host-missing", message="no host", found=("agent: gone",), next_step="x").to_line()
    with pytest.raises(LabError) as caught:
        list(read_runner([line]))
    assert caught.value.code is ErrorCode.AGENT_HOST_MISSING
    assert "found: agent: gone" in str(caught.value)


def test_a_line_that_is_no_record_is_a_bug_and_shown() -> None:
    with pytest.raises(LabError) as caught:
        list(read_runner(["Traceback (most recent call last):\n"]))
    assert caught.value.code is ErrorCode.BUG
    assert "Traceback" in str(caught.value)


def test_a_runner_that_ends_without_being_ready_never_ran() -> None:
    with pytest.raises(LabError) as caught:
        await_ready(read_runner([]))
    assert caught.value.code is ErrorCode.RUNNER_FAILED


def test_ready_is_waited_for_and_the_rest_stays_to_be_read() -> None:
    records = read_runner([RunnerReady(runner="1").to_line(), '{"type":"finished","attempts":0}'])
    await_ready(records)
    assert len(list(records)) == 1
