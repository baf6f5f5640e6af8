"""The parts of agent_host that need no process: what it says, what it keeps of the output, what it removes."""

from __future__ import annotations

import codecs
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from agent_host import agent_host, leftovers


def warden(*, limit_bytes: int) -> agent_host.Warden:
    """One that runs no agent: its constructor would make this process the parent of orphans."""
    made = object.__new__(agent_host.Warden)
    made.order, made.sink, made.writers = {"id": "a"}, 1, {1: bytearray()}
    made.limit_bytes, made.carried_bytes, made.grace_s, made.killed = limit_bytes, 0, 0.0, 0
    made.reason, made.until, made.agent = "", 0.0, 4711
    made.end = {"exitCode": None, "signal": None}
    return made


def said(made: agent_host.Warden) -> list[dict[str, Any]]:
    return [json.loads(line) for line in made.writers[1].splitlines()]


def carry(made: agent_host.Warden, *pieces: bytes) -> str:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    for piece in pieces:
        made._carry("stdout", decoder, piece)
    return "".join(message["text"] for message in said(made))


def test_a_line_is_one_line_of_ascii_whatever_the_text() -> None:
    made = warden(limit_bytes=0)
    text = 'a\n{"op":"ended"}\r\u2028\x85é😀\ud800"\\'
    made._say(op="out", text=text)
    (line,) = bytes(made.writers[1]).splitlines()
    assert line.isascii()
    assert json.loads(line) == {"op": "out", "text": text}


def test_a_character_may_come_in_pieces() -> None:
    made = warden(limit_bytes=100)
    assert carry(made, b"\xf0\x9f", b"\x98", b"\x80.", b"") == "😀."
    assert made.carried_bytes == 5


def test_a_character_without_its_end_is_replaced() -> None:
    assert carry(warden(limit_bytes=100), b"a\xe2\x82", b"") == "a\ufffd"


def test_output_up_to_its_limit_is_kept_and_asks_for_nothing() -> None:
    made = warden(limit_bytes=4)
    assert carry(made, b"12", b"34") == "1234"
    assert made.reason == ""


def test_output_over_its_limit_is_cut_there_and_the_agent_is_ended_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[int, int]] = []
    monkeypatch.setattr(agent_host, "descendants", lambda: iter([5, 6]))
    monkeypatch.setattr(agent_host, "send", lambda pid, number: sent.append((pid, number)))
    made = warden(limit_bytes=3)
    assert carry(made, b"12", b"34", b"56") == "123"
    assert (made.reason, made.carried_bytes) == ("output", 3)
    assert sent == [(5, signal.SIGTERM), (6, signal.SIGTERM)]


def test_only_the_first_reason_to_end_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_host, "descendants", lambda: iter(()))
    made = warden(limit_bytes=0)
    assert made._ask("seconds") is True
    assert made._ask("output") is False
    assert made.reason == "seconds"


@pytest.mark.parametrize(
    ("status", "end"),
    [
        (0, {"exitCode": 0, "signal": None}),
        (3 << 8, {"exitCode": 3, "signal": None}),
        (signal.SIGKILL, {"exitCode": None, "signal": 9}),
        (signal.SIGSEGV | 0x80, {"exitCode": None, "signal": 11}),
    ],
)
def test_a_wait_status_is_an_exit_code_or_a_signal(status: int, end: dict[str, int | None]) -> None:
    made = warden(limit_bytes=0)
    made._take(4711, status)
    assert made.end == end
    assert (made.agent, made.killed) == (0, 0)


def test_an_agent_that_is_only_stopped_is_not_over() -> None:
    made = warden(limit_bytes=0)
    made._take(4711, signal.SIGSTOP << 8 | 0x7F)
    assert made.agent == 4711
    assert made.end == {"exitCode": None, "signal": None}


def test_strays_are_those_that_had_to_be_killed() -> None:
    made = warden(limit_bytes=0)
    made._take(1, signal.SIGKILL)
    made._take(2, 0)
    assert made.killed == 1


def test_all_descendants_are_stopped_before_the_first_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    # killed one by one, a bomb at its process limit would refill each place that becomes free
    walks = iter([[5, 6], [5, 6, 7], [5, 6, 7]])
    has_children = iter([True, False])
    sent: list[tuple[int, int]] = []
    monkeypatch.setattr(agent_host, "descendants", lambda _keep: next(walks))
    monkeypatch.setattr(agent_host, "send", lambda pid, number, **_: sent.append((number, pid)))
    made = warden(limit_bytes=0)
    monkeypatch.setattr(made, "_reap", lambda: next(has_children))
    made._end_descendants()
    assert sent[:3] == [(signal.SIGSTOP, 5), (signal.SIGSTOP, 6), (signal.SIGSTOP, 7)]
    assert sorted(sent[3:]) == [(signal.SIGKILL, 5), (signal.SIGKILL, 6), (signal.SIGKILL, 7)]


def test_a_tree_is_removed_and_what_its_links_lead_to_is_kept(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    (kept / "inner").mkdir(parents=True)
    (kept / "file").touch()
    top = tmp_path / "top"
    (top / "a" / "b").mkdir(parents=True)
    (top / "a" / "file").touch()
    (top / "a" / "link").symlink_to(kept)
    (top / "link").symlink_to(kept / "file")
    os.mkfifo(top / "a" / "b" / "pipe")
    leftovers.remove_tree(str(top))
    assert not top.exists()
    assert sorted(path.name for path in kept.iterdir()) == ["file", "inner"]


def test_a_tree_without_permissions_is_removed(tmp_path: Path) -> None:
    top = tmp_path / "top"
    (top / "a" / "b").mkdir(parents=True)
    for path in (top / "a" / "b", top / "a", top):
        path.chmod(0)
    leftovers.remove_tree(str(top))
    assert not top.exists()


def test_a_tree_deeper_than_any_path_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top, name = tmp_path / "top", "n" * 200
    top.mkdir()
    monkeypatch.chdir(top)
    for _ in range(50):
        Path(name).mkdir()
        os.chdir(name)
    leftovers.remove_tree(str(top))
    assert not top.exists()


def test_a_link_in_place_of_the_directory_is_removed_and_its_target_kept(tmp_path: Path) -> None:
    (tmp_path / "target").mkdir()
    (tmp_path / "top").symlink_to(tmp_path / "target")
    leftovers.remove_tree(str(tmp_path / "top"))
    assert [path.name for path in tmp_path.iterdir()] == ["target"]


def test_a_directory_that_is_gone_is_no_trouble_and_one_that_stays_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    leftovers.remove_tree(str(tmp_path / "gone"))
    assert capsys.readouterr().err == ""

    def refuse(_path: str) -> None:
        raise PermissionError(1, "Operation not permitted")

    (tmp_path / "stays").mkdir()
    monkeypatch.setattr("os.rmdir", refuse)
    leftovers.remove_tree(str(tmp_path / "stays"))
    assert (
        capsys.readouterr().err == f"agent_host: {tmp_path}/stays is left behind: [Errno 1] Operation not permitted\n"
    )
