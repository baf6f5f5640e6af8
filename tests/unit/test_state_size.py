"""What effects may add to the state of an attempt: no suite can make one that grows without end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fixture_api.state_size import MAX_STATE_BYTES, MAX_STATE_VALUES, Size, StateTooLargeError, grown, size_of
from tests.fakes.open_world import OpenAttempt, open_attempt


def with_effects(folder: Path, *effects: dict[str, Any], state: Any) -> OpenAttempt:
    route = {"id": "more", "method": "POST", "path": "/more", "responses": [{"json": 1}], "effects": list(effects)}
    return open_attempt(folder, routes=[route], state=state)


DOUBLING = [
    {"op": "add", "path": "/history/-", "value": {"$state": ""}},
    {"op": "add", "path": "/history/-", "value": [{"$state": "/history"}, {"$state": "/history"}]},
]


@pytest.mark.parametrize("effect", DOUBLING)
def test_a_state_that_doubles_ends_as_an_error_of_the_suite_and_closes(tmp_path: Path, effect: dict[str, Any]) -> None:
    one = with_effects(tmp_path, effect, state={"history": []})
    statuses = [one.ask("POST", "/more").answer.status for _ in range(40)]
    assert statuses[:10] == [200] * 10
    assert statuses[20:] == [500] * 20
    closed = one.close()
    assert closed.suite_error == (
        "route more: effect add /history/-: the state would grow by more than 250000 values or 32 MiB "
        "over what the case starts with"
    )
    assert size_of(closed.state).values <= MAX_STATE_VALUES + 2


def test_a_copy_of_copies_ends_too(tmp_path: Path) -> None:
    one = with_effects(tmp_path, {"op": "copy", "from": "/a", "path": "/a/-"}, state={"a": [1]})
    assert {one.ask("POST", "/more").answer.status for _ in range(40)} == {200, 500}
    assert size_of(one.close().state).values <= MAX_STATE_VALUES + 3


def test_texts_are_counted_by_their_bytes(tmp_path: Path) -> None:
    copied = {"op": "add", "path": "/a/-", "value": {"$state": "/text"}}
    one = with_effects(tmp_path, copied, state={"a": [], "text": "ä" * 2**19})
    assert [one.ask("POST", "/more").answer.status for _ in range(33)] == [200] * 32 + [500]


def test_what_is_replaced_or_removed_makes_room_again(tmp_path: Path) -> None:
    effects: list[dict[str, Any]] = [
        {"op": "add", "path": "/b", "value": {"$state": "/text"}},
        {"op": "replace", "path": "/a", "value": {"$state": "/text"}},
        {"op": "move", "from": "/b", "path": "/c"},
        {"op": "remove", "path": "/c"},
    ]
    one = with_effects(tmp_path, *effects, state={"a": "", "text": "x" * 2**20})
    assert {one.ask("POST", "/more").answer.status for _ in range(100)} == {200}


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ({"op": "add", "path": "/new", "value": {"k": ["v", 1]}}, Size(4, 5)),
        ({"op": "add", "path": "/old", "value": None}, Size(0, -3)),
        ({"op": "add", "path": "/list/0", "value": "ä"}, Size(1, 2)),
        ({"op": "replace", "path": "/list/0", "value": [[]]}, Size(1, 0)),
        ({"op": "remove", "path": "/old"}, Size(-1, -6)),
        ({"op": "copy", "from": "/old", "path": "/copy"}, Size(1, 7)),
        ({"op": "move", "from": "/old", "path": "/moved"}, Size(0, 5)),
        ({"op": "test", "path": "/old", "value": "x"}, Size()),
    ],
)
def test_an_operation_adds_what_it_puts_in_less_what_it_takes_out(operation: dict[str, Any], expected: Size) -> None:
    assert grown(Size(), operation, {"old": "abc", "list": [1]}) == expected


def test_counting_ends_where_it_is_too_much() -> None:
    shared: Any = ["x"]
    for _ in range(200):
        shared = [shared, shared]
    with pytest.raises(StateTooLargeError):
        grown(Size(), {"op": "add", "path": "/a", "value": shared}, {})
    with pytest.raises(StateTooLargeError):
        grown(Size(0, MAX_STATE_BYTES), {"op": "add", "path": "/a", "value": "x"}, {})
