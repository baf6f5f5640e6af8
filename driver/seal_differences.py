"""Names what is wrong with a COMPLETE that is not the one spelling of its files."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from contracts.errors import Found
from contracts.evidence import COMPLETE
from driver.run_files import printable

_LINE = re.compile(r"\\?([0-9a-fA-F]{64}) [ *](.+?)\r?")
_HEADER = re.compile(rb"# labctl-seal 1 run=(\S+) ")
_SHOWN_CHARS = 120


def run_id_in(sealed: bytes) -> str:
    """The run id that a COMPLETE names, or a question mark."""
    match = _HEADER.match(sealed)
    return match[1].decode("utf-8", "replace") if match else "?"


def names_in(sealed: bytes) -> Collection[str]:
    """The files that a COMPLETE lists, in whatever spelling."""
    return _listed(sealed).keys()


def seal_differences(sealed: bytes, expected: bytes, *, files: Mapping[str, str]) -> list[Found]:
    """Missing, unlisted and changed files by name; else the first line of COMPLETE that reads otherwise.

    Args:
        sealed: COMPLETE as it is.
        expected: what it must be for the files that are there.
        files: relative path -> sha256 of the files that are there.

    """
    listed = _listed(sealed)
    found = [Found("is missing", file=printable(name)) for name in sorted(listed.keys() - files.keys())]
    found += [Found("is not listed in COMPLETE", file=name) for name in sorted(files.keys() - listed.keys())]
    changed = sorted(name for name in files.keys() & listed.keys() if files[name] != listed[name])
    found += [Found("was changed or cut since it was sealed", file=name) for name in changed]
    return found or [_first_line(sealed, expected)]


def _listed(sealed: bytes) -> dict[str, str]:
    """What the lines say, in whatever spelling `sha256sum` would understand."""
    listed = {}
    for line in sealed.decode("utf-8", "backslashreplace").split("\n"):
        if match := _LINE.fullmatch(line):
            listed[match[2]] = match[1].lower()
    return listed


def _first_line(sealed: bytes, expected: bytes) -> Found:
    are, must = sealed.split(b"\n"), expected.split(b"\n")
    number = next(
        (number for number, pair in enumerate(zip(are, must, strict=False), start=1) if pair[0] != pair[1]),
        min(len(are), len(must)) + 1,
    )
    return Found(
        f"reads {_shown(are, number)}, sealed as {_shown(must, number)}", file=COMPLETE, place=f"line {number}"
    )


def _shown(lines: list[bytes], number: int) -> str:
    return ascii(lines[number - 1].decode("utf-8", "replace"))[:_SHOWN_CHARS] if number <= len(lines) else "nothing"
