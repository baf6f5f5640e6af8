"""Canonical JSON is RFC 8785 to the byte, whichever way it is written."""

from __future__ import annotations

import random

import pytest
import rfc8785

from contracts.canonical import canonical_json, digest_of_json
from contracts.record import Json


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ({"b": 1, "a": [True, None, "é"]}, '{"a":[true,null,"é"],"b":1}'),
        (1.0, "1"),
        ([1.0, 1e21, 1e-7, -0.0, 0.1], "[1,1e+21,1e-7,0,0.1]"),
        ('\x00\x1f\x7f"\\\n\u2028/', '"\\u0000\\u001f\x7f\\"\\\\\\n\u2028/"'),
        ({"\U0001f600": 1, "\ufb33": 2}, '{"\U0001f600":1,"\ufb33":2}'),
        (["at 17.5 or 2e3", {"17.5": "x,1.5"}], '["at 17.5 or 2e3",{"17.5":"x,1.5"}]'),
        (-(2**53 - 1), "-9007199254740991"),
    ],
)
def test_values_are_written_as_rfc_8785_says(value: object, written: str) -> None:
    assert canonical_json(value) == written.encode()


@pytest.mark.parametrize("value", [2**53, [-(2**53)], float("nan"), {"a": [float("inf")]}])
def test_numbers_that_no_reader_shares_are_refused(value: object) -> None:
    with pytest.raises(rfc8785.CanonicalizationError):
        canonical_json(value)


def test_the_quick_way_and_the_library_agree_on_random_values() -> None:
    draw = random.Random(1701)  # noqa: S311 - a fixed sequence of values

    def value(depth: int) -> Json:
        kind = draw.randrange(8 if depth else 6)
        if kind == 6:
            return [value(depth - 1) for _ in range(draw.randrange(4))]
        if kind == 7:
            return {text(): value(depth - 1) for _ in range(draw.randrange(4))}
        return [None, True, draw.randrange(-(2**53) + 1, 2**53), draw.randrange(1000), draw.uniform(-1e9, 1e9), text()][
            kind
        ]

    def text() -> str:
        return "".join(
            chr(draw.choice((0, 9, 34, 92, 46, 49, 101, 233, 0xFFFD, 0x1F600))) for _ in range(draw.randrange(6))
        )

    for _ in range(2000):
        one = value(4)
        assert canonical_json(one) == rfc8785.dumps(one)


def test_a_digest_does_not_depend_on_the_order_of_keys() -> None:
    assert digest_of_json({"a": 1, "b": 2}) == digest_of_json({"b": 2, "a": 1})
