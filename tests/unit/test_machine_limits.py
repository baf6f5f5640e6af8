"""A limit of the machine is told by its name with a way to lift it, wherever it was met, and is no bug of labctl."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.errors import ErrorCode, LabError
from contracts.machine_limits import limit_error, next_step_of
from contracts.plan import Plan
from tests.fakes.fake_stack import FakeStack, all_pass
from tests.unit.test_pipeline import request, run

ROOT = Path(__file__).resolve().parents[2]
LIMITS = [errno.EMFILE, errno.ENFILE, errno.EFBIG, errno.ENOMEM, errno.EDQUOT, errno.ENOSPC]


def an_error(number: int) -> OSError:
    return OSError(number, os.strerror(number))


@pytest.mark.parametrize("number", LIMITS, ids=lambda number: errno.errorcode[number])
def test_a_limit_is_named_with_its_next_step_also_where_another_error_came_of_it(number: int) -> None:
    wrapped = ValueError("cannot go on")
    wrapped.__cause__ = an_error(number)
    for error in (an_error(number), wrapped):
        told = limit_error(error)
        assert told is not None
        assert told.code is ErrorCode.MACHINE_LIMIT
        assert str(told.next_step).startswith(str(next_step_of(number)))
        assert errno.errorcode[number] in str(told)


def test_a_full_disk_is_the_one_of_the_files_that_are_named_and_either_where_none_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    text, here = os.strerror(errno.ENOSPC), str(tmp_path / "scratch" / "file")
    steps = [
        str(told.next_step)
        for told in (
            limit_error(OSError(errno.ENOSPC, text, here)),
            limit_error(OSError(errno.ENOSPC, text, "/suite/file", None, here)),
            limit_error(OSError(errno.ENOSPC, text, "/evidence/run")),
            limit_error(an_error(errno.ENOSPC)),
            limit_error(an_error(errno.ENOSPC), is_temporary=True),
        )
        if told
    ]
    assert [("TMPDIR" in step, "--evidence" in step) for step in steps] == [
        (True, False),
        (True, False),
        (False, True),
        (True, True),
        (True, False),
    ]


def test_no_memory_is_a_limit_and_other_errors_are_none() -> None:
    assert "the memory" in str(limit_error(MemoryError()))
    assert limit_error(FileNotFoundError(errno.ENOENT, "no")) is None
    assert limit_error(ValueError("no")) is None


def test_a_limit_before_the_first_attempt_leaves_nothing(tmp_path: Path) -> None:
    def says(plan: Plan) -> Iterator[str]:
        raise an_error(errno.EMFILE)
        yield plan.run_id

    with pytest.raises(LabError) as caught:
        run(FakeStack(says=says), request(tmp_path))
    assert (caught.value.code, caught.value.kept) == (ErrorCode.MACHINE_LIMIT, None)
    assert list(tmp_path.iterdir()) == []


def test_a_limit_in_the_middle_keeps_what_finished_and_says_how_to_go_on(tmp_path: Path) -> None:
    def says(plan: Plan) -> Iterator[str]:
        yield from [*all_pass(plan)][:-1]
        raise an_error(errno.EMFILE)

    with pytest.raises(LabError) as caught:
        run(FakeStack(says=says), request(tmp_path))
    assert caught.value.code is ErrorCode.WRITE_FAILED
    assert str(caught.value.kept) == f"{tmp_path / 'run-1'} (unsealed: it is never graded)"
    assert str(caught.value.next_step) == f"{next_step_of(errno.EMFILE)}; then labctl resume {tmp_path / 'run-1'}"


def test_a_write_that_a_limit_refuses_before_the_first_attempt_says_nothing_of_a_folder_that_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write

    def fails(handle: int, content: bytes) -> int:
        if b'"plannedAt"' in content:
            raise an_error(errno.EFBIG)
        return write(handle, content)

    monkeypatch.setattr(os, "write", fails)
    with pytest.raises(LabError) as caught:
        run(FakeStack(), request(tmp_path))
    assert (caught.value.kept, caught.value.next_step) == (None, next_step_of(errno.EFBIG))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("limit", "value", "named"),
    [
        (resource.RLIMIT_NOFILE, 10, "ulimit -n"),
        (resource.RLIMIT_FSIZE, 512, "ulimit -f"),
        (resource.RLIMIT_FSIZE, 0, "ulimit -f"),
    ],
)
def test_a_command_under_a_limit_is_refused_with_exit_4_and_no_bug(
    tmp_path: Path, limit: int, value: int, named: str
) -> None:
    code = f"import resource; resource.setrlimit({limit}, ({value}, {value})); from driver.cli.main import main; main()"
    argv = [
        sys.executable,
        "-c",
        code,
        "run",
        "fixtures",
        "--backend",
        "process",
        "--evidence",
        str(tmp_path / "runs"),
    ]
    env = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}  # of a file that a limit cuts Python itself hears nothing
    done = subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 4, done.stderr
    assert "labctl: machine-limit: a limit of this machine was reached" in done.stderr
    assert "next: allow" in done.stderr
    assert named in done.stderr


def test_a_result_that_a_full_disk_takes_no_line_of_is_no_yes_and_stands_on_stderr() -> None:
    argv = [sys.executable, "-Bc", "from driver.cli.main import main; main()", "cases", "fixtures"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(argv, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
    assert done.returncode == 5
    said = done.stderr.splitlines()
    assert said[0] == "labctl: write-failed: stdout cannot be written: No space left on device"
    assert len(said) == 21, "each line that stdout did not take"
    assert all(line.startswith("labctl: lost on stdout: ") for line in said[1:])
