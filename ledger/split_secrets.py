"""Finds secret values that were torn apart: by line ends, by colours, or by the place where a text was cut."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import NamedTuple
from urllib.parse import quote, quote_plus

_SHORTEST = 8
"""Characters of a form whose pieces are looked for together; shorter ones arise by chance where lines meet."""
_SHORTEST_CUT = 12
"""Characters of a form of which a piece at the place of a cut is taken out."""

_GAP = re.compile(
    r"\x1b(?:\[[0-?]{0,32}[ -/]{0,4}[@-~]|\][^\x07\x1b]{0,256}(?:\x07|\x1b\\)|[@-Z\\-_])"
    r"|(?:\\u001[bB]|\\x1[bB]|\\033|\\e)\[[0-9;:?]{0,32}[A-Za-z]"
    r"|(?:\r\n?|\n|\\r\\n|\\n)[ \t]{0,16}"
    r"|[\x00\x08\u00ad\u200b-\u200f\u2060\ufeff]"
)
"""What may stand between two characters of a value on a screen or in a wrapped text: escape sequences of a terminal,
also as a JSON or a Python text writes them, line ends with an indentation, characters without a width."""

_GAP_OR_BLANKS = re.compile(_GAP.pattern + r"|[ \t]+")
"""For values that have blanks themselves: which of them are an indentation nobody can tell."""
_FIRSTS = "\x1b\\\\\r\n\x00\x08\u00ad\u200b-\u200f\u2060\ufeff"
_FIRST_OF = {_GAP: re.compile(f"[{_FIRSTS}]"), _GAP_OR_BLANKS: re.compile(f"[{_FIRSTS} \t]")}
"""What a gap begins with: looking for it first costs a tenth."""

_AFTER_A_CUT = ("\n", "\r", "…", '"', "'", "<cut to ", "\x1b")
_BEFORE_A_CUT = ("\n", "\r", "…")


class Span(NamedTuple):
    """A stretch of a text that is, or is half or more of, a secret."""

    start: int
    end: int
    name: str


class SplitSecrets:
    """The forms of secrets whose pieces can be told apart from chance."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        """`secrets` maps names to values."""
        forms = {form: name for name, value in secrets.items() for form in _forms(value)}
        self._squeezed: dict[re.Pattern[str], dict[str, str]] = {}
        for form, name in forms.items():
            gap = _GAP_OR_BLANKS if " " in form or "\t" in form else _GAP
            if len(squeezed := gap.sub("", form)) >= _SHORTEST:
                self._squeezed.setdefault(gap, {})[squeezed] = name
        self._cut = [(form, _least(form), name) for form, name in forms.items() if len(form) >= _SHORTEST_CUT]

    def torn(self, text: str) -> list[Span]:
        """Whole values with something between their characters that no reader sees; in order, none in another."""
        spans = [span for gap, forms in self._squeezed.items() for span in _torn(text, gap, forms)]
        return _apart(spans)

    def cut(self, text: str) -> list[Span]:
        """Half a value or more where a text begins or ends, or was cut with a mark or a line end; as `torn`."""
        found = []
        for form, least, name in self._cut:
            for at in _places(form[:least], text):
                end = at + _common(form, text[at : at + len(form)])
                if end - at < len(form) and (end == len(text) or text.startswith(_AFTER_A_CUT, end)):
                    found.append(Span(at, end, name))
            for at in _places(form[-least:], text):
                end = at + least
                start = end - _common(form[::-1], text[max(0, end - len(form)) : end][::-1])
                if end - start < len(form) and (start == 0 or text[:start].endswith(_BEFORE_A_CUT)):
                    found.append(Span(start, end, name))
        return _apart(found)


def _torn(text: str, gap: re.Pattern[str], forms: Mapping[str, str]) -> list[Span]:
    pieces, starts, at = [], [], 0
    for first in _FIRST_OF[gap].finditer(text):
        if first.start() >= at and (found := gap.match(text, first.start())):
            pieces.append(text[at : found.start()])
            starts.append(at)
            at = found.end()
    if not pieces:
        return []
    pieces.append(text[at:])
    starts.append(at)
    squeezed = "".join(pieces)
    places = [(at, at + len(form), name) for form, name in forms.items() for at in _places(form, squeezed)]
    return _spread(places, pieces, starts)


def _forms(value: str) -> Iterator[str]:
    """The spellings that programs write: with those of `ledger.secret_forms` mixed by hand nobody tears them too."""
    for part in {value, value.strip()}:
        quoted, plus = quote(part, safe=""), quote_plus(part)
        yield from (part, quote(part), quoted, plus, _lower(quoted), _lower(plus))
        yield from (json.dumps(part)[1:-1], json.dumps(part, ensure_ascii=False)[1:-1])
        for before in range(3):
            content = bytes(before) + part.encode()
            first, last = (before * 8 + 5) // 6, len(content) * 8 // 6
            for encode in (base64.b64encode, base64.urlsafe_b64encode):
                yield encode(content).decode()[first:last]


def _lower(quoted: str) -> str:
    return re.sub("%..", lambda match: match[0].lower(), quoted)


def _least(form: str) -> int:
    """How much of a form must be there: with less than half of it nobody gets in."""
    return max(_SHORTEST, (len(form) + 1) // 2)


def _places(part: str, text: str) -> Iterator[int]:
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


def _common(one: str, other: str) -> int:
    """The length of the longest common beginning."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _spread(found: list[tuple[int, int, str]], pieces: list[str], starts: list[int]) -> list[Span]:
    """Stretches of the joined pieces as stretches of the text that they are from."""
    ends = list(accumulate(map(len, pieces)))
    spans, piece = [], 0
    for start, end, name in sorted(found):
        while ends[piece] <= start:
            piece += 1
        last = piece
        while ends[last] < end:
            last += 1
        first_at, last_at = ends[piece] - len(pieces[piece]), ends[last] - len(pieces[last])
        spans.append(Span(starts[piece] + start - first_at, starts[last] + end - last_at, name))
    return spans


def _apart(spans: list[Span]) -> list[Span]:
    """The spans in order, those that meet as one under the name of the first."""
    apart: list[Span] = []
    for span in sorted(spans):
        if apart and span.start < apart[-1].end:
            apart[-1] = apart[-1]._replace(end=max(apart[-1].end, span.end))
        else:
            apart.append(span)
    return apart
