"""What is planned for later happens once, or not at all where it is called off first."""

from __future__ import annotations

import threading

from runner.later import Later

LONG_S = 3600.0
AT_MOST_S = 30.0


def test_what_is_planned_is_done_in_order() -> None:
    done: list[str] = []
    all_done = threading.Event()
    later = Later(seconds=0.0)
    later.plan("a", lambda: done.append("a"), instead=lambda: done.append("not a"))
    later.plan("b", lambda: done.append("b"), instead=lambda: done.append("not b"))
    later.plan("c", all_done.set, instead=all_done.set)
    assert all_done.wait(AT_MOST_S)
    later.call_off("a")
    assert done == ["a", "b"]


def test_what_is_called_off_is_not_done_and_what_was_planned_instead_is_done_once() -> None:
    done: list[str] = []
    later = Later(seconds=LONG_S)
    for name in ("a", "b"):
        later.plan(name, lambda: done.append("too late"), instead=lambda name=name: done.append(name))  # type: ignore[misc]
    for name in ("b", "b", "nobody"):
        later.call_off(name)
    assert done == ["b"]
