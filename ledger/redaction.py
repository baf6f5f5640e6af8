"""Takes known secret values out of texts, bytes and JSON before anything is written down."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from enum import Enum
from functools import cache, cached_property
from typing import Any, Literal, TypeVar, get_args, get_origin

from pydantic.dataclasses import is_pydantic_dataclass
from pydantic.fields import FieldInfo

from contracts.record import Json, Record
from ledger.secret_forms import SHORTEST_BYTES, spellings

R = TypeVar("R", bound=Record)

_OF_THE_LAB = re.compile(r"sha256:[0-9a-f]{64}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
_RUN_ID = "run_id"


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

    def redact_text(self, text: str) -> str:
        """The text without any secret value."""
        if not self._secrets:
            return text
        return self._pattern.sub(lambda match: self._replacement(match.group()), text)

    def redact_bytes(self, content: bytes) -> bytes:
        """The bytes without any secret value; bytes that are no UTF-8 stay as they are."""
        if not self._secrets:
            return content
        return self.redact_text(content.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")

    def redact_json(self, value: Json) -> Json:
        """The JSON value with every key and string redacted, and numbers whose whole text is a secret."""
        if not self._secrets:
            return value
        if isinstance(value, str):
            return self.redact_text(value)
        if isinstance(value, dict):
            return {self.redact_text(key): self.redact_json(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.redact_json(item) for item in value]
        if isinstance(value, int | float) and not isinstance(value, bool):
            name = next((name for name, secret in self._secrets.items() if secret.strip() == repr(value)), None)
            return value if name is None else f"[redacted:{name}]"
        return value

    def redact_record(self, record: R) -> R:
        """The record with every text in it redacted, down through its records, tuples and maps.

        What the lab itself wrote stays, so that the record can be read back: words of closed lists, numbers, digests,
        instants and run ids. In free JSON (`Json` fields) numbers are redacted as well.
        """
        if not self._secrets:
            return record
        return record.model_copy(update=self._changes(record))

    def _changes(self, record: Any) -> dict[str, Any]:
        """The open fields of a record by name, redacted."""
        changes = {}
        for name, is_json in _open_fields(record.__class__):
            value = getattr(record, name)
            changes[name] = self.redact_json(value) if is_json else self._redact_typed(value)
        return changes

    def _redact_typed(self, value: object) -> object:
        if isinstance(value, Record):
            return self.redact_record(value)
        if is_pydantic_dataclass(type(value)):
            return replace(value, **self._changes(value))  # type: ignore[type-var]  # it is one
        if isinstance(value, str) and not isinstance(value, Enum):
            return value if _OF_THE_LAB.fullmatch(value) else self.redact_text(value)
        if isinstance(value, tuple):
            return tuple(self._redact_typed(item) for item in value)
        if isinstance(value, dict):
            return {self.redact_text(key): self._redact_typed(item) for key, item in value.items()}
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
        # What was redacted before is matched first and stays, so that redacting twice changes nothing.
        done = [re.escape(f"[redacted:{name}]") for name in self._secrets]
        return re.compile("|".join([*done, *(pattern for pattern, _ in self._alternatives)]))

    @cached_property
    def _compiled(self) -> list[tuple[re.Pattern[str], str]]:
        return [(re.compile(pattern), name) for pattern, name in self._alternatives]

    def _replacement(self, found: str) -> str:
        """Asked only for hits, so that the one big pattern needs no groups."""
        name = next((name for pattern, name in self._compiled if pattern.fullmatch(found)), None)
        return found if name is None else f"[redacted:{name}]"


@cache
def _open_fields(record: Any) -> tuple[tuple[str, bool], ...]:
    """The fields whose values a schema leaves open, each with whether it is free JSON."""
    fields: dict[str, FieldInfo] = record.__pydantic_fields__
    return tuple(
        (name, field.annotation is Any)
        for name, field in fields.items()
        if name != _RUN_ID and not _is_closed(field.annotation)
    )


def _is_closed(annotation: object) -> bool:
    """Whether a type allows only listed words (and None)."""
    if get_origin(annotation) is Literal:
        return True
    parts = [part for part in get_args(annotation) if part is not type(None)]
    return bool(parts) and all(get_origin(part) is Literal for part in parts)
