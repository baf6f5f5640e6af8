"""What one attempt can make the fixture API keep, and for how long one request can hold up all others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from contracts.journal import Via
from fixture_api.attempt import MAX_KEPT_BYTES
from fixture_api.request import ABSENT, MAX_JSON_VALUES, read_json
from fixture_api.unmatched import path_distance
from tests.fakes.open_world import OpenAttempt, open_attempt

TOOL = {"type": "function", "function": {"name": "note"}, "http": {"method": "POST", "path": "/notes"}}
NOTE = {
    "id": "note",
    "method": "POST",
    "path": "/notes",
    "responses": [{"status": 201}],
    "effects": [{"op": "add", "path": "/notes/-", "value": {"$request": "/json"}}],
}


def notes(folder: Path) -> OpenAttempt:
    return open_attempt(folder, routes=[NOTE], tools=[TOOL], state={"notes": []})


def test_a_body_of_very_many_values_is_bytes() -> None:
    assert read_json(b"[" + b",".join([b"[]"] * MAX_JSON_VALUES) + b"]") == (ABSENT, None)
    value, _ = read_json(b"[" + b",".join([b"1"] * (MAX_JSON_VALUES - 10)) + b"]")
    assert isinstance(value, list)


def test_commas_in_a_text_are_no_values() -> None:
    value, _ = read_json(b'{"text": "' + b'a, \\" [{' * MAX_JSON_VALUES + b'"}')
    assert isinstance(value, dict)


def test_bodies_are_kept_and_put_into_the_state_as_long_as_there_is_room(tmp_path: Path) -> None:
    one = notes(tmp_path)
    big = {"text": "x" * (MAX_KEPT_BYTES // 2 - 1000)}
    statuses = [one.ask("POST", "/notes", big).answer.status for _ in range(3)]
    assert statuses == [201, 201, 404]
    assert one.ask("POST", "/notes", {"small": 1}).answer.status == 201
    closed = one.close()
    assert len(closed.state["notes"]) == 3
    assert closed.suite_error is None
    kept = [served.arguments is not None for served in closed.served]
    assert kept == [True, True, False, True]
    assert closed.served[2].unmatched is not None
    assert closed.served[2].row.via is Via.HTTP


def test_a_state_that_grew_too_deep_is_an_error_of_the_suite_and_closes(tmp_path: Path) -> None:
    deeper: dict[str, Any] = {"op": "replace", "path": "/deep", "value": {"d": {"$state": "/deep"}}}
    route = {"id": "deeper", "method": "POST", "path": "/deeper", "responses": [{"status": 204}], "effects": [deeper]}
    one = open_attempt(tmp_path, routes=[route], state={"deep": 1})
    for _ in range(1500):
        one.ask("POST", "/deeper", {})
    closed = one.close()
    assert closed.suite_error is not None
    assert closed.model_dump_json()


def test_a_path_of_very_many_segments_is_as_far_as_it_is_long() -> None:
    assert path_distance(["a"] * 30_000, ("a", "b")) == 29_999
    assert path_distance([], ("a",)) == 1
