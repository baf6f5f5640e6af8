"""A record as a file of its own: indented JSON with a line end, the same bytes for equal records."""

from __future__ import annotations

from contracts.record import Record


def record_file(record: Record) -> bytes:
    """The file's bytes; absent optional values are left out."""
    return record.model_dump_json(by_alias=True, exclude_none=True, indent=2).encode() + b"\n"
