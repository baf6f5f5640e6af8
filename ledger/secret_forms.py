"""Every spelling in which a secret value may turn up, as one regular expression per value."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

SHORTEST_BYTES = 4
"""Shorter values stand in too many texts by chance to be taken out of them."""

_LINE_BYTES = 8
"""Lines of a value of several lines are taken out one by one from so many bytes on: logs are cut at line ends."""

_MORE = r"\\{0,15}+"
"""Backslashes before an escaped character: each level of escaping doubles them. Bounded, so that a text of nothing
but backslashes takes linear time; four levels are more than anything nests."""

_ESCAPED = r"\\" + _MORE
"""At least one backslash, written so that it begins with a plain character, by which `re` finds candidates faster."""

_PERCENT = "%(?:25){0,4}+"
_HTML_NAMES = {"&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos"}
_POINTER_ESCAPES = {"~": "~0", "/": "~1"}
"""RFC 6901: the lab itself writes pointers with values of a request in them."""
_SHORT_ESCAPES = {"\n": "n", "\r": "r", "\t": "t", "\b": "b", "\f": "f"}
_BASE64_SPECIALS = {"+": r"(?:[+\-]|%2[Bb]|\\\\{0,15}+u002[Bb])", "/": r"(?:\\{0,15}+/|_|%2[Ff]|\\\\{0,15}+u002[Ff])"}
_BASE64_PARTIAL = r"(?:[A-Za-z0-9+/_-](?:(?:=|%3[Dd]|\\\\{0,15}+u003[Dd])*))?"


def spellings(value: str) -> list[tuple[int, str]]:
    """Patterns of all spellings of a secret with the length of the shortest text that each matches.

    Plain, JSON-escaped, URL-encoded and HTML-escaped characters may be mixed and nested in one text; base64 is found
    at all three alignments, standard and URL-safe, with or without padding. No two alternatives of a pattern can
    match the same text, so that matching takes linear time.
    """
    found: dict[str, int] = {}
    for part in _parts(value):
        for pattern in (_mixed(part), *_throughout(part), *_base64_patterns(part.encode())):
            found.setdefault(pattern, len(part))
    return [(length, pattern) for pattern, length in found.items()]


def _parts(value: str) -> Iterator[str]:
    for part in (value, value.strip()):
        if len(part.encode()) >= SHORTEST_BYTES:
            yield part
    lines = value.splitlines()
    if len(lines) > 1:
        yield from (line.strip() for line in lines if len(line.strip().encode()) >= _LINE_BYTES)


def _mixed(value: str) -> str:
    pattern, after_run = "", False
    for piece in re.findall(r"\\+|[^\\]", value):
        is_run = piece[0] == "\\"
        pattern += _backslashes(len(piece)) if is_run else _character(piece, escapes=_MORE if after_run else _ESCAPED)
        after_run = is_run
    return pattern


def _backslashes(count: int) -> str:
    """A run of backslashes; escaping only makes it longer."""
    percent, escape = _percent_bytes(b"\\"), _unicode_escape("\\")
    return rf"(?:\\{{{count},{16 * count}}}+|(?:{percent}){{{count}}}|(?:{escape}){{{count}}})"


def _character(char: str, *, escapes: str) -> str:
    """One character in every form; `escapes` matches the backslashes before an escape, none after a run of them."""
    if char.isascii() and char.isalnum():
        return char
    forms = [_MORE + re.escape(char), _percent_bytes(char.encode()), _unicode_escape(char, escapes=escapes)]
    forms += [_number_of_html(char), _python_bytes(char.encode(), escapes=escapes)]
    if char in _SHORT_ESCAPES:
        forms.append(escapes + _SHORT_ESCAPES[char])
    if char in _HTML_NAMES:
        forms.append(f"&{_HTML_NAMES[char]};")
    if char in _POINTER_ESCAPES:
        forms.append(_POINTER_ESCAPES[char])
    if char == " ":
        forms.append(r"\+")
    return f"(?:{'|'.join(forms)})"


def _percent_bytes(content: bytes) -> str:
    return "".join("%(?:25){1,5}" if byte == ord("%") else _PERCENT + _any_case(f"{byte:02x}") for byte in content)


def _unicode_escape(char: str, *, escapes: str = _ESCAPED) -> str:
    units = char.encode("utf-16-be")
    digits = [_any_case(units[at : at + 2].hex()) for at in range(0, len(units), 2)]
    return f"{escapes}u" + f"{_ESCAPED}u".join(digits)


def _number_of_html(char: str) -> str:
    return f"&#(?:0{{0,4}}+{ord(char)}|[xX]0{{0,4}}+{_any_case(f'{ord(char):x}')});"


def _python_bytes(content: bytes, *, escapes: str = _ESCAPED) -> str:
    """As `repr` writes bytes that are no text; `escapes` is what stands before the first."""
    return "".join(f"{_ESCAPED if at else escapes}x{_any_case(f'{byte:02x}')}" for at, byte in enumerate(content))


def _any_case(digits: str) -> str:
    return "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in digits)


def _throughout(value: str) -> Iterator[str]:
    """The forms in which also a letter or digit is escaped, if all of them are."""
    yield _percent_bytes(value.encode())
    yield "".join(map(_unicode_escape, value))
    yield "".join(map(_number_of_html, value))
    yield _python_bytes(value.encode())


def _base64_patterns(content: bytes) -> Iterator[str]:
    """The base64 of the value wherever it stands in a longer text: only the digits that it alone decides.

    A digit that it shares with its neighbour behind is taken along; the one before it tells at most four bits.
    """
    for before in range(3):
        digits = base64.b64encode(bytes(before) + content).decode()
        bits = 8 * (before + len(content))
        own = digits[(before * 8 + 5) // 6 : bits // 6]
        pattern = "".join(_BASE64_SPECIALS.get(digit, digit) for digit in own)
        yield pattern + (_BASE64_PARTIAL if bits % 6 else "")
