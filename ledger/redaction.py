"""Takes known secret values out of texts, bytes and JSON before anything is written down."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property

from contracts.record import Json
from ledger.secret_forms import SHORTEST_BYTES, spellings


class Redactor:
    """Replaces every known secret value, in any spelling, with `[redacted:NAME]`.

    Without secrets each method returns its argument itself.
    """

    def __init__(self, secrets: Mapping[str, str]) -> None:
        """`secrets` maps names to values; of equal values the first name in order is shown."""
        named: dict[str, str] = {}
        for name in sorted(secrets):
            named.setdefault(secrets[name], name)
        self._secrets = {name: value for value, name in named.items() if len(value.encode()) >= SHORTEST_BYTES}
        self.names: tuple[str, ...] = tuple(
            name for name in sorted(secrets) if len(secrets[name].encode()) >= SHORTEST_BYTES
        )
        """Names of the values that are taken out."""
        self.too_short: tuple[str, ...] = tuple(
            name for name in sorted(secrets) if 0 < len(secrets[name].encode()) < SHORTEST_BYTES
        )
        """Names of the values that are too short to be taken out of anything; somebody has to be told."""

    def text(self, text: str) -> str:
        """The text without any secret value."""
        if not self._secrets:
            return text
        return self._pattern.sub(lambda match: f"[redacted:{self._name_of(match.group())}]", text)

    def data(self, content: bytes) -> bytes:
        """The bytes without any secret value; bytes that are no UTF-8 stay as they are."""
        if not self._secrets:
            return content
        return self.text(content.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")

    def json(self, value: Json) -> Json:
        """The JSON value with every key and string redacted, and numbers whose whole text is a secret."""
        if not self._secrets:
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(key): self.json(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.json(item) for item in value]
        if isinstance(value, int | float) and not isinstance(value, bool):
            name = next((name for name, secret in self._secrets.items() if secret.strip() == repr(value)), None)
            return value if name is None else f"[redacted:{name}]"
        return value

    @cached_property
    def _alternatives(self) -> list[tuple[str, str]]:
        """(pattern, name) of every spelling, longest first, so that a longer secret wins over one inside it."""
        found = [
            (length, pattern, name) for name, value in self._secrets.items() for length, pattern in spellings(value)
        ]
        found.sort(key=lambda entry: (-entry[0], entry[1]))
        return [(pattern, name) for _, pattern, name in found]

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile("|".join(pattern for pattern, _ in self._alternatives))

    @cached_property
    def _compiled(self) -> list[tuple[re.Pattern[str], str]]:
        return [(re.compile(pattern), name) for pattern, name in self._alternatives]

    def _name_of(self, found: str) -> str:
        """The secret that was found; asked only for hits, so that the one big pattern needs no groups."""
        return next(name for pattern, name in self._compiled if pattern.fullmatch(found))
