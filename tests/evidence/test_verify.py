"""Whatever was done to the files of a sealed run or to its seal, `verify` says so and names the file."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contracts import evidence
from contracts.errors import ErrorCode, LabError
from contracts.exits import Exit
from driver import run_files
from driver.verify import verify_run
from tests.fakes.refused_runs import altered, refused
from tests.fakes.written_runs import RUN_ID

FILES = (
    "README.md",
    "environment.json",
    "journal.jsonl",
    "junit.xml",
    "plan.json",
    "results.json",
    "run.log",
    "suite/cases.json",
    "suite/prompts/v6.md",
    "traces/attempts.jsonl",
)


def test_a_sealed_run_is_verified_also_after_it_was_copied(run: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(run, tmp_path / "elsewhere")
    for path in (run, copy):
        verified = verify_run(path)
        assert (verified.files, verified.cases) == (len(FILES), 2)
        assert verified.plan.run_id == RUN_ID


@pytest.mark.parametrize("name", [*FILES, "COMPLETE"])
def test_a_flipped_byte_in_any_file_is_found_wherever_it_is(run: Path, name: str) -> None:
    content = (run / name).read_bytes()
    for at in sorted({0, 1, len(content) // 3, len(content) // 2, len(content) - 1} & set(range(len(content)))):
        (run / name).write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        error = altered(run)
        assert name == "COMPLETE" or f"found: {name}: was changed or cut" in error
        (run / name).write_bytes(content)
    assert verify_run(run).files == len(FILES)


@pytest.mark.parametrize("name", FILES)
def test_a_removed_file_is_named(run: Path, name: str) -> None:
    (run / name).unlink()
    assert f"found: {name}: is missing" in altered(run)


@pytest.mark.parametrize("name", FILES)
def test_a_file_cut_at_a_line_end_is_named(run: Path, name: str) -> None:
    lines = (run / name).read_bytes().splitlines(keepends=True)
    (run / name).write_bytes(b"".join(lines[:-1]))
    assert f"found: {name}: was changed or cut" in altered(run)


@pytest.mark.parametrize("name", ["extra", "suite/extra.json", "suite/new/deep", ".hidden", "traces/otlp.jsonl", "-"])
def test_an_added_file_is_named_also_when_it_is_empty(run: Path, name: str) -> None:
    (run / name).parent.mkdir(exist_ok=True)
    (run / name).touch()
    assert f"found: {name}: is not listed in COMPLETE" in altered(run)


def test_a_renamed_file_is_missing_and_unlisted(run: Path) -> None:
    (run / "run.log").rename(run / "ran.log")
    error = altered(run)
    assert "found: run.log: is missing" in error
    assert "found: ran.log: is not listed" in error


@pytest.mark.parametrize("folder", ["empty", "suite/empty", "a/b/c"])
def test_an_empty_folder_is_named(run: Path, folder: str) -> None:
    (run / folder).mkdir(parents=True)
    assert f"found: {folder}/: is an empty folder" in altered(run)


def test_a_file_replaced_by_a_link_to_its_own_content_is_named(run: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (run / "run.log").rename(outside)
    (run / "run.log").symlink_to(outside)
    error = altered(run)
    assert "found: run.log: is a symbolic link" in error
    assert error.count("run.log") == 1
    (run / "run.log").unlink()
    (run / "run.log").hardlink_to(outside)
    assert "found: run.log: is a hard link" in altered(run)


def test_a_folder_replaced_by_a_link_is_named(run: Path, tmp_path: Path) -> None:
    (run / "suite").rename(tmp_path / "suite")
    (run / "suite").symlink_to(tmp_path / "suite")
    assert "found: suite: is a symbolic link" in altered(run)


@pytest.mark.parametrize("name", ["plan.json", "COMPLETE", "traces/attempts.jsonl"])
def test_a_pipe_in_place_of_a_file_is_named_and_never_opened(run: Path, name: str) -> None:
    (run / name).unlink()
    os.mkfifo(run / name)
    assert f"found: {name}: is a special file" in altered(run)


@pytest.mark.parametrize("name", ["two\nlines", "back\\slash", "esc\x1b[2J"])
def test_a_name_that_could_break_a_line_is_shown_escaped(run: Path, name: str) -> None:
    (run / name).touch()
    error = altered(run)
    assert "the name holds a" in error
    assert "\x1b" not in error
    assert len(error.splitlines()) == 2


def test_many_problems_are_named_up_to_a_bound(run: Path) -> None:
    for number in range(100):
        (run / f"extra-{number:03}").touch()
    error = altered(run)
    assert "found: extra-039: is not listed" in error
    assert "found: and 60 more" in error


def _respelled(change: Callable[[list[str]], list[str]]) -> Callable[[bytes], bytes]:
    """Change the lines below the header and give them a header with a right digest."""

    def respell(sealed: bytes) -> bytes:
        lines = change(sealed.decode().split("\n")[1:-1])
        body = "".join(f"{line}\n" for line in lines).encode()
        digest = hashlib.sha256(body).hexdigest()
        return f"# labctl-seal 1 run={RUN_ID} files={len(FILES)} body={digest}\n".encode() + body

    return respell


RESPELLINGS: dict[str, Callable[[bytes], bytes]] = {
    "upper-case digests": _respelled(lambda lines: [line[:64].upper() + line[64:] for line in lines]),
    "binary marks": _respelled(lambda lines: [line.replace("  ", " *", 1) for line in lines]),
    "carriage returns": _respelled(lambda lines: [line + "\r" for line in lines]),
    "another order": _respelled(lambda lines: lines[::-1]),
    "a line twice": _respelled(lambda lines: [*lines, lines[-1]]),
    "a comment": _respelled(lambda lines: ["# nothing to see", *lines]),
    "an empty line": _respelled(lambda lines: [*lines, ""]),
    "a path with a dot": _respelled(lambda lines: [line.replace("  ", "  ./", 1) for line in lines]),
    "a path over the parent": _respelled(lambda lines: [line.replace("  ", f"  ../{RUN_ID}/", 1) for line in lines]),
    "an escaped name": _respelled(lambda lines: ["\\" + line for line in lines]),
    "a BSD line": _respelled(lambda lines: [f"SHA256 ({line[66:]}) = {line[:64]}" for line in lines]),
    "no header": lambda sealed: sealed.partition(b"\n")[2],
    "two headers": lambda sealed: sealed.partition(b"\n")[0] + b"\n" + sealed,
    "another run in the header": lambda sealed: sealed.replace(RUN_ID.encode(), b"run-other", 1),
    "another count in the header": lambda sealed: sealed.replace(b"files=10", b"files=11", 1),
    "another digest in the header": lambda sealed: sealed.replace(b"body=", b"body=0", 1),
    "another seal version": lambda sealed: sealed.replace(b"labctl-seal 1", b"labctl-seal 2", 1),
    "no last line end": lambda sealed: sealed[:-1],
    "cut at a line": lambda sealed: b"".join(sealed.splitlines(keepends=True)[:-1]),
    "empty": lambda _: b"",
    "a byte order mark": lambda sealed: b"\xef\xbb\xbf" + sealed,
    "a gigabyte of nothing": lambda sealed: sealed + b"\n" * 3_000_000,
}


@pytest.mark.parametrize("spelling", RESPELLINGS)
def test_another_spelling_of_complete_is_refused(run: Path, spelling: str) -> None:
    sealed = (run / evidence.COMPLETE).read_bytes()
    respelled = RESPELLINGS[spelling](sealed)
    assert respelled != sealed
    (run / evidence.COMPLETE).write_bytes(respelled)
    error = altered(run)
    assert "COMPLETE" in error
    assert len(error) < 5000


def test_a_run_without_complete_is_unsealed(run: Path) -> None:
    (run / evidence.COMPLETE).unlink()
    assert refused(run).code is ErrorCode.UNSEALED


@pytest.mark.parametrize("what", ["nothing", "an empty folder", "a folder of other files", "a text file", "/dev/null"])
def test_a_path_that_is_no_run_is_bad_usage_and_no_broken_evidence(tmp_path: Path, what: str) -> None:
    path = Path("/dev/null") if what == "/dev/null" else tmp_path / "given"
    if "folder" in what:
        path.mkdir()
    if what == "a folder of other files":
        (path / "notes.txt").touch()
    if what == "a text file":
        path.write_text("hello")
    with pytest.raises(LabError) as caught:
        verify_run(path)
    assert caught.value.code is ErrorCode.NO_RUN
    assert caught.value.exit_code is Exit.USAGE


def test_a_sealed_folder_that_lost_its_plan_is_altered_and_not_no_run(run: Path) -> None:
    (run / evidence.PLAN).unlink()
    assert "plan.json: is missing" in altered(run)


def test_folders_in_each_other_without_end_are_refused_like_any_other_file(run: Path) -> None:
    folder = os.open(run, os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("d", dir_fd=folder)
        inner = os.open("d", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=folder))
    os.close(folder)
    try:
        assert f"found: {'d/' * 1200}file: is not listed in COMPLETE" in altered(run)
    finally:  # what removes the folders of tests is recursive
        subprocess.run(["rm", "-rf", run / "d"], check=True)


def names_read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that are hashed from now on, or opened through a path."""
    read: list[str] = []
    whole, opens = run_files._sha256, Path.open

    def sha256(path: Path) -> str:
        read.append(path.name)
        return whole(path)

    def open_path(path: Path, *given: Any, **named: Any) -> Any:
        read.append(path.name)
        return opens(path, *given, **named)

    monkeypatch.setattr(run_files, "_sha256", sha256)
    monkeypatch.setattr(Path, "open", open_path)
    return read


def test_a_file_that_no_seal_lists_is_refused_by_its_name_and_not_read(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sparse = run / "core"
    with sparse.open("wb") as stream:
        stream.truncate(20 << 30)
    read = names_read(monkeypatch)
    error = altered(run)
    assert "found: core: is not listed in COMPLETE" in error or "found: core: has " in error
    assert "core" not in read


@pytest.mark.parametrize("name", [evidence.ATTEMPTS, evidence.JOURNAL, evidence.PLAN, "suite/cases.json"])
def test_a_file_that_was_made_longer_by_a_hole_is_refused_and_not_read(
    run: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    os.truncate(run / name, 20 << 30)
    read = names_read(monkeypatch)
    assert f"found: {name}: has {20 << 30} bytes with a hole among them" in altered(run)
    assert Path(name).name not in read


def test_the_plan_that_no_seal_lists_is_not_read_either(run: Path) -> None:
    lines = (run / evidence.COMPLETE).read_text().splitlines(keepends=True)
    (run / evidence.COMPLETE).write_text("".join(line for line in lines if not line.endswith(" plan.json\n")))
    (run / evidence.PLAN).write_bytes(b"x" * (1 << 20))
    assert "found: plan.json: is not listed in COMPLETE" in altered(run)
