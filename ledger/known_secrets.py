"""The secret values that a run knows: looks for them in a text, in any spelling and torn apart."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cached_property

from ledger.secret_forms import SHORTEST_BYTES, spellings
from ledger.split_secrets import Span, SplitSecrets

Told = Callable[[str], None]
"""Is told the name of each value that was taken out."""


class KnownSecrets:
    """Values by name; made once for a run, because its patterns cost a few milliseconds each."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        """Of equal values the first name in order is shown."""
        named: dict[str, str] = {}
        for name in sorted(secrets):
            named.setdefault(secrets[name], name)
        sizes = {name: len(secrets[name].encode()) for name in sorted(secrets)}
        self._values = {name: value for value, name in named.items() if sizes[name] >= SHORTEST_BYTES}
        self.names = tuple(name for name, size in sizes.items() if size >= SHORTEST_BYTES)
        self.too_short = tuple(name for name, size in sizes.items() if 0 < size < SHORTEST_BYTES)

    def __bool__(self) -> bool:
        """Whether there is any value to look for."""
        return bool(self._values)

    def taken_out(self, text: str, *, may_be_cut: bool, told: Told) -> str:
        """The text with `[redacted:NAME]` for every value; the text itself where there is none."""

        def replacement(match: re.Match[str]) -> str:
            name = next((name for pattern, name in self._compiled if pattern.fullmatch(match[0])), None)
            if name is None:
                return match[0]
            told(name)
            return f"[redacted:{name}]"

        text = self._pattern.sub(replacement, text)
        text = _replaced(text, self._split.torn(text), told)
        return _replaced(text, self._split.cut(text), told) if may_be_cut else text

    def name_of_number(self, number: float) -> str | None:
        """The name of the value that this number's whole text is."""
        return next((name for name, value in self._values.items() if value.strip() == repr(number)), None)

    @cached_property
    def _split(self) -> SplitSecrets:
        return SplitSecrets(self._values)

    @cached_property
    def _alternatives(self) -> list[tuple[str, str]]:
        """(pattern, name) of every spelling, longest first, so that a longer secret wins over one inside it."""
        found = [
            (length, pattern, name) for name, value in self._values.items() for length, pattern in spellings(value)
        ]
        found.sort(key=lambda entry: (-entry[0], entry[1]))
        return [(pattern, name) for _, pattern, name in found]

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        # What was redacted before is matched first and stays, so that redacting twice changes nothing.
        done = [r"\[redacted:shape:[a-z-]+\]", *(re.escape(f"[redacted:{name}]") for name in self._values)]
        return re.compile("|".join([*done, *(pattern for pattern, _ in self._alternatives)]))

    @cached_property
    def _compiled(self) -> list[tuple[re.Pattern[str], str]]:
        """Asked only for hits, so that the one big pattern needs no groups."""
        return [(re.compile(pattern), name) for pattern, name in self._alternatives]


def _replaced(text: str, spans: list[Span], told: Told) -> str:
    for span in reversed(spans):
        told(span.name)
        text = f"{text[: span.start]}[redacted:{span.name}]{text[span.end :]}"
    return text
