"""The folder that an attempt is given is copied before the runner is let in; where that fails, no agent is started."""

from __future__ import annotations

from pathlib import Path

from agent_host.given_folder import copy_given
from tests.fakes.host_runner import Runner


def given(root: Path) -> Path:
    (root / "given" / "deep" / "er").mkdir(parents=True)
    (root / "given" / "notes").write_text("as it was")
    (root / "given" / "deep" / "run.sh").write_text("#!/bin/sh\n")
    (root / "given" / "deep" / "run.sh").chmod(0o755)
    return root / "given"


def test_files_folders_and_modes_arrive_and_the_target_itself_is_left_as_it_is(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir(mode=0o700)

    assert copy_given(str(given(tmp_path)), str(target)) == ""

    assert (target / "notes").read_text() == "as it was"
    assert (target / "deep" / "run.sh").stat().st_mode & 0o777 == 0o755
    assert (target / "deep" / "er").is_dir()
    assert target.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    assert "No such file or directory" in copy_given(str(tmp_path / "gone"), str(tmp_path))


def test_an_agent_works_on_the_copy(tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    runner = Runner(tmp_path / "work", given=(given(tmp_path), tmp_path / "copy"))

    runner.run(["/bin/sh", "-c", "cat notes; echo changed > notes"], cwd=str(tmp_path / "copy"))

    assert (runner.text("a"), runner.leave()) == ("as it was", 0)
    assert (tmp_path / "given" / "notes").read_text() == "as it was"


def test_no_agent_is_started_in_half_a_folder(tmp_path: Path) -> None:
    runner = Runner(tmp_path / "work", given=(given(tmp_path), tmp_path / "no" / "such" / "place"))

    failed = runner.run(["/bin/true"])

    assert (failed["op"], runner.leave()) == ("failed", 0)
    assert "the working folder cannot be copied to" in failed["message"]
