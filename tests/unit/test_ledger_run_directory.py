"""The run directory: exclusive, whole files, whole lines, and no write after a failed one."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from contracts.errors import ErrorCode, LabError
from contracts.evidence import APPEND_ONLY, ATTEMPTS, COMPLETE, JOURNAL, PLAN, RUN_LOG
from ledger.run_directory import PART_PREFIX, RunDirectory
from ledger.run_lock import LockedError, NoLocksError, RunLock


@pytest.fixture
def run(tmp_path: Path) -> Iterator[RunDirectory]:
    directory = RunDirectory.create(tmp_path / "evidence", run_id="r1")
    yield directory
    directory.close()


def test_a_new_run_directory_holds_its_append_only_files_empty(run: RunDirectory) -> None:
    files = {path.relative_to(run.path).as_posix() for path in run.path.rglob("*") if path.is_file()}
    assert files == set(APPEND_ONLY)
    assert all((run.path / name).read_bytes() == b"" for name in APPEND_ONLY)
    assert run.path.stat().st_mode & 0o777 & ~0o755 == 0


def test_a_taken_run_id_is_refused_and_nothing_in_it_changes(run: RunDirectory) -> None:
    run.append(RUN_LOG, "kept")
    with pytest.raises(LabError) as caught:
        RunDirectory.create(run.path.parent, run_id="r1")
    assert caught.value.code is ErrorCode.RUN_ID_TAKEN
    assert (run.path / RUN_LOG).read_text() == "kept\n"


def test_an_empty_directory_or_a_dangling_link_takes_the_run_id_too(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    for name in ("empty", "dangling"):
        with pytest.raises(LabError) as caught:
            RunDirectory.create(tmp_path, run_id=name)
        assert caught.value.code is ErrorCode.RUN_ID_TAKEN
    assert not (tmp_path / "nowhere").exists()


def test_of_twelve_writers_of_one_run_id_one_wins(tmp_path: Path) -> None:
    def create(_: int) -> str:
        try:
            RunDirectory.create(tmp_path, run_id="same").close()
        except LabError as error:
            return error.code.code
        return "won"

    with ThreadPoolExecutor(12) as threads:
        assert sorted(threads.map(create, range(12))) == ["run-id-taken"] * 11 + ["won"]


def test_an_evidence_folder_that_is_a_file_is_unwritable(tmp_path: Path) -> None:
    (tmp_path / "evidence").write_text("a file")
    with pytest.raises(LabError) as caught:
        RunDirectory.create(tmp_path / "evidence", run_id="r1")
    assert caught.value.code is ErrorCode.EVIDENCE_UNWRITABLE


def test_a_full_disk_at_the_creation_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.open

    def full(path: str | Path, flags: int, mode: int = 0o777, **options: int | None) -> int:
        if flags & os.O_CREAT and RUN_LOG in str(path):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(path, flags, mode, **options)

    monkeypatch.setattr(os, "open", full)
    with pytest.raises(LabError) as caught:
        RunDirectory.create(tmp_path, run_id="r1")
    assert caught.value.code is ErrorCode.EVIDENCE_UNWRITABLE
    assert list(tmp_path.iterdir()) == []


def test_lines_reach_the_file_at_once_and_in_order(run: RunDirectory) -> None:
    for number in range(3):
        run.append(ATTEMPTS, f'{{"n":{number}}}')
        assert (run.path / ATTEMPTS).read_text().count("\n") == number + 1


def test_lines_of_many_threads_are_never_mixed(run: RunDirectory) -> None:
    lines = [f"{number}:" + "x" * (number * 37 % 5000) for number in range(400)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda line: run.append(RUN_LOG, line), lines))
    assert sorted((run.path / RUN_LOG).read_text().splitlines()) == sorted(lines)


def test_a_line_with_a_line_end_and_a_file_that_is_not_append_only_are_refused(run: RunDirectory) -> None:
    with pytest.raises(ValueError, match="single lines"):
        run.append(RUN_LOG, "two\nlines")
    with pytest.raises(ValueError, match="single lines"):
        run.append(PLAN, "{}")


def test_a_lone_surrogate_in_a_log_line_is_escaped_and_not_fatal(run: RunDirectory) -> None:
    run.append(RUN_LOG, "bad \ud800 text")
    assert (run.path / RUN_LOG).read_text() == "bad \\ud800 text\n"


def test_a_whole_file_replaces_the_older_one_and_leaves_no_temporary_name(run: RunDirectory) -> None:
    run.write_whole("suite/deep/a.txt", b"old")
    run.write_whole("suite/deep/a.txt", iter([b"new ", b"", b"text"]))
    assert [path.name for path in (run.path / "suite/deep").iterdir()] == ["a.txt"]
    assert (run.path / "suite/deep/a.txt").read_bytes() == b"new text"


def test_a_writer_that_stops_between_pieces_leaves_the_file_absent(run: RunDirectory) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"half"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run.write_whole("results.json", pieces())
    assert not (run.path / "results.json").exists()
    assert not list(run.path.glob(PART_PREFIX + "*"))


@pytest.mark.parametrize("name", ["/etc/x", "../x", "a/../b", "a//b", "", "a\nb", "a\\b", "a\udcff", "a\rb", "./a"])
def test_a_name_that_no_seal_could_list_is_refused_before_anything_is_written(run: RunDirectory, name: str) -> None:
    before = sorted(run.path.rglob("*"))
    with pytest.raises(LabError) as caught:
        run.write_whole(name, b"x")
    assert caught.value.code is ErrorCode.WRITE_FAILED
    assert sorted(run.path.rglob("*")) == before


def test_a_full_disk_is_named_with_its_file_and_ends_the_run(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", _full_disk)
        with pytest.raises(LabError) as caught:
            run.append(JOURNAL, "{}")
    assert caught.value.code is ErrorCode.WRITE_FAILED
    assert "journal.jsonl" in caught.value.message
    assert "No space left" in str(caught.value)
    with pytest.raises(LabError, match="earlier write"):
        run.append(RUN_LOG, "x")
    with pytest.raises(LabError, match="earlier write"):
        run.write_whole("a", b"")
    with pytest.raises(LabError, match="earlier write"):
        run.flush()


def test_a_short_write_goes_on_until_the_reason_shows(run: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    real, lengths = os.write, iter([3, 2, 10**6])
    monkeypatch.setattr(os, "write", lambda handle, content: real(handle, content[: next(lengths)]))
    run.append(RUN_LOG, "0123456789")
    assert (run.path / RUN_LOG).read_text() == "0123456789\n"


def test_a_device_that_takes_no_bytes_is_a_failed_write(run: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "write", lambda *_: 0)
    with pytest.raises(LabError) as caught:
        run.append(RUN_LOG, "x")
    assert caught.value.code is ErrorCode.WRITE_FAILED


def test_flush_brings_every_file_and_directory_to_the_disk_once(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    run.write_whole("suite/prompts/a.md", b"a")
    synced: list[str] = []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(str(Path(f"/proc/self/fd/{handle}").readlink())))
    run.flush()
    everything = [run.path.parent, run.path, *run.path.rglob("*")]
    assert sorted(synced) == sorted(str(path) for path in everything)


def test_a_failed_fsync_ends_the_run_and_is_never_tried_again(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []

    def fsync(handle: int) -> None:
        calls.append(handle)
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", fsync)
    for _ in range(2):
        with pytest.raises(LabError) as caught:
            run.flush()
        assert caught.value.code is ErrorCode.WRITE_FAILED
    assert len(calls) == 1


def test_a_closed_run_directory_takes_nothing(run: RunDirectory) -> None:
    run.close()
    run.close()
    with pytest.raises(ValueError, match="closed"):
        run.append(RUN_LOG, "x")


def test_an_interrupted_run_is_opened_without_its_cut_lines_and_unfinished_files(run: RunDirectory) -> None:
    run.write_whole(PLAN, b"{}")
    run.append(JOURNAL, "whole")
    run.close()
    with (run.path / JOURNAL).open("ab") as stream:
        stream.write(b"cut" * 100_000)
    (run.path / RUN_LOG).write_bytes(b"no line end at all")
    (run.path / f"{PART_PREFIX}1-1").write_bytes(b"half")
    again = RunDirectory.open_existing(run.path, run_id="r1", lock=RunLock.take(run.path))
    again.append(JOURNAL, "next")
    again.append(JOURNAL, "too much")
    again.cut(JOURNAL, size=len("whole\nnext\n"))
    again.close()
    assert (run.path / JOURNAL).read_text() == "whole\nnext\n"
    assert (run.path / RUN_LOG).read_bytes() == b""
    assert not list(run.path.glob(PART_PREFIX + "*"))


def test_a_sealed_run_and_a_folder_that_is_no_run_are_not_opened(run: RunDirectory, tmp_path: Path) -> None:
    run.write_whole(PLAN, b"{}")
    run.write_whole(COMPLETE, b"sealed")
    run.close()
    for path, code in ((run.path, ErrorCode.SEALED_RUN), (tmp_path, ErrorCode.NO_RUN)):
        with pytest.raises(LabError) as caught:
            RunDirectory.open_existing(path, run_id="r1", lock=RunLock.take(path))
        assert caught.value.code is code
        RunLock.take(path).release()  # whoever could not open it holds nothing


def test_a_run_is_locked_as_long_as_it_is_open(run: RunDirectory) -> None:
    with pytest.raises(LockedError):
        RunLock.take(run.path)
    run.close()
    lock = RunLock.take(run.path)
    with pytest.raises(LockedError):
        RunLock.take(run.path)
    lock.release()
    lock.release()
    RunLock.take(run.path).release()


def test_no_program_that_is_started_holds_the_lock_of_a_run(run: RunDirectory) -> None:
    with subprocess.Popen(["sleep", "60"]) as child:
        try:
            run.close()
            RunLock.take(run.path).release()
        finally:
            child.kill()


def test_a_file_system_without_locks_is_told_and_never_taken_for_an_unlocked_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(handle: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuses)
    run = RunDirectory.create(tmp_path, run_id="r1")
    assert run.no_lock == os.strerror(errno.ENOLCK)
    with pytest.raises(NoLocksError):
        RunLock.take(run.path)
    run.close()


def test_a_program_stays_one_and_a_file_can_be_removed(run: RunDirectory) -> None:
    run.write_whole("suite/agent.sh", b"#!/bin/sh", is_program=True)
    run.write_whole("suite/cases.json", b"{}")
    modes = [(run.path / "suite" / name).stat().st_mode & 0o100 for name in ("agent.sh", "cases.json")]
    assert modes == [0o100, 0]
    run.remove("suite/agent.sh")
    run.remove("suite/agent.sh")
    assert not (run.path / "suite/agent.sh").exists()


def test_a_discarded_run_is_gone(run: RunDirectory) -> None:
    run.discard()
    assert not run.path.exists()
    assert run.path.parent.exists()


def _full_disk(handle: int, content: bytes) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
