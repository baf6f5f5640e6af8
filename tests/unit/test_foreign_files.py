"""What is not ours to remove in a folder of ours, with a program in the place of `docker` that may remove it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from contracts.errors import ErrorCode, LabError
from driver.stacks.foreign_files import empty_folder

RUNTIME = """#!/bin/sh
printf '%s\\n' "$*" >> "$0.calls"
if [ -e "$0.refuses" ]; then echo 'permission denied by the daemon' >&2; exit 126; fi
for word in "$@"; do
  case "$word" in type=bind,source=*) folder="${word#type=bind,source=}"; rm -r "${folder%%,*}"/*;; esac
done
"""


@pytest.fixture
def runtime(tmp_path: Path) -> Path:
    program = tmp_path / "engine"
    program.write_text(RUNTIME)
    program.chmod(0o755)
    return program


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with something of ours, and something that we may not remove, whoever runs this test."""
    root = tmp_path / "copies"
    for name in ("ours", "of-root"):
        (root / name / "deep").mkdir(parents=True)
        (root / name / "deep" / "file").touch()
    remove: Callable[..., None] = shutil.rmtree

    def remove_unless_of_root(path: Path, *, ignore_errors: bool = False) -> None:
        if Path(path).name != "of-root":
            remove(path, ignore_errors=ignore_errors)

    monkeypatch.setattr("driver.stacks.foreign_files.shutil.rmtree", remove_unless_of_root)
    return root


def test_what_is_ours_costs_no_container(folder: Path, runtime: Path) -> None:
    (folder / "of-root").rename(folder / "ours-too")

    empty_folder(folder, runtime=str(runtime), image="sha256:lab", labels={})

    assert list(folder.iterdir()) == []
    assert not Path(f"{runtime}.calls").exists()


def test_the_rest_is_removed_by_a_container_that_has_only_that_folder_and_only_that_power(
    folder: Path, runtime: Path
) -> None:
    empty_folder(folder, runtime=str(runtime), image="sha256:lab", labels={"labctl.run": "r"})

    assert list(folder.iterdir()) == []
    (call,) = [line for line in Path(f"{runtime}.calls").read_text().splitlines() if line.startswith("run ")]
    for expected in (
        "--network none --read-only --label labctl.run=r",
        "--user 0:0 --cap-drop ALL --security-opt no-new-privileges --cap-add DAC_OVERRIDE --cap-add FOWNER",
        f"--mount type=bind,source={folder},target=/left --workdir /",
        "sha256:lab --library-path",
    ):
        assert expected in call
    assert call.count("--mount") == 1


def test_what_no_container_can_remove_is_named_with_the_next_step(folder: Path, runtime: Path) -> None:
    Path(f"{runtime}.refuses").touch()

    with pytest.raises(LabError) as caught:
        empty_folder(folder, runtime=str(runtime), image="sha256:lab", labels={})

    assert caught.value.code is ErrorCode.LEFTOVERS
    assert str(folder) in caught.value.message
    assert [str(one) for one in caught.value.found] == ["of-root: is still there"]
    assert caught.value.cause == "permission denied by the daemon"
    assert caught.value.next_step == f"labctl clean, or as root: rm -r {folder}"
