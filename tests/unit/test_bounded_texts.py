"""Texts without end are kept in bounded memory, and say what is left out."""

from __future__ import annotations

from runner.texts import TEXT_BYTES, BoundedText, cut_text


def test_a_short_text_is_whole() -> None:
    log = BoundedText(limit=10)
    for piece in ("abc", "", "defghij"):
        log.add(piece)

    assert log.text() == "abcdefghij"


def test_nothing_is_none() -> None:
    assert BoundedText().text() is None


def test_the_first_and_the_last_part_stay_with_a_note_between() -> None:
    log = BoundedText(limit=8)
    for character in "abcdefghijkl":
        log.add(character)

    assert log.text() == "abcd\n[... 4 bytes left out ...]\nijkl"


def test_a_cut_never_splits_a_character() -> None:
    assert cut_text("ä" * 9, limit=10) == "ää\n[... 8 bytes left out ...]\nää"


def test_memory_is_bounded_whatever_comes() -> None:
    log = BoundedText()
    for _ in range(200):
        log.add("x" * 100_000)

    assert len(log.text() or "") < TEXT_BYTES + 100


def test_a_text_at_the_limit_is_whole() -> None:
    assert cut_text("x" * TEXT_BYTES) == "x" * TEXT_BYTES
    assert len(cut_text("x" * (TEXT_BYTES + 1))) > TEXT_BYTES
