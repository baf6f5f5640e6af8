"""A secret is found where line ends, colours or cuts tear it, and its longer part is never left behind."""

from __future__ import annotations

import base64
import json
import random
import string
from urllib.parse import quote

import pytest

from ledger.capture import captured_text
from ledger.redaction import Redactor
from runner.texts import cut_text

SECRET = "sk-live/0123+456789 abc=def&ABCDEF"
FORMS = {
    "plain": SECRET,
    "json": json.dumps(SECRET)[1:-1],
    "url": quote(SECRET, safe=""),
    "base64": base64.b64encode(SECRET.encode()).decode().rstrip("=")[:-1],
}


@pytest.fixture(scope="module")
def redactor() -> Redactor:
    return Redactor({"S": SECRET})


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "gap", ["\n", "\r\n", "\n    ", "\x1b[0m", "\x1b[1;31m", "\x1b]0;title\x07", "\u200b", "\\n", "\\u001b[31m"]
)
def test_what_no_reader_sees_hides_nothing(redactor: Redactor, form: str, gap: str) -> None:
    text = FORMS[form]
    for at in range(1, len(text)):
        if text[at - 1] != "\\" and "%" not in text[max(0, at - 2) : at]:
            assert redactor.redact_text(f"<{text[:at]}{gap}{text[at:]}>") == "<[redacted:S]>"
    assert redactor.redact_text(f"<{gap.join(text)}>") == "<[redacted:S]>"


def test_base64_in_lines_of_76_characters_is_found() -> None:
    source = random.Random(20261130)  # noqa: S311 - inputs of a test
    for _ in range(50):
        secret = "".join(source.choices(string.ascii_letters + string.digits, k=source.randrange(16, 60)))
        before, after = "u" * source.randrange(100), "v" * source.randrange(100)
        wrapped = base64.encodebytes(f"{before}{secret}{after}".encode()).decode()
        redacted = Redactor({"S": secret}).redact_text(wrapped)
        assert "[redacted:S]" in redacted, (secret, before, after)


@pytest.mark.parametrize("form", FORMS)
def test_of_a_value_that_was_cut_never_half_stays(redactor: Redactor, form: str) -> None:
    writing, text = redactor.writing("f", may_be_cut=True), FORMS[form]
    for at in range(len(text)):
        for mark in ("", "…", "'", "\n[... 9 bytes left out ...]\n"):
            before = writing.redact_text(f"text {text[:at]}{mark}")
            assert text[: (len(text) + 1) // 2] not in before
        for mark in ("", "…", "\n[... 9 bytes left out ...]\n"):
            after = writing.redact_text(f"{mark}{text[at:]} text")
            assert text[len(text) // 2 :] not in after


@pytest.mark.parametrize("at", range(1, len(SECRET)))
def test_two_chunks_or_lines_hold_no_whole_value_and_not_its_longer_part(redactor: Redactor, at: int) -> None:
    writing = redactor.writing("run.log", may_be_cut=True)
    first, second = (writing.redact_text(part) for part in (f"said {SECRET[:at]}", f"{SECRET[at:]} and more"))
    assert "[redacted:S]" in first + second
    assert (
        max(len(SECRET[:at]) if SECRET[:at] in first else 0, len(SECRET[at:]) if SECRET[at:] in second else 0)
        < (len(SECRET) + 1) // 2
    )


def test_a_value_where_a_long_text_is_cut_is_gone_whatever_the_place(redactor: Redactor) -> None:
    writing = redactor.writing("f", may_be_cut=True)
    for shift in range(len(SECRET) + 2):
        long = "x" * (500 - shift) + f" {SECRET} " + "y" * 400 + f" {SECRET} " + "z" * (505 - shift)
        kept = captured_text(writing.redact_text(cut_text(long, limit=1000)), level="payloads")
        assert "left out" in kept
        assert SECRET[: len(SECRET) // 2 + 1] not in kept
        assert SECRET[len(SECRET) // 2 - 1 :] not in kept


def test_half_a_value_in_the_middle_of_a_text_that_nobody_cut_is_a_text(redactor: Redactor) -> None:
    text = f"begins as {SECRET[:20]} does, and goes on"
    assert redactor.redact_text(text) is text
    assert redactor.redact_text(SECRET[:30]) == SECRET[:30]
    assert redactor.writing("f", may_be_cut=True).redact_text(text) == text


def test_lines_that_meet_make_no_short_secret() -> None:
    assert Redactor({"S": "test"}).redact_text("late\nst") == "late\nst"
