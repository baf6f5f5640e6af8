"""An attempt's own address is taken out of what its agent wrote, in every spelling, and nothing else is."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from urllib.parse import quote

import pytest

from contracts.own_address import OwnAddress

TOKEN = "0123456789abcdef0fedcba987654321"
OTHER = "fedcba98765432100123456789abcdef"
HOST = b"127.0.0.1:45231"
URL = f"http://{HOST.decode()}/~{TOKEN}/v1?x=1"


def hidden(text: str, *, host: bytes = HOST) -> str:
    return OwnAddress(TOKEN).hidden_in(text.encode(), host=host).decode()


def every(text: str, escape: Callable[[str], str], *, step: int = 1) -> str:
    return "".join(char if at % step else escape(char) for at, char in enumerate(text))


def percent(char: str) -> str:
    return f"%{ord(char):02x}"


def unicode_escape(char: str) -> str:
    return f"\\u{ord(char):04X}"


def in_json_in_json(char: str) -> str:
    return f"\\\\u{ord(char):04x}"


SPELLINGS = {
    "as it is": URL,
    "upper case": URL.upper().replace("HTTP", "http"),
    "mixed case": "".join(char.upper() if at % 3 else char for at, char in enumerate(URL)),
    "a value of a query": quote(URL, safe=""),
    "a value of a query in a value of a query": quote(quote(URL, safe=""), safe=""),
    "every character escaped": every(URL, percent),
    "every third escaped": every(URL, percent, step=3),
    "escaped in upper case": every(URL.upper(), lambda char: percent(char).upper(), step=2),
    "JSON escapes": every(URL, unicode_escape, step=2),
    "JSON in JSON": every(URL, in_json_in_json, step=5),
    "JSON with its slashes escaped": json.dumps(URL).replace("/", "\\/"),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_an_address_is_hidden_with_its_host_in_any_spelling(spelling: str) -> None:
    text = f"say {SPELLINGS[spelling]} twice {SPELLINGS[spelling]}"
    left = hidden(text)
    assert left.count("<host>/~<prefix>") == 2
    assert left.startswith("say ")
    assert "45231" not in left
    assert TOKEN[8:16] not in left.lower()


@pytest.mark.parametrize("before", range(7))
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
@pytest.mark.parametrize("case", [str.lower, str.upper, str.title])
def test_base64_is_found_at_every_alignment_wherever_it_stands(
    before: int, encode: Callable[[bytes], bytes], case: Callable[[str], str]
) -> None:
    digits = encode(b"." * before + case(TOKEN).encode() + b"/tail").decode()
    for around in ("", "x", "xy ", "key=a&b=", "/orders/"):
        assert "<prefix>" in hidden(around + digits + "&c=d")
        assert hidden(around + digits.rstrip("=")).startswith(around)


@pytest.mark.parametrize("before", range(3))
def test_base64_of_two_addresses_that_differ_in_token_and_port_leaves_the_same(before: int) -> None:
    def left(token: str, port: int) -> bytes:
        host = f"127.0.0.1:{port}".encode()
        url = b"x" * before + b"http://" + host + b"/~" + token.encode() + b"/v1"
        encoded = [base64.b64encode(url), base64.urlsafe_b64encode(url), quote(base64.b64encode(url), safe="").encode()]
        return OwnAddress(token).hidden_in(b" ".join(encoded), host=host)

    assert left(TOKEN, 45231) == left(OTHER, 39999)
    assert left(TOKEN, 45231).count(b"<host>/~<prefix>") == 3


def test_base64_of_the_token_alone_is_hidden_whole() -> None:
    assert hidden(base64.b64encode(TOKEN.encode()).decode()) == "<prefix>="
    assert hidden(base64.b64encode(TOKEN.encode()).decode().rstrip("=")) == "<prefix>"


def test_without_its_host_before_it_only_the_token_is_hidden() -> None:
    assert hidden(URL, host=b"other:1") == f"http://{HOST.decode()}/~<prefix>/v1?x=1"
    assert hidden(URL, host=b"") == f"http://{HOST.decode()}/~<prefix>/v1?x=1"
    assert hidden(f"{TOKEN}{TOKEN}") == "<prefix><prefix>"
    assert hidden(f"ab{TOKEN}ab") == "ab<prefix>ab"


@pytest.mark.parametrize(
    "text", ["", "short", OTHER, OTHER.upper(), TOKEN[:-1], TOKEN[1:] + "x", "a" * 1000, "%61" * 99, "\\" * 999]
)
def test_nothing_else_is_touched(text: str) -> None:
    assert hidden(text) == text
    assert OwnAddress(TOKEN).hidden_in_text(text) is text


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_no_spelling_is_missed_by_the_quick_look_over_many_texts(spelling: str) -> None:
    address = OwnAddress(TOKEN)
    assert address.may_be_in([b"", b"short", SPELLINGS[spelling].encode()])
    assert address.may_be_in([base64.b64encode(b".." + TOKEN.encode())])
    assert not address.may_be_in([b"", *[TOKEN[at : at + 16].encode() for at in (0, 16)]])


def test_text_with_lone_surrogates_is_read_too() -> None:
    assert OwnAddress(TOKEN).hidden_in_text(f"\ud800 {TOKEN.upper()}") == "\ud800 <prefix>"


HOSTILE = {
    "letters": b"a" * 2_000_000,
    "runs of just the length": (b"0" * 32 + b" ") * 60_000,
    "percent signs": b"%" * 2_000_000,
    "escapes": b"%30%31" * 300_000,
    "nearly a token, escaped": (b"%30%31%32" + b" " * 3) * 150_000 + b"a" * 32,
    "backslashes": b"\\" * 2_000_000,
    "half a unicode escape": b"\\u00" * 500_000,
    "nested escapes": b"%2525252525" * 200_000,
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_long_hostile_text_without_the_token_is_read_to_its_end_and_left_alone(kind: str) -> None:
    assert OwnAddress(TOKEN).hidden_in(HOSTILE[kind], host=HOST) == HOSTILE[kind]  # quadratic, it would take hours
