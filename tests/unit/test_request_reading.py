"""How a request is read and digested."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from contracts.canonical import canonical_json, digest_of_bytes, digest_of_json
from fixture_api.digests import canonical_text, response_digest, response_digest_tail
from fixture_api.request import ABSENT, MAX_JSON_DEPTH, read_json, read_request, read_target

JSON_TYPE = (b"content-type", b"application/json")


def request(method: str = "POST", path: bytes = b"/a", query: bytes = b"", body: bytes = b"", **headers: str) -> Any:
    wire = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return read_request(read_target(method, path), query_string=query, headers=wire, body=body)


def test_the_digest_of_a_json_request_is_that_of_its_canonical_parts() -> None:
    body = b'{ "b": [1, 2.50, null], "a": "\\u00e9" }'
    read = request(
        "PUT", b"/orders/caf%C3%A9", b"z=1&a=%2F&a=%20", body, content_type="Application/JSON; charset=utf-8"
    )
    parts = {
        "method": "PUT",
        "path": "/orders/café",
        "query": [["a", " "], ["a", "/"], ["z", "1"]],
        "mediaType": "application/json",
        "json": {"a": "é", "b": [1, 2.5, None]},
    }
    assert read.digest == digest_of_json(parts)


def test_the_digest_of_any_other_body_is_over_its_bytes() -> None:
    read = request("POST", b"/a", b"", b"\x00\xff", content_type="text/plain")
    body_sha256 = digest_of_bytes(b"\x00\xff").removeprefix("sha256:")
    parts: dict[str, Any] = {
        "method": "POST",
        "path": "/a",
        "query": [],
        "mediaType": "text/plain",
        "bodySha256": body_sha256,
    }
    assert read.digest == digest_of_json(parts)


def test_without_body_and_content_type_the_digest_is_over_nothing() -> None:
    read = request("GET", b"/a")
    empty = digest_of_bytes(b"").removeprefix("sha256:")
    parts: dict[str, Any] = {"method": "GET", "path": "/a", "query": [], "mediaType": None, "bodySha256": empty}
    assert read.digest == digest_of_json(parts)


def test_space_and_order_of_members_do_not_change_the_digest() -> None:
    one = request(body=b'{"a":1,"b":2}', content_type="application/json")
    other = request(body=b' {\n"b": 2,\n"a": 1}\n', content_type="application/json; charset=UTF-8")
    assert one.digest == other.digest
    assert one.body == other.body == {"a": 1, "b": 2}


def test_the_digest_of_an_answer_is_that_of_its_canonical_parts() -> None:
    headers = {"x-b": "2", "content-type": "text/plain; charset=utf-8"}
    tail = response_digest_tail(201, headers.items())
    body_sha256 = digest_of_bytes(b"hi").removeprefix("sha256:")
    expected = digest_of_json({"status": 201, "headers": headers, "bodySha256": body_sha256})
    assert response_digest(b"hi", tail=tail) == expected


@pytest.mark.parametrize(
    "value",
    [
        {"\U0001f600": 1, "\ufb33": 2, "é": 3, "a": 4},
        [1.0, 1e21, 1e-7, -0.0, 0.1, 123456789012345680.0],
        2**53 - 1,
        '\x00\x1f\x7f\u2028 "\\/ 1.5 NaN',
        {"b": [], "a": {}, "": None},
        [True, False, 1, 0],
    ],
)
def test_the_quick_canonical_text_is_the_canonical_text(value: Any) -> None:
    assert canonical_text(value).encode() == canonical_json(value)


def test_the_quick_canonical_text_is_the_canonical_text_of_many_values() -> None:
    source = random.Random(1701)  # noqa: S311 - the same values each time
    for _ in range(2000):
        value = _any_json(source, depth=4)
        text = json.dumps(value)
        assert canonical_text(value).encode() == canonical_json(value)
        assert read_json(text.encode()) == (value, canonical_json(value).decode())


def _any_json(source: random.Random, *, depth: int) -> Any:
    kind = source.randrange(9 if depth else 7)
    if kind == 7:
        return [_any_json(source, depth=depth - 1) for _ in range(source.randrange(4))]
    if kind == 8:
        return {_any_text(source): _any_json(source, depth=depth - 1) for _ in range(source.randrange(4))}
    if kind == 0:
        return source.choice([2**53 - 1, 1 - 2**53, 10**15, 999999999999999])
    if kind == 1:
        return source.uniform(-1, 1) * 10 ** source.randrange(-30, 30)
    return [None, True, source.randrange(-1000, 1000), _any_text(source), _any_text(source)][kind - 2]


def _any_text(source: random.Random) -> str:
    alphabet = 'ab19.e"\\/\n\x01é\u2028\ud7ff\ue000\uffff\U0001f600'
    return "".join(source.choice(alphabet) for _ in range(source.randrange(6)))


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"",
        b"nul",
        b"NaN",
        b'{"a": Infinity}',
        b"1e999",
        b"12345678901234567890",
        b'"\\ud800"',
        b"\xff\xfe",
        b'\xef\xbb\xbf{"a":1}',
        b'{"a":1} x',
        b"[" * 100_000,
        b"[" * (MAX_JSON_DEPTH + 1) + b"]" * (MAX_JSON_DEPTH + 1),
        b'{"a":' * 5000 + b"1" + b"}" * 5000,
    ],
)
def test_what_canonical_json_cannot_carry_is_bytes(body: bytes) -> None:
    assert read_json(body) == (ABSENT, None)
    assert request(body=body, content_type="application/json").body is ABSENT


def test_a_deep_body_within_the_bound_is_json() -> None:
    value, canonical = read_json(b"[" * MAX_JSON_DEPTH + b"]" * MAX_JSON_DEPTH)
    assert value is not ABSENT
    assert canonical == "[" * MAX_JSON_DEPTH + "]" * MAX_JSON_DEPTH


def test_many_shallow_brackets_are_not_deep() -> None:
    value, _ = read_json(json.dumps([[{"a": []}] for _ in range(500)]).encode())
    assert len(value) == 500


def test_json_without_its_media_type_is_bytes() -> None:
    assert request(body=b'{"a":1}').body is ABSENT
    assert request(body=b'{"a":1}', content_type="text/plain").body is ABSENT
    assert request(body=b'{"a":1}', content_type="application/problem+json").body == {"a": 1}


def test_an_encoded_slash_stays_inside_its_segment() -> None:
    read = request("GET", b"/files/a%2Fb/c%25")
    assert read.target.segments == ["files", "a/b", "c%"]
    assert read.target.path == "/files/a/b/c%"


def test_the_prefix_alone_is_the_root() -> None:
    read = request("GET", b"")
    assert read.target.path == "/"
    assert read.target.segments == [""]


def test_queries_keep_blank_and_repeated_values() -> None:
    assert request("GET", b"/a", b"b=2&a=&b=1&c").query == [("b", "2"), ("a", ""), ("b", "1"), ("c", "")]


def test_a_flood_of_query_fields_is_kept_as_one() -> None:
    flood = b"&".join([b"a=1"] * 20_000)
    assert request("GET", b"/a", flood).query == [("", flood.decode())]
