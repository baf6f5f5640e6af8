"""The order of preference of routes, and when two of them match equally well."""

from __future__ import annotations

import random
from typing import Any

import pytest

from contracts.suite.route import Route
from contracts.suite.route_order import equally_good, match_parts, order_key, same_json


def route(path: str = "/a", *, method: str = "GET", priority: int = 0, **match: Any) -> Route:
    written = {"id": "r", "method": method, "path": path, "priority": priority, "match": match, "responses": [{}]}
    return Route.model_validate(written, strict=False)


BETTER_FIRST = [
    route("/{a}/{b}", priority=1),
    route("/a/b", query={"x": "1"}, headers={"y": "2"}),
    route("/a/b", query={"x": "1"}),
    route("/a/b"),
    route("/a/{b}", json={"x": 1, "y": {"z": 2}}),
    route("/a/{b}", json={"x": 1}),
    route("/a/{b}"),
    route("/{a}/b", query={"x": "1", "y": "2", "z": "3"}),
    route("/{a}/{b}"),
    route("/a/b", priority=-1),
]


def test_priority_outweighs_literals_and_literals_outweigh_match_parts() -> None:
    shuffled = BETTER_FIRST[:]
    random.Random(1701).shuffle(shuffled)  # noqa: S311 - any order will do
    assert sorted(shuffled, key=order_key) == BETTER_FIRST


@pytest.mark.parametrize(
    ("match", "parts"),
    [
        ({}, 0),
        ({"json": None}, 1),
        ({"json": {}}, 1),
        ({"json": {"a": {"b": 1, "c": [1, 2]}, "d": {}}}, 3),
        ({"query": {"a": "1"}, "headers": {"b": "2"}, "json": "x"}, 3),
    ],
)
def test_each_query_key_header_and_json_leaf_is_one_part(match: dict[str, Any], parts: int) -> None:
    assert match_parts(route(**match).match) == parts


def equal(one: Route, other: Route) -> bool:
    return list(equally_good([(0, one), (1, other)])) == [(0, 1)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (route("/a"), route("/a")),
        (route("/{a}/b"), route("/{c}/b")),
        (route(query={"x": "1"}), route(query={"y": "1"})),
        (route(query={"x": "1"}), route(headers={"x": "1"})),
        (route(json={"a": 1}), route(json={"b": 1})),
        (route(json={"a": {"b": 1}}), route(json={"a": {"c": 1}})),
        (route(json={"a": 1}), route(json={"a": 1.0})),
        (route(json={"a": {}}), route(json={"a": {"b": 1}})),
        (route(headers={"X": "1"}), route(headers={"x": "1"})),
    ],
)
def test_routes_that_one_request_fits_equally_well_are_found(one: Route, other: Route) -> None:
    assert equal(one, other)
    assert equal(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (route(), route(method="POST")),
        (route(), route(priority=1)),
        (route("/a/{b}"), route("/c/{b}")),
        (route("/a/{b}"), route("/a/b")),
        (route("/{a}"), route("/{a}/b")),
        (route("/a"), route("/a/")),
        (route(query={"x": "1"}), route(query={"x": "2"})),
        (route(headers={"X": "1"}), route(headers={"x": "2"})),
        (route(query={"x": "1"}), route()),
        (route(json={"a": 1}), route(json={"a": 2})),
        (route(json={"a": 1}), route(json={"a": True})),
        (route(json={"a": [1]}), route(json={"a": [1, 2]})),
        (route(json={"a": {"b": 1}}), route(json={"a": "b"})),
        (route(json=None), route(json={"a": 1})),
    ],
)
def test_routes_that_differ_in_rank_or_take_other_requests_are_not(one: Route, other: Route) -> None:
    assert not equal(one, other)


def test_every_pair_of_three_is_found() -> None:
    assert list(equally_good(enumerate([route(), route("/b"), route(), route()]))) == [(0, 2), (0, 3), (2, 3)]


def test_json_numbers_are_equal_as_numbers_and_true_is_none_of_them() -> None:
    assert same_json({"a": [1, None]}, {"a": [1.0, None]})
    assert not same_json([1], [True])
    assert not same_json({"a": 0}, {"a": False})
    assert not same_json(None, {})
