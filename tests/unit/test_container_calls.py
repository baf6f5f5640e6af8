"""Calls of a container program: bounded in what they keep, ended when nobody waits for them, told by their error."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from driver.stacks.container_calls import Called, call


@pytest.mark.parametrize(
    ("output", "told"),
    [
        ("docker: no such image\n\nRun 'docker run --help' for more information\n", "docker: no such image"),
        ("docker: no such image.\nSee 'docker run --help'.\n", "docker: no such image."),
        ("one\ntwo\n \n", "two"),
        ("Run 'docker run --help' for more information\n", "Run 'docker run --help' for more information"),
        ("", "it said nothing"),
    ],
)
def test_the_reason_is_the_line_that_says_the_error(output: str, told: str) -> None:
    assert Called(125, output).last_line == told


def test_of_a_long_output_only_the_end_is_kept() -> None:
    called = call([sys.executable, "-c", "print('x' * 10_000_000); print('the end')"])

    assert (called.exit_code, len(called.output)) == (0, 64 * 1024)
    assert called.output.endswith("x\nthe end\n")


def test_a_long_input_goes_in_while_output_comes_out() -> None:
    echo = "import sys; data = sys.stdin.buffer.read(); print(len(data), flush=True)"
    assert call([sys.executable, "-c", echo], given=b"x" * 1_000_000).output == "1000000\n"


def test_a_program_that_reads_nothing_of_its_input_ends_as_it_does() -> None:
    assert call(["/bin/sh", "-c", "exit 7"], given=b"x" * 1_000_000).exit_code == 7


def test_what_takes_too_long_is_ended_with_what_it_said() -> None:
    called = call(["/bin/sh", "-c", "echo begun; exec sleep 600"], seconds=1)

    assert (called.exit_code, called.output) == (None, "begun\n")


def test_a_call_that_nobody_waits_for_any_more_is_ended(tmp_path: Path) -> None:
    give_up, begun = threading.Event(), tmp_path / "begun"
    with ThreadPoolExecutor(1) as other:
        running = other.submit(call, ["/bin/sh", "-c", f"echo $$ >{begun}; exec sleep 600"], give_up=give_up)
        while not begun.exists():
            threading.Event().wait(0.01)
        give_up.set()

        assert running.result(timeout=30).exit_code is None
