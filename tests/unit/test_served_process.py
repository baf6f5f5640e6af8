"""A served agent's words on their way to the log: whole lines, and no more of them in memory than is ever shown."""

from __future__ import annotations

import pytest

from contracts.hosting import AgentOut
from runner.agents.output_lines import BoundedLines
from runner.agents.served_process import LONGEST_LINE, ServedProcess
from runner.hosting import Event
from tests.fakes.assignments import PREFIX
from tests.fakes.scripted_host import ScriptedHost, ended, out


def log_of(*events: AgentOut) -> list[str]:
    lines: list[str] = []
    told: list[Event] = [*events, ended()]
    process = ServedProcess(ScriptedHost(events=told), log=lines.append)
    process.start(("serve",), env={})
    process.drain()
    return lines


def test_lines_in_pieces_become_whole_lines_of_their_stream_and_the_last_needs_no_end() -> None:
    assert log_of(out("a"), out("x", stream="stderr"), out("b\n\nc")) == ["ab", "", "c", "x"]


def test_a_line_without_an_end_is_cut_with_a_note_and_the_next_one_is_whole() -> None:
    piece = "x" * 10_000
    first, second = log_of(*[out(piece)] * 100, out("\nnext\n"))

    assert first == f"{'x' * LONGEST_LINE} [... {1_000_000 - LONGEST_LINE} characters left out]"
    assert second == "next"


@pytest.mark.parametrize("before", range(LONGEST_LINE - 40, LONGEST_LINE + 600, 7))
def test_a_cut_leaves_no_half_of_an_address(before: int) -> None:
    (line,) = log_of(out("." * before + PREFIX + "." * 1000))

    assert "0123" not in line


def test_what_is_kept_of_an_unfinished_line_is_bounded_however_long_it_gets() -> None:
    taken: list[tuple[str, int]] = []
    lines = BoundedLines(lambda line, left_out: taken.append((line, left_out)), longest=10)
    kept = []
    for _ in range(1000):
        lines.feed("abc")
        kept.append(lines.kept)
    lines.finish()

    assert max(kept) == 10
    assert taken == [("abcabcabca", 2990)]
