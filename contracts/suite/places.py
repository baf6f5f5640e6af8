"""Finds where in a text a JSON pointer or TOML key stands, so that a problem can be shown with its line."""

from __future__ import annotations

import bisect
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

Path = tuple[str | int, ...]
"""Keys and list indices from the top of a document to a value."""

_BLANK = re.compile(r"[ \t\r\n]*")
_TOML_HEADER = re.compile(r"\s*\[{1,2}([^\]]+)\]")
_TOML_KEY = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")
_TOML_PART = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")


class _Member(NamedTuple):
    """One element of a list or one key of an object: where it begins, where its value begins, and the value."""

    name: str | int
    at: int
    value_at: int
    value: Any


def pointer_of(path: Sequence[str | int]) -> str:
    """The RFC 6901 pointer of a path; the empty pointer names the whole document."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


class Lines:
    """Line numbers of one text."""

    def __init__(self, text: str) -> None:
        self._ends = [match.start() for match in re.finditer("\n", text)]

    def line_at(self, offset: int) -> int:
        """The line, from 1, of a character offset."""
        return bisect.bisect_left(self._ends, offset) + 1


def json_offsets(text: str, wanted: Iterable[Path]) -> dict[Path, int]:
    """Character offsets of the wanted paths in a valid JSON text; those of the paths that are there."""
    decoder = json.JSONDecoder(parse_int=str)
    offsets: dict[Path, int] = {}
    waiting: list[tuple[int, Path, set[Path]]] = [(_skip(text, 0), (), set(wanted))]
    if () in waiting[0][2]:
        offsets[()] = waiting[0][0]
    while waiting:
        start, path, wanted_below = waiting.pop()
        by_member: dict[str | int, set[Path]] = defaultdict(set)
        for one in wanted_below - {path}:
            by_member[one[len(path)]].add(one)
        for member in _members(text, start, decoder):
            here, inside = (*path, member.name), by_member.get(member.name, set())
            if here in inside:
                offsets[here] = member.at
            if inside - {here}:
                waiting.append((member.value_at, here, inside))
    return offsets


def duplicate_keys(text: str) -> list[Path]:
    """The paths of all keys that an object of a valid JSON text repeats."""
    repeated: list[str] = []

    def note(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) != len(pairs):
            repeated.append("")
        return members

    decoder = json.JSONDecoder(object_pairs_hook=note, parse_int=str)
    found: list[Path] = []
    waiting: list[tuple[int, Path]] = [(_skip(text, 0), ())]
    while waiting:
        start, path = waiting.pop()
        seen: set[str | int] = set()
        for member in _members(text, start, decoder):
            here = (*path, member.name)
            if member.name in seen:
                found.append(here)
            seen.add(member.name)
            if repeated:
                waiting.append((member.value_at, here))
                repeated.clear()
    return found


def _members(text: str, start: int, decoder: json.JSONDecoder) -> Iterator[_Member]:
    """The members of the object or list that begins at `start`; none for any other value."""
    if text[start] not in "{[":
        return
    is_object = text[start] == "{"
    at, index = _skip(text, start + 1), 0
    while text[at] not in "}]":
        begin, name = at, index
        if is_object:
            name, at = decoder.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        value, end = decoder.raw_decode(text, at)
        yield _Member(name, begin, at, value)
        index += 1
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    return _BLANK.match(text, at).end()  # type: ignore[union-attr]  # it matches the empty text


def toml_lines(text: str) -> dict[Path, int]:
    """The line of every table and key that is written at the start of a line, by its path."""
    lines: dict[Path, int] = {}
    table: Path = ()
    in_long_text = False
    for number, line in enumerate(text.split("\n"), 1):
        opens_long_text = (line.count('"""') + line.count("'''")) % 2 == 1
        if not in_long_text:
            if header := _TOML_HEADER.match(line):
                table = _toml_path(header[1])
                lines.setdefault(table, number)
            elif key := _TOML_KEY.match(line):
                lines.setdefault((*table, *_toml_path(key[1])), number)
        in_long_text ^= opens_long_text
    return lines


def _toml_path(key: str) -> Path:
    return tuple(part.strip("\"'") for part in _TOML_PART.findall(key))
