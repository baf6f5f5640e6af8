"""Where labctl puts its scratch folders: a place that cannot be used is the machine's fault, and is said as such."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from contracts.errors import ErrorCode, LabError
from contracts.exits import Exit
from driver.cleaning import clean_disk
from driver.doctor import examine
from driver.scratch import kept_folder, scratch_folder, temporary_folder
from driver.self_test.controls import self_test
from driver.self_test.looked import verdict
from tests.fakes.fake_stack import FakeStack
from tests.fakes.written_runs import sealed_run
from tests.unit.test_pipeline import SAMPLE, request, run


@pytest.fixture
def no_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A TMPDIR that is not there, on a machine that has no other place."""

    def refuses() -> NoReturn:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found in []")

    monkeypatch.setattr(tempfile, "gettempdir", refuses)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "gone"))
    return tmp_path / "gone"


def make_scratch() -> None:
    with scratch_folder():
        pass


@pytest.mark.parametrize("wants", [temporary_folder, make_scratch, kept_folder, clean_disk])
def test_without_any_place_for_temporary_files_the_machine_is_named_and_no_bug(
    no_place: Path, wants: Callable[[], object]
) -> None:
    with pytest.raises(LabError) as caught:
        wants()
    assert caught.value.code is ErrorCode.MACHINE_LIMIT
    assert str(caught.value).splitlines()[1:] == [
        f"found: {no_place}: No such file or directory (errno 2)",
        "next: name one with TMPDIR",
    ]


@pytest.fixture(params=["", "suite"])
def in_sealed_run(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A sealed run, in which, or in a folder of which, temporary files are to lie; nothing comes into it."""
    run = sealed_run(tmp_path / "evidence")
    before = sorted((path, path.stat().st_mtime_ns) for path in (run, *run.rglob("*")))
    monkeypatch.setenv("TMPDIR", str(run / str(request.param)))
    monkeypatch.setattr("tempfile.tempdir", None)
    yield run
    assert sorted((path, path.stat().st_mtime_ns) for path in (run, *run.rglob("*"))) == before


@pytest.mark.parametrize("wants", [temporary_folder, make_scratch, kept_folder])
def test_nothing_temporary_is_made_in_a_sealed_run(in_sealed_run: Path, wants: Callable[[], object]) -> None:
    with pytest.raises(LabError) as caught:
        wants()
    assert caught.value.code is ErrorCode.SEALED_RUN
    assert f"TMPDIR {in_sealed_run}" in caught.value.message


@pytest.mark.usefixtures("in_sealed_run")
def test_no_run_begins_whose_temporary_files_would_lie_in_a_sealed_run(tmp_path: Path) -> None:
    stack = FakeStack()
    with pytest.raises(LabError) as caught:
        run(stack, request(tmp_path / "runs"))
    assert caught.value.code is ErrorCode.SEALED_RUN
    assert not (tmp_path / "runs").exists()


@pytest.mark.usefixtures("in_sealed_run")
def test_the_self_test_cannot_be_tried_in_a_sealed_run_and_says_nothing_of_the_lab() -> None:
    def never(_: object) -> NoReturn:
        raise AssertionError("nothing is started")

    looked = list(self_test(never, progress=never, warn=never))
    assert verdict(looked) == (Exit.ENVIRONMENT, "this machine's lab cannot be tried")
    assert "lies in a sealed run" in looked[0].text


@pytest.mark.usefixtures("in_sealed_run")
def test_doctor_finds_a_place_in_a_sealed_run(tmp_path: Path) -> None:
    found = next(one for one in examine(tmp_path) if one.name == "scratch folders")
    assert found.error is not None
    assert found.error.code is ErrorCode.SEALED_RUN


@pytest.mark.parametrize("place", ["", "tmp", "working_dirs/a", ".venv/tmp"])
def test_no_run_begins_whose_temporary_files_would_be_part_of_its_suite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    suite = a_suite_with(tmp_path, monkeypatch, place)
    with pytest.raises(LabError) as caught:
        run(FakeStack(), replace(request(tmp_path / "runs"), suite=suite))
    assert caught.value.code is ErrorCode.BAD_USAGE
    assert f"the temporary folder {suite / place} lies in the suite" in caught.value.message
    assert caught.value.next_step == "set TMPDIR to a folder outside of it"
    assert not (tmp_path / "runs").exists()
    assert list((suite / place).glob("labctl-*")) == []


def test_temporary_files_may_lie_where_nothing_is_part_of_the_suite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = a_suite_with(tmp_path, monkeypatch, "evidence/tmp")
    outcome = run(FakeStack(), replace(request(tmp_path / "runs"), suite=suite))
    assert not list((outcome.path / "suite").rglob("labctl-*"))


def a_suite_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> Path:
    """A copy of the sample in a folder of which temporary files are to lie."""
    suite = Path(shutil.copytree(SAMPLE, tmp_path / "suite"))
    (suite / place).mkdir(parents=True, exist_ok=True)
    monkeypatch.setattr("tempfile.tempdir", str(suite / place))
    return suite


@pytest.mark.usefixtures("no_place")
def test_doctor_finds_that_there_is_no_place(tmp_path: Path) -> None:
    found = next(one for one in examine(tmp_path) if one.name == "scratch folders")
    assert found.error is not None
    assert found.error.code is ErrorCode.MACHINE_LIMIT


def test_a_full_place_is_named_as_the_limit_that_it_is(no_place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*, dir: str, buffering: int) -> NoReturn:  # noqa: A002 - the names of tempfile
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), dir)

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(LabError) as caught:
        temporary_folder()
    assert str(caught.value).splitlines() == [
        "labctl: machine-limit: a limit of this machine was reached: the space of a disk",
        f"found: [Errno 28] No space left on device: '{no_place}' (ENOSPC)",
        "next: free space in the temporary folder, or name another one with TMPDIR",
    ]
