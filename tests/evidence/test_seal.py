"""A run is sealed last, and only when a reader without labctl could check it."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from contracts import evidence
from contracts.errors import ErrorCode, LabError
from driver.seal import seal
from driver.verify import verify_run
from ledger.run_directory import RunDirectory
from ledger.run_lock import RunLock
from tests.fakes.written_runs import attempt_of, plan_of, sealed_run, write_manifest, write_run

STEPS = (
    evidence.PLAN,
    "suite/cases.json",
    evidence.JOURNAL,
    evidence.ATTEMPTS,
    evidence.RUN_LOG,
    evidence.RESULTS,
    evidence.JUNIT,
    evidence.ENVIRONMENT,
    evidence.README,
    evidence.COMPLETE,
)


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    """A finished run without its seal."""
    plan = plan_of("approval", "recovery")
    return write_run(tmp_path, plan, [attempt_of(plan, "approval"), attempt_of(plan, "recovery")])


def test_sha256sum_verifies_a_sealed_run_without_labctl(tmp_path: Path) -> None:
    path = sealed_run(tmp_path)
    done = subprocess.run(
        ["sha256sum", "--strict", "-c", "COMPLETE"], cwd=path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    files = {file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file()}
    assert done.stdout.splitlines() == [f"{name}: OK" for name in sorted(files - {"COMPLETE"})]


def test_the_header_names_run_count_and_digest_of_the_lines_below(tmp_path: Path) -> None:
    path = sealed_run(tmp_path)
    header, _, body = (path / evidence.COMPLETE).read_bytes().partition(b"\n")
    digest = subprocess.run(["sha256sum"], input=body, capture_output=True, check=True).stdout.split()[0].decode()
    assert header.decode() == f"# labctl-seal 1 run={path.name} files={len(body.splitlines())} body={digest}"


def test_everything_is_flushed_before_complete_is_written_and_complete_after_it(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[tuple[str, bool]] = []

    def fsync(handle: int) -> None:
        path = Path(f"/proc/self/fd/{handle}").readlink()
        steps.append((os.path.relpath(path, run.path), (run.path / evidence.COMPLETE).exists()))

    monkeypatch.setattr(os, "fsync", fsync)
    seal(run)
    before = {name for name, has_complete in steps if not has_complete}
    assert {*STEPS[:-1], ".", "traces", "suite", ".."} <= before
    assert [name for name, has_complete in steps if has_complete] == [evidence.COMPLETE, "."]


def test_a_sealed_run_takes_no_more_lines(run: RunDirectory) -> None:
    seal(run)
    with pytest.raises(ValueError, match="closed"):
        run.append(evidence.RUN_LOG, "late")


@pytest.mark.parametrize("step", range(len(STEPS)))
def test_a_run_that_ends_after_any_step_but_the_last_is_unsealed(run: RunDirectory, step: int) -> None:
    seal(run)
    for name in STEPS[step + 1 :]:
        (run.path / name).unlink()
    if step == len(STEPS) - 1:
        assert verify_run(run.path).files == 10
        return
    with pytest.raises(LabError) as caught:
        verify_run(run.path)
    assert caught.value.code is ErrorCode.UNSEALED


def test_a_failed_flush_leaves_the_run_unsealed(run: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    def fsync(handle: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(LabError) as caught:
        seal(run)
    assert caught.value.code is ErrorCode.WRITE_FAILED
    assert not (run.path / evidence.COMPLETE).exists()


@pytest.mark.parametrize("name", ["two\nlines", "back\\slash", "tab\there", b"\xff-no-utf-8"])
def test_a_file_name_with_more_than_one_spelling_is_refused_at_the_seal(run: RunDirectory, name: str | bytes) -> None:
    path = os.path.join(os.fsencode(run.path), name if isinstance(name, bytes) else name.encode())  # noqa: PTH118
    os.close(os.open(path, os.O_CREAT))
    with pytest.raises(LabError) as caught:
        seal(run)
    assert caught.value.code is ErrorCode.WRITE_FAILED
    assert "the name" in str(caught.value)
    assert str(caught.value).isascii()
    assert not (run.path / evidence.COMPLETE).exists()


def test_names_in_any_language_and_with_blanks_are_sealed(run: RunDirectory) -> None:
    for name in ("suite/Rückgabe für Käufer.json", "suite/ leading", "suite/*star", "suite/日本.json", "suite/#x"):
        run.write_whole(name, name.encode())
    write_manifest(run, plan_of("approval", "recovery"))
    seal(run)
    assert verify_run(run.path).files == 15
    done = subprocess.run(["sha256sum", "--strict", "-c", "COMPLETE"], cwd=run.path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout


def test_links_and_empty_folders_are_refused_at_the_seal(run: RunDirectory) -> None:
    (run.path / "link").symlink_to(evidence.PLAN)
    (run.path / "hard").hardlink_to(run.path / evidence.README)
    (run.path / "empty" / "deeper").mkdir(parents=True)
    os.mkfifo(run.path / "pipe")
    with pytest.raises(LabError) as caught:
        seal(run)
    for line in ("link: is a symbolic link", "hard: is a hard link", "README.md: is a hard link", "pipe: is a special"):
        assert f"found: {line}" in str(caught.value)
    assert "found: empty/deeper/: is an empty folder" in str(caught.value)


def test_a_run_without_a_file_that_every_run_has_is_told_and_stays_unsealed(run: RunDirectory) -> None:
    (run.path / evidence.RESULTS).unlink()
    with pytest.raises(LabError) as caught:
        seal(run)
    assert caught.value.code is ErrorCode.WRITE_FAILED
    assert "found: results.json: is missing" in str(caught.value)
    assert not (run.path / evidence.COMPLETE).exists()


_FILL = """
import resource, sys
from pathlib import Path
from contracts.errors import LabError
from ledger.run_directory import RunDirectory
from ledger.run_lock import RunLock
run = RunDirectory.create(Path(sys.argv[1]), run_id="full")
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
try:
    {action}
except LabError as error:
    print(error.code.code, error.message)
"""


@pytest.mark.parametrize(
    ("action", "name"),
    [
        ('[run.append("run.log", "x" * 999) for _ in range(100)]', "run.log"),
        ('run.write_whole("results.json", (b"y" * 999 for _ in range(100)))', "results.json"),
    ],
)
def test_a_real_short_write_is_named_and_leaves_no_half_file(tmp_path: Path, action: str, name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _FILL.format(action=action), str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"write-failed {name} could not be written; the run stays unsealed\n"
    assert not (tmp_path / "full" / "results.json").exists()
    assert [path.name for path in (tmp_path / "full").iterdir() if path.name.startswith(".")] == []


_KILLED = """
import os, sys
from pathlib import Path
from ledger.run_directory import RunDirectory
from ledger.run_lock import RunLock
run = RunDirectory.create(Path(sys.argv[1]), run_id="killed")
run.write_whole("plan.json", b"{}")
def pieces():
    yield b"half of the results"
    os.kill(os.getpid(), 9)
run.write_whole("results.json", pieces())
"""


def test_a_writer_killed_between_writing_and_renaming_leaves_no_half_file_and_can_be_followed(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", _KILLED, str(tmp_path)], capture_output=True, check=False)
    assert done.returncode == -9
    assert not (tmp_path / "killed" / evidence.RESULTS).exists()
    with pytest.raises(LabError) as caught:
        verify_run(tmp_path / "killed")
    assert caught.value.code is ErrorCode.UNSEALED
    again = RunDirectory.open_existing(tmp_path / "killed", run_id="killed", lock=RunLock.take(tmp_path / "killed"))
    again.write_whole(evidence.RESULTS, b"whole")
    again.close()
    assert sorted(path.name for path in (tmp_path / "killed").iterdir()) == [
        "journal.jsonl",
        "plan.json",
        "results.json",
        "run.log",
        "traces",
    ]
