"""How arguments become path, query and body."""

from __future__ import annotations

from typing import Any

import pytest

from contracts.suite.tool import ToolHttp
from contracts.tool_encoding import BadArgumentsError, call_headers, encode_call

DEEP: list[Any] = []
for _ in range(100_000):
    DEEP = [DEEP]


def encoded(method: str, path: str, arguments: dict[str, Any]) -> tuple[str, bytes | None]:
    return encode_call(ToolHttp(method=method, path=path), arguments)


@pytest.mark.parametrize(
    ("value", "segment"),
    [
        ("synthetic-42", "synthetic-42"),
        ("a/b?c#d", "a%2Fb%3Fc%23d"),
        ("ä %", "%C3%A4%20%25"),
        ("..", "%2E%2E"),
        (".", "%2E"),
        ("a.b", "a.b"),
        (7, "7"),
        (True, "true"),
        (None, "null"),
        (1.0, "1"),
        (-0.0, "0"),
        (1.5, "1.5"),
        (1e300, "1e%2B300"),
    ],
)
def test_a_path_parameter_is_percent_encoded_whole(value: Any, segment: str) -> None:
    assert encoded("GET", "/orders/{id}/items", {"id": value}) == (f"/orders/{segment}/items", None)


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE"])
def test_other_arguments_are_the_query_without_a_body(method: str) -> None:
    target, body = encoded(method, "/x/{id}", {"q": "a&b c", "id": "1", "n": 1.5, "on": False, "tags": ["x", "y"]})

    assert target == "/x/1?q=a%26b%20c&n=1.5&on=false&tags=x&tags=y"
    assert body is None


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_other_arguments_are_a_json_body(method: str) -> None:
    target, body = encoded(method, "/x/{id}", {"id": "1", "name": "ä", "none": None, "list": [1]})

    assert target == "/x/1"
    assert body == '{"name":"ä","none":null,"list":[1]}'.encode()


def test_no_argument_is_an_empty_object_as_body_and_no_query() -> None:
    assert encoded("POST", "/x", {}) == ("/x", b"{}")
    assert encoded("GET", "/x", {}) == ("/x", None)


def test_a_missing_path_parameter_cannot_be_sent() -> None:
    with pytest.raises(BadArgumentsError):
        encoded("GET", "/x/{id}", {"other": 1})


@pytest.mark.parametrize("method", ["DELETE", "POST"])
def test_an_empty_path_parameter_cannot_be_sent(method: str) -> None:
    with pytest.raises(BadArgumentsError, match="the argument id is empty, and it is a part of the path"):
        encoded(method, "/items/{id}", {"id": ""})


def test_a_value_that_looks_like_a_parameter_is_not_filled_in_again() -> None:
    assert encoded("GET", "/x/{a}/{b}", {"a": "{b}", "b": "2"}) == ("/x/%7Bb%7D/2", None)


@pytest.mark.parametrize("value", ["\ud800", 10**5000, DEEP], ids=["surrogate", "integer", "deep"])
@pytest.mark.parametrize(("method", "path"), [("GET", "/x"), ("POST", "/x"), ("GET", "/x/{a}")])
def test_what_no_json_text_can_carry_cannot_be_sent(method: str, path: str, value: Any) -> None:
    with pytest.raises(BadArgumentsError):
        encoded(method, path, {"a": {"b": value}})


def test_a_call_asks_for_json_and_says_so_of_its_body() -> None:
    assert call_headers(None) == {"accept": "application/json"}
    assert call_headers(b"{}") == {"accept": "application/json", "content-type": "application/json"}
