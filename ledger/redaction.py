"""Takes secret values and what has the shape of a key out of texts, bytes and JSON before anything is written down."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import Enum
from functools import cache
from typing import Any, Literal, TypeVar, get_args, get_origin

from pydantic.dataclasses import is_pydantic_dataclass
from pydantic.fields import FieldInfo

from contracts.record import Json, Record
from ledger.key_shapes import without_keys
from ledger.known_secrets import KnownSecrets
from ledger.redaction_counts import RedactionCounts

R = TypeVar("R", bound=Record)

_OF_THE_LAB = re.compile(r"sha256:[0-9a-f]{64}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
_RUN_ID = "run_id"
_NAMES_OF_CASES = frozenset({"case_id", "title"})
"""Never cut, and the same in plan, attempts and journal."""


class Redactor:
    """Replaces every known secret value, in any spelling, with `[redacted:NAME]`, and every key of a well-known shape.

    What has nothing to take out comes back itself.
    """

    def __init__(self, secrets: Mapping[str, str]) -> None:
        """`secrets` maps names to values; of equal values the first name in order is shown."""
        self._known = KnownSecrets(secrets)
        self._file: str | None = None
        self._may_be_cut = False
        self.counts = RedactionCounts()
        """What was taken out by the redactors that `writing` made of this one."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the values that are taken out."""
        return self._known.names

    @property
    def too_short(self) -> tuple[str, ...]:
        """Names of the values that are too short to be taken out of anything; somebody has to be told."""
        return self._known.too_short

    def writing(self, file: str, *, may_be_cut: bool = False) -> Redactor:
        """The same for one file of the run, counting what is taken out of it.

        `may_be_cut`: texts may have been cut, in which case half a value or more where a text begins, ends, or has
        the mark of a cut is taken out too.
        """
        one = Redactor({})
        one._known, one.counts, one._file, one._may_be_cut = self._known, self.counts, file, may_be_cut
        return one

    def redact_text(self, text: str) -> str:
        """The text without any secret value or key."""
        return self._redacted(text, may_be_cut=self._may_be_cut)

    def redact_bytes(self, content: bytes) -> bytes:
        """The bytes without any secret value or key; bytes that are no UTF-8 stay as they are."""
        text = content.decode("utf-8", "surrogateescape")
        redacted = self.redact_text(text)
        return content if redacted is text else redacted.encode("utf-8", "surrogateescape")

    def redact_json(self, value: Json) -> Json:
        """The JSON value with every key and string redacted, and numbers whose whole text is a secret."""
        if isinstance(value, str):
            return self.redact_text(value)
        if isinstance(value, dict):
            return self._redact_map(value, self.redact_json)
        if isinstance(value, list | tuple):
            return _same_or(value, [self.redact_json(item) for item in value])
        if isinstance(value, int | float) and not isinstance(value, bool) and self._known:
            name = self._known.name_of_number(value)
            return value if name is None else self._marked(name)
        return value

    def redact_record(self, record: R) -> R:
        """The record with every text in it redacted, down through its records, tuples and maps.

        What the lab itself wrote stays, so that the record can be read back: words of closed lists, numbers, digests,
        instants and run ids. In free JSON (`Json` fields) numbers are redacted as well.
        """
        changes = self._changes(record)
        return record.model_copy(update=changes) if changes else record

    def _redacted(self, text: str, *, may_be_cut: bool) -> str:
        if self._known:
            text = self._known.taken_out(text, may_be_cut=may_be_cut, told=self._count)
        return without_keys(text, found=self._count)

    def _count(self, name: str) -> None:
        if self._file is not None:
            self.counts.add(self._file, name)

    def _marked(self, name: str) -> str:
        self._count(name)
        return f"[redacted:{name}]"

    def _changes(self, record: Any) -> dict[str, Any]:
        """The open fields of a record by name that are others when redacted."""
        changes = {}
        for name, is_json in _open_fields(record.__class__):
            value = getattr(record, name)
            if name in _NAMES_OF_CASES and isinstance(value, str):
                redacted: object = self._redacted(value, may_be_cut=False)
            else:
                redacted = self.redact_json(value) if is_json else self._redact_typed(value)
            if redacted is not value:
                changes[name] = redacted
        return changes

    def _redact_typed(self, value: object) -> object:
        if isinstance(value, Record):
            return self.redact_record(value)
        if is_pydantic_dataclass(type(value)):
            changes = self._changes(value)
            return replace(value, **changes) if changes else value  # type: ignore[type-var]  # it is one
        if isinstance(value, str) and not isinstance(value, Enum):
            return value if _OF_THE_LAB.fullmatch(value) else self.redact_text(value)
        if isinstance(value, tuple):
            return _same_or(value, tuple(self._redact_typed(item) for item in value))
        if isinstance(value, dict):
            return self._redact_map(value, self._redact_typed)
        return value

    def _redact_map(self, value: dict[str, Any], redact: Callable[[Any], Any]) -> dict[str, Any]:
        redacted: dict[str, Any] = {}
        is_same = True
        for key, item in value.items():
            new_key, new_item = self.redact_text(key), redact(item)
            is_same = is_same and new_key is key and new_item is item
            redacted[_free(new_key, redacted)] = new_item
        return value if is_same else redacted


def _free(key: str, taken: Mapping[str, object]) -> str:
    """The key, or with a number where two keys became one: no value is lost."""
    free, number = key, 1
    while free in taken:
        number += 1
        free = f"{key} #{number}"
    return free


def _same_or(value: Any, redacted: Any) -> Any:
    """The value itself where none of its items is another."""
    return value if all(one is other for one, other in zip(value, redacted, strict=True)) else redacted


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
