"""A record as a file of its own: indented JSON with a line end, the same bytes for equal records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pydantic_core import to_json

from contracts.record import Record

_INDENT = 2
_EMPTY_ENDS = (b"[]\n}\n", b"{}\n}\n")
"""How the file of a record ends whose last value has no item."""


def record_file(record: Record) -> bytes:
    """The file's bytes; absent optional values are left out."""
    return record.model_dump_json(by_alias=True, exclude_none=True, indent=_INDENT).encode() + b"\n"


def record_pieces(record: Record) -> Iterator[bytes]:
    """The bytes of `record_file` in pieces: one for each item of the last value, where that is a tuple or a map."""
    name = next(reversed(type(record).model_fields))
    items = getattr(record, name)
    if not items or not isinstance(items, tuple | dict):
        yield record_file(record)
        return
    if isinstance(items, dict):
        pieces = (keyed_item(key, value) for key, value in items.items())
    else:
        pieces = (listed_item(value) for value in items)
    yield from pieces_around(record.model_copy(update={name: type(items)()}), separated(pieces))


def pieces_around(head: Record, items: Iterable[bytes]) -> Iterator[bytes]:
    """The file of `head`, whose last value is empty, with the items in that value, as `separated` makes them.

    The items may come in pieces of any size, but for none at all of them.
    """
    empty = record_file(head)
    if not empty.endswith(_EMPTY_ENDS):
        raise ValueError(f"the last value of {type(head).__name__} is not empty")
    start, end = empty[:-4], empty[-4:]
    yield start
    is_empty = True
    for item in items:
        is_empty = is_empty and not item
        yield item
    yield end if is_empty else b"\n  " + end


def separated(items: Iterable[bytes]) -> Iterator[bytes]:
    """The items with what stands between them."""
    separator = b"\n"
    for item in items:
        yield separator + item
        separator = b",\n"


def listed_item(value: object) -> bytes:
    """A record as an item of a list that is a value of the whole."""
    indented = to_json(value, by_alias=True, exclude_none=True, indent=_INDENT).replace(b"\n", b"\n    ")
    return b"    " + indented


def keyed_item(key: str, value: object) -> bytes:
    """A record as a member of a map that is a value of the whole."""
    return b"    " + to_json(key) + b": " + listed_item(value).lstrip(b" ")
