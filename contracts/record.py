"""The base of every record: frozen, strict, camelCase in JSON and snake_case in Python."""

from __future__ import annotations

from typing import Any, TypeAlias

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

Json: TypeAlias = Any
"""A JSON value: None, bool, int, float, str, list or dict with string keys."""
BUILT_AT_FIRST_USE = ConfigDict(defer_build=True)
"""Of records and of their unions: a command that reads a run uses a few of the hundred kinds that it imports."""
SMALL_RECORD = ConfigDict(
    **BUILT_AT_FIRST_USE,
    strict=True,
    extra="forbid",
    alias_generator=to_camel,
    populate_by_name=True,
    protected_namespaces=(),
)
"""Of a frozen pydantic dataclass with slots: a part of records of which a run has one for each case. It is read and
written as a Record would be, and takes a tenth of the memory."""


class Record(BaseModel):
    """A value that crosses a process boundary or is written down; unknown keys are refused."""

    model_config = ConfigDict(**SMALL_RECORD, frozen=True)

    def to_json(self) -> dict[str, Json]:
        """The record as a JSON object with camelCase keys; absent optional values are left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)

    def to_line(self) -> str:
        """The record as one line of JSON without its newline; absent optional values are left out."""
        return self.model_dump_json(by_alias=True, exclude_none=True)
