"""What a comparison shows of long values: of two that differ, where they do."""

from __future__ import annotations

import pytest

from comparison.shown_values import MOST_CHARS, cut_alike, shown, shown_pair

LONG = "a" * 5000


def test_short_values_stay_as_they_are() -> None:
    assert shown_pair({"id": [1, None]}, "b", is_whole=True) == ({"id": [1, None]}, "b")
    assert shown(LONG[:MOST_CHARS], is_whole=True) == LONG[:MOST_CHARS]


@pytest.mark.parametrize(
    ("was", "now"),
    [
        (LONG + "x", LONG + "y"),
        (LONG, LONG + "y"),
        (LONG + "x" + LONG, LONG + "y" + LONG),
        ({"text": LONG + "x"}, {"text": LONG + "y"}),
        (["x", LONG], ["y", LONG]),
        (LONG, None),
        ("b", LONG),
    ],
)
def test_two_long_values_that_differ_are_shown_to_differ_and_not_too_long(was: object, now: object) -> None:
    first, second = shown_pair(was, now, is_whole=True)
    assert first != second
    assert max(len(str(first)), len(str(second))) < MOST_CHARS + 60


def test_a_long_text_is_shown_from_its_beginning_where_that_tells_the_two_apart() -> None:
    assert cut_alike("x" + LONG, "y" + LONG, most=3) == ("xaa... (5001 characters)", "yaa... (5001 characters)")
    assert cut_alike(LONG, LONG, most=3) == ("aaa... (5000 characters)", "aaa... (5000 characters)")


def test_else_it_is_shown_from_a_little_before_the_first_character_that_differs() -> None:
    was, now = cut_alike(LONG + "x", LONG + "y", most=400)
    assert was == "..." + "a" * 60 + "x... (5001 characters, from number 4941)"
    assert now == "..." + "a" * 60 + "y... (5001 characters, from number 4941)"
