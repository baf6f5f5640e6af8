"""Takes an attempt's own address out of what its agent wrote, whatever the spelling: no row or digest depends on it.

The secret token of a prefix is hex digits. It is found in any letter case, with any of its digits percent-escaped or
JSON-escaped, and in base64 at all three alignments, standard or URL-safe. What an agent writes into one request may be
8 MiB, so everything here that looks at all of it runs in C and takes linear time.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from operator import itemgetter

HIDDEN_PREFIX = "<prefix>"
"""What stands where the token was."""
HIDDEN_HOST = "<host>"
"""What stands where host and port were, right before it."""

_BETWEEN = b"/~"
_ESCAPING = b"%\\"
_TO_RUNS = bytes(ord("a") if chr(byte).isascii() and chr(byte).isalnum() else ord(" ") for byte in range(256))
_TO_ESCAPED_RUNS = bytes(ord("a") if byte in _ESCAPING else kept for byte, kept in enumerate(_TO_RUNS))
"""Every spelling of a token is a run of at least its length, escapes counted in; most texts have none so long."""
_URL_SAFE = bytes.maketrans(b"-_", b"+/")
_BASE64_DIGITS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_TO_BASE64 = bytes(byte if byte in _BASE64_DIGITS else ord("A") for byte in bytes(range(256)).translate(_URL_SAFE))
"""What is no digit becomes one: so the places of all others stay where they are."""
_LONGEST_HOST = 100
_LONGEST_ESCAPE = 24

_PERCENT = rb"%(?:25){0,4}+"
_UNICODE = rb"\\{1,15}+u00"
_ESCAPED = re.compile(rb"(?:" + _PERCENT + rb"|" + _UNICODE + rb")(?:3[0-9]|[46][1-9A-Fa-f]|[57][0-9Aa])")
"""An escaped letter or digit: many texts have a percent sign or an escaped quote, few have one of these."""


class OwnAddress:
    """The address of one attempt."""

    def __init__(self, token: str) -> None:
        """`token` is made of letters and digits."""
        self._token = token.lower().encode()
        self._run = b"a" * len(token)
        self._pattern: re.Pattern[bytes] | None = None

    def may_be_in(self, parts: Iterable[bytes]) -> bool:
        """False when surely none of the texts holds it; much quicker for many short texts than looking into each."""
        return self._run in b" ".join(parts).translate(_TO_ESCAPED_RUNS)

    def hidden_in(self, part: bytes, *, host: bytes = b"") -> bytes:
        """The text without the token, and without `host` (as the header `host` has it) where it stands before it."""
        if len(part) < len(self._run) or self._run not in part.translate(_TO_ESCAPED_RUNS):
            return part
        pieces: list[bytes] = []
        done = 0
        for start, end, alignment in sorted(self._places(part), key=itemgetter(0)):
            if start < done:  # found before, in another spelling
                continue
            before = part[done:start]
            length = _length_of_host(before[-_LONGEST_HOST * _LONGEST_ESCAPE :], host, alignment)
            hidden = HIDDEN_HOST + _BETWEEN.decode() + HIDDEN_PREFIX if length else HIDDEN_PREFIX
            pieces += [before[: len(before) - length], hidden.encode()]
            done = end
        return b"".join((*pieces, part[done:])) if pieces else part

    def hidden_in_text(self, text: str) -> str:
        """The same for text, which may hold lone surrogates."""
        content = text.encode("utf-8", "surrogatepass")
        hidden = self.hidden_in(content)
        return text if hidden is content else hidden.decode("utf-8", "surrogatepass")

    def _places(self, part: bytes) -> Iterator[tuple[int, int, int | None]]:
        """Begin and end of each token; for base64 with the number of bytes before it, modulo 3."""
        if self._run in part.translate(_TO_RUNS):
            for at in _all(self._token, part.lower()):
                yield at, at + len(self._token), None
            yield from self._places_in_base64(part)
        if any(sign in part for sign in (b"%", b"\\u00")) and _ESCAPED.search(part):
            for match in self._any_spelling().finditer(part):
                yield match.start(), match.end(), None

    def _places_in_base64(self, part: bytes) -> Iterator[tuple[int, int, int]]:
        digits = part.translate(_TO_BASE64)
        for phase in range(4):
            filled = digits[phase:] + b"A" * (-(len(digits) - phase) % 4)
            for at in _all(self._token, base64.b64decode(filled).lower()):
                # all digits that tell a bit of it, those that it shares with its neighbours too
                yield phase + 8 * at // 6, phase + -(-8 * (at + len(self._token)) // 6), at % 3

    def _any_spelling(self) -> re.Pattern[bytes]:
        """Takes milliseconds to make, so only a text that may need it has it made.

        Not a `cached_property`: before Python 3.12 all of a class share one lock, and attempts would wait in line.
        """
        if self._pattern is None:
            self._pattern = re.compile(b"".join(_any_spelling(digit) for digit in self._token))
        return self._pattern


def _all(token: bytes, text: bytes) -> Iterator[int]:
    at = text.find(token)
    while at >= 0:
        yield at
        at = text.find(token, at + len(token))


def _length_of_host(before: bytes, host: bytes, alignment: int | None) -> int:
    """How many bytes at the end of `before` spell host, slash and tilde; 0 where it is not there."""
    if not host or len(host) > _LONGEST_HOST:
        return 0
    match = _pattern_of_host(host, alignment).search(before)
    return len(match[0]) if match else 0


@lru_cache(maxsize=64)  # agents use one or two
def _pattern_of_host(host: bytes, alignment: int | None) -> re.Pattern[bytes]:
    """Finds host, slash and tilde at the end of a text; in base64 with so many bytes, modulo 3, before what follows."""
    text = host + _BETWEEN
    if alignment is None:
        return re.compile(b"".join(_any_spelling(byte) for byte in text.lower()) + rb"\Z")
    first = (alignment - len(text)) % 3
    digits = base64.b64encode(bytes(first) + text)
    bits = 8 * (first + len(text))
    own = digits[-(-8 * first // 6) : bits // 6]
    shared = rb"[A-Za-z0-9+/_\-]" if first else b""  # tells bits of what is before the host too
    return re.compile(shared + b"".join(_any_base64(digit) for digit in own) + rb"\Z")


def _any_spelling(byte: int) -> bytes:
    """One character in any letter case, as it is, percent-escaped or JSON-escaped."""
    cases = sorted({byte, *bytes([byte]).lower(), *bytes([byte]).upper()})
    forms = [b"[" + b"".join(re.escape(bytes([case])) for case in cases) + b"]"]
    codes = b"|".join(_any_case(f"{case:02x}") for case in cases)
    forms += [escape + b"(?:" + codes + b")" for escape in (_PERCENT, _UNICODE)]
    if byte == ord("/"):
        forms.append(rb"\\{1,15}+/")
    return b"(?:" + b"|".join(forms) + b")"


def _any_base64(digit: int) -> bytes:
    specials = {ord("+"): rb"[+\-]", ord("/"): rb"(?:/|_|\\{1,15}+/)"}
    plain = specials.get(digit, re.escape(bytes([digit])))
    escaped = {ord("+"): b"2[Bb]", ord("/"): b"2[Ff]"}.get(digit)
    return b"(?:" + plain + b"|" + _PERCENT + escaped + b")" if escaped else plain


def _any_case(digits: str) -> bytes:
    return "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in digits).encode()
