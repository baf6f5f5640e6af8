"""Clearing up after tests on the engine: what is going anyway is no trouble, and no test's own failure is hidden."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compose import engine_calls, launching
from tests.compose.launching import Labctl

BUSY = "Error response from daemon: removal of container 0f1e2d is already in progress"
REFUSED = "Error response from daemon: cannot remove container 0f1e2d: permission denied"


@pytest.mark.parametrize(
    "line",
    [
        BUSY,
        "Error response from daemon: No such container: 0f1e2d",
        "Error response from daemon: network 0f1e2d not found\nexit status 1",
        "Error response from daemon: get 0f1e2d: no such volume",
    ],
)
def test_a_thing_that_is_going_or_gone_is_no_refusal(line: str) -> None:
    assert engine_calls.refusals(f"{line}\n") == []


def test_any_other_word_of_the_engine_is_a_refusal() -> None:
    assert engine_calls.refusals(f"{BUSY}\n{REFUSED}\n") == [REFUSED]


def test_what_is_going_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine of this test says that it is busy, and has the container away by the third time."""
    program = tmp_path / "docker"
    program.write_text(
        f'#!/bin/sh\ncase "$1" in\nrm) echo x >> {tmp_path}/asked; echo "{BUSY}" >&2; exit 1;;\n'
        f'ps) [ "$(wc -l < {tmp_path}/asked)" -ge 3 ] || echo 0f1e2d;;\nesac\n'
    )
    program.chmod(0o755)
    (tmp_path / "asked").touch()
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    engine_calls.remove_from_engine("a-run")
    assert (tmp_path / "asked").read_text() == "x\n" * 3


def test_a_failing_test_says_why_it_failed_and_notes_that_clearing_up_failed_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(run_id: str) -> None:
        raise AssertionError(REFUSED)

    monkeypatch.setattr(launching, "remove_from_engine", refuses)
    labctl = Labctl(("true",), tmp_path, {"PATH": "/usr/bin:/bin"}, tmp_path)
    with pytest.raises(ValueError, match="the test's own") as failed, labctl.started():
        raise ValueError("the test's own")
    assert failed.value.__notes__ == [f"and clearing up failed: {REFUSED}"]
    with pytest.raises(AssertionError, match="permission denied"), labctl.started():
        pass
