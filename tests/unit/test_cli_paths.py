"""Paths on the command line that no file can have, or that cannot be read: refused as such, in every command."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from contracts.errors import ErrorCode, LabError
from driver.cli.paths import path_problem
from driver.run_names import run_directory_of
from tests.fakes.in_process import called

ROOT = Path(__file__).resolve().parents[2]
LONG = "x" * 300


@pytest.mark.parametrize(
    "argv",
    [
        *(["compare", LONG, "."], ["verify", LONG], ["show", LONG], ["replay", LONG, "--case", "a"], ["cases", LONG]),
        *(["cases", "import", ".", "--to", LONG], ["jobs", LONG], ["doctor", "--evidence", LONG], ["run", LONG]),
        *(["run", ".", "--evidence", LONG], ["run", ".", "--agent", LONG], ["run", ".", "--env-from-file", LONG]),
        ["run", ".", "--baseline", LONG],
    ],
    ids=lambda argv: " ".join(argv)[:24].replace("/", "-"),
)
def test_a_name_that_no_file_can_have_is_a_usage_error(argv: list[str], tmp_path: Path) -> None:
    said = called(argv, cwd=tmp_path)
    assert said.status == 2
    assert said.err.startswith(b"labctl: bad-usage: ")
    assert b"File name too long" in said.err


def test_what_is_not_there_is_for_the_command_to_judge(tmp_path: Path) -> None:
    assert path_problem(str(tmp_path / "none" / "at all")) is None
    assert path_problem(__file__ + "/below") is None
    assert path_problem("a\0b") == "'a\\x00b' cannot be looked at: embedded null byte"


def test_a_file_that_cannot_be_read_is_no_run() -> None:
    with pytest.raises(LabError) as caught, run_directory_of(Path("/proc/self/mem")):
        pass
    assert caught.value.code is ErrorCode.NO_RUN
    assert "found: /proc/self/mem: cannot be read: " in str(caught.value)


NO_UTF8 = "q\udcff"
"""As Python has the bytes `q\\xff` of a command line."""


@pytest.mark.parametrize(
    "argv",
    [
        *(["run", NO_UTF8], ["run", ".", "--evidence", NO_UTF8], ["run", ".", "--baseline", NO_UTF8]),
        *(["run", ".", "--agent", f"{NO_UTF8}.yaml"], ["run", ".", "--env-from-file", NO_UTF8]),
        *(["replay", NO_UTF8, "--case", "a"], ["replay", ".", "--case", "a", "--evidence", NO_UTF8]),
        *(["resume", NO_UTF8], ["run", ".", "--not-secret", NO_UTF8], ["run", ".", "--judge-model", NO_UTF8]),
    ],
    ids=lambda argv: " ".join(argv).replace(NO_UTF8, "Q"),
)
def test_what_is_recorded_and_is_not_utf8_is_a_usage_error(argv: list[str], tmp_path: Path) -> None:
    said = called(argv, cwd=tmp_path)
    assert said.status == 2
    assert said.err.startswith(b"labctl: bad-usage: 'q\\udcff")
    assert b" is not UTF-8\n" in said.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", ["cases", "jobs"])
def test_a_suite_that_is_only_read_may_have_any_name(command: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "fixtures", tmp_path / NO_UTF8)
    assert called([command, NO_UTF8], cwd=tmp_path).status == 0
