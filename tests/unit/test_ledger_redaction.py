"""No known secret value leaves the redactor in any spelling."""

from __future__ import annotations

import base64
import html
import json
import random
import string
import time
from collections.abc import Callable, Iterator
from functools import cache
from urllib.parse import quote, quote_plus, unquote_plus

import pytest

from contracts.plan import Plan
from contracts.record import Json
from ledger.redaction import Redactor
from tests.fakes.written_runs import attempt_of, plan_of, rows_of

HARD = [
    "sk-live-0123456789abcdefABCDEF",
    "four",
    "quo\"te's",
    "back\\slash\\\\es\\",
    '\\n\\t\\"',
    "two\nlines\r\nand\ta tab",
    "ünïcödé-€-😀-ß",
    "per%cent%25%2F",
    "a/b/c+d=e==",
    "sp ace & amp; <tag>",
    "-----BEGIN KEY-----\nMIIEvQIBADANBg/+kqhkiG9w0\nBAQEFAASCBKcwggSj==\n-----END KEY-----\n",
    "[redacted:S]",
    '{"type": "service", "key": "a\\nb"}',
    "        padded value ",
    "ends in backslash\\",
    "....",
    "****(((",
]


def _random_secrets() -> Iterator[str]:
    source = random.Random(20260901)  # noqa: S311 - inputs of a test
    alphabet = string.printable + 'äöü€😀\\\\\\"""%%%///+++&&&'
    for length in (4, 5, 6, 7, 8, 13, 40, 200):
        for _ in range(6):
            secret = "".join(source.choice(alphabet) for _ in range(length))
            if len(secret.strip().encode()) >= 4:
                yield secret


@cache
def _redactor_of(secret: str) -> Redactor:
    return Redactor({"S": secret})


def _upper_percent(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode())


def _all_unicode(text: str) -> str:
    units = text.encode("utf-16-be")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


SPELLINGS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "json": json.dumps,
    "json with its characters": lambda text: json.dumps(text, ensure_ascii=False),
    "json in json": lambda text: json.dumps({"body": json.dumps({"token": text})}),
    "json in json in json": lambda text: json.dumps(json.dumps(json.dumps(text))),
    "json with escaped slashes": lambda text: json.dumps(text).replace("/", "\\/"),
    "json of escapes only": _all_unicode,
    "quote": quote,
    "quote without safe": lambda text: quote(text, safe=""),
    "quote_plus": quote_plus,
    "quote in lower case": lambda text: _lower_percent(quote(text, safe="")),
    "quote_plus in lower case": lambda text: _lower_percent(quote_plus(text)),
    "quote twice": lambda text: quote(quote(text, safe=""), safe=""),
    "every byte quoted": _upper_percent,
    "quote in json": lambda text: json.dumps("https://host/?q=" + quote_plus(text)),
    "html": html.escape,
    "html of numbers only": lambda text: "".join(f"&#{ord(char)};" for char in text),
    "html of hexadecimal numbers only": lambda text: "".join(f"&#x{ord(char):X};" for char in text),
    "repr": repr,
    "repr of bytes": lambda text: repr(text.encode()),
    "every byte as repr writes it": lambda text: "".join(f"\\x{byte:02x}" for byte in text.encode()),
}


def _lower_percent(text: str) -> str:
    return "".join("%" + piece[:2].lower() + piece[2:] if at else piece for at, piece in enumerate(text.split("%")))


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("secret", HARD)
def test_a_secret_is_found_in_every_spelling(secret: str, spelling: str) -> None:
    spelled = SPELLINGS[spelling](secret)
    text = _redactor_of(secret).redact_text(f"before {spelled} after")
    assert text.startswith("before ")
    assert text.endswith(" after")
    assert "[redacted:S]" in text
    assert secret.strip() == "[redacted:S]" or secret not in _decoded(text)


def test_random_secrets_are_found_in_every_spelling() -> None:
    for secret in _random_secrets():
        redactor = _redactor_of(secret)
        for name, spell in SPELLINGS.items():
            text = redactor.redact_text(f"<{spell(secret)}>")
            assert "[redacted:S]" in text, (secret, name)
            assert secret not in _decoded(text), (secret, name)


def _decoded(text: str) -> str:
    """The text and what simple readers make of it, joined: a secret must be in none of them."""
    unescaped = text.replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\")
    return "\0".join([text, unquote_plus(text), unquote_plus(unquote_plus(text)), html.unescape(text), unescaped])


@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
@pytest.mark.parametrize("before", ["", "u", "u:", "user:", "Bearer ", "\x00\xff"])
@pytest.mark.parametrize("after", ["", "x", "yz", " and more"])
def test_base64_is_found_at_every_alignment_with_and_without_padding(
    encode: Callable[[bytes], bytes], before: str, after: str
) -> None:
    for secret in [*HARD, *_random_secrets()]:
        redactor = _redactor_of(secret)
        encoded = encode(f"{before}{secret}{after}".encode()).decode()
        for text in (encoded, encoded.rstrip("="), json.dumps(encoded).replace("/", "\\/"), quote(encoded, safe="")):
            redacted = redactor.redact_text(f"Authorization: Basic {text}")
            assert "[redacted:S]" in redacted, (secret, text)
            rest = redacted.removeprefix("Authorization: Basic ").split("[redacted:S]")
            assert len("".join(rest)) <= len(text) - len(encode(secret.encode()).decode().rstrip("=")) + 3


def test_a_secret_ends_where_it_ends_and_nothing_else_is_touched() -> None:
    redactor = Redactor({"A": "token-1234", "B": "token-1234-long"})
    text = "x=token-1234; y=token-1234-long; z=token-12 34"
    assert redactor.redact_text(text) == "x=[redacted:A]; y=[redacted:B]; z=token-12 34"


def test_a_padded_value_is_also_found_without_its_padding() -> None:
    redactor = Redactor({"S": "  value-from-a-file\n"})
    assert redactor.redact_text("got value-from-a-file.") == "got [redacted:S]."


def test_each_line_of_a_value_of_several_lines_is_found_alone() -> None:
    redactor = Redactor({"KEY": "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0\n-----END KEY-----\n"})
    assert redactor.redact_text("agent | MIIEvQIBADANBgkqhkiG9w0") == "agent | [redacted:KEY]"


def test_json_is_redacted_leaf_by_leaf_and_keeps_its_shape() -> None:
    redactor = Redactor({"PIN": "12345678", "S": 'se"cret'})
    value: Json = {'a se"cret key': ['se"cret', {"pin": 12345678, "amount": 123456789, "ok": True, "none": None}]}
    assert redactor.redact_json(value) == {
        "a [redacted:S] key": [
            "[redacted:S]",
            {"pin": "[redacted:PIN]", "amount": 123456789, "ok": True, "none": None},
        ]
    }


def test_words_that_json_needs_are_no_numbers() -> None:
    assert Redactor({"S": "True"}).redact_json([True, "True"]) == [True, "[redacted:S]"]


def test_bytes_that_are_no_utf_8_stay_as_they_are_around_a_secret() -> None:
    redactor = Redactor({"S": "tökén"})
    assert redactor.redact_bytes(b"\xff\xfe" + "tökén".encode() + b"\x80") == b"\xff\xfe[redacted:S]\x80"


def test_values_of_less_than_four_bytes_are_named_as_not_redactable() -> None:
    redactor = Redactor({"SHORT": "abc", "EMPTY": "", "LONG": "abcd", "EURO": "€€"})
    assert redactor.too_short == ("SHORT",)
    assert redactor.names == ("EURO", "LONG")
    assert redactor.redact_text("abc €€") == "abc [redacted:EURO]"


def test_redacting_twice_changes_nothing() -> None:
    redactor = Redactor({"A": "redacted", "B": "second-secret", "[": "[red"})
    once = redactor.redact_text("redacted second-secret [redacted:B]")
    assert redactor.redact_text(once) == once


def test_of_equal_values_the_first_name_is_shown() -> None:
    assert Redactor({"B": "value", "A": "value"}).redact_text("value") == "[redacted:A]"


def test_without_secrets_everything_comes_back_itself() -> None:
    redactor = Redactor({"SHORT": "abc"})
    record = attempt_of(plan_of("a"), "a")
    value = {"a": ["x" * 100]}
    text, content = "x" * 100, b"y" * 100
    assert redactor.redact_text(text) is text
    assert redactor.redact_bytes(content) is content
    assert redactor.redact_json(value) is value
    assert redactor.redact_record(record) is record


def test_an_attempt_is_redacted_wherever_a_text_may_stand_and_can_be_read_back() -> None:
    secret = "s3cr3t-value"
    plan = plan_of("a")
    record = attempt_of(plan, "a")
    call = record.trajectory[0].model_copy(
        update={"arguments": {"token": secret, secret: [987654]}, "result": f"<{secret}>", "status": secret}
    )
    check = record.checks[0].model_copy(update={"actual": [secret], "reason": secret, "expected": secret})
    record = record.model_copy(
        update={"trajectory": (call,), "checks": (check,), "texts": (secret,), "log": secret, "reason": secret}
    )
    redacted = Redactor({"TOKEN": secret, "PIN": "987654"}).redact_record(record)
    assert secret not in redacted.to_line()
    assert "987654" not in redacted.to_line()
    assert type(redacted).model_validate_json(redacted.to_line()) == redacted
    assert redacted.to_line().count("[redacted:TOKEN]") == 10


def test_a_journal_path_is_redacted() -> None:
    row = rows_of(attempt_of(plan_of("a"), "a"))[0].model_copy(update={"path": "/orders?key=s3cr3t%2Fvalue"})
    assert Redactor({"K": "s3cr3t/value"}).redact_record(row).path == "/orders?key=[redacted:K]"


def test_secrets_that_look_like_words_of_the_lab_leave_a_plan_that_can_be_read_back() -> None:
    plan = plan_of("approval")
    redactor = Redactor({"MODE": "process", "YEAR": "2026", "SEED": "1701", "ZEROS": "0000", "LEVEL": "metadata"})
    redacted = redactor.redact_record(plan)
    assert Plan.model_validate_json(redacted.to_line()) == redacted
    assert (redacted.run_id, redacted.conditions.clock) == (plan.run_id, plan.conditions.clock)
    assert redacted.cases[0].case_digest == plan.cases[0].case_digest


def test_a_hostile_text_takes_time_in_proportion_to_its_length() -> None:
    secrets = {f"K{number}": f"st-{number}-" + '\\a"% ' * 8 for number in range(5)}
    redactor = Redactor(secrets)
    redactor.redact_text("compiles")
    for text in ("\\" * 100_000, "%25" * 30_000, "st-1-" * 20_000, 'st-1-\\a"' * 12_000, "A" * 100_000):
        started = time.perf_counter()
        assert redactor.redact_text(text) == text
        assert time.perf_counter() - started < 10
