"""Seeded edits of bytes, JSON, lines and seals, each of which changes something."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from random import Random
from typing import Any

_PIECES = (b"\0", b"\n", b"\r\n", b" ", b"{}", b"\xff\xfe", b"\xef\xbb\xbf", b"true", b"]]>", b"</failure>", b"1e999")


def edited_bytes(content: bytes, rng: Random) -> tuple[str, bytes]:
    """How it was edited, and the bytes: a bit flipped, bytes cut, appended, zeroed, left out, doubled."""
    if not content:
        return "appended to", rng.choice(_PIECES)
    at = rng.randrange(len(content))
    piece = rng.choice(_PIECES)
    end = min(len(content), at + rng.choice([1, 8, 4096]))
    edits: dict[str, bytes] = {
        "flipped a bit of": content[:at] + bytes([content[at] ^ 1 << rng.randrange(8)]) + content[at + 1 :],
        "cut": content[:at],
        "cut the last byte of": content[:-1],
        "appended to": content + piece,
        "inserted into": content[:at] + piece + content[at:],
        "zeroed bytes of": content[:at] + bytes(end - at) + content[end:],
        "left bytes out of": content[:at] + content[end:],
        "doubled": content + content,
        "emptied": b"",
    }
    how = rng.choice(sorted(edits))
    return (how, edits[how]) if edits[how] != content else ("appended to", content + piece)


def edited_lines(content: bytes, rng: Random) -> tuple[str, bytes]:
    """A line changed, left out, doubled, moved or added; of lines of JSON the lines stay JSON."""
    lines = content.splitlines(keepends=True)
    if not lines:
        return "added a line to", b"labctl | all is well\n"
    at = rng.randrange(len(lines))
    moved = lines[:at] + lines[at + 1 :]
    moved.insert(rng.randrange(len(lines)), lines[at])
    try:
        is_json = isinstance(json.loads(lines[at]), dict)
    except ValueError:
        is_json = False
    line = edited_json(lines[at], rng, indent=None)[1] if is_json else edited_bytes(lines[at][:-1], rng)[1] + b"\n"
    edits = {
        "changed a line of": [*lines[:at], line, *lines[at + 1 :]],
        "left out a line of": lines[:at] + lines[at + 1 :],
        "doubled a line of": [*lines[: at + 1], *lines[at:]],
        "moved a line of": moved,
    }
    how = rng.choice(["changed a line of", *edits])
    after = b"".join(edits[how])
    return (how, after) if after != content else ("added a line to", content + lines[at])


def edited_json(content: bytes, rng: Random, *, indent: int | None = 2) -> tuple[str, bytes]:
    """One value of a JSON text changed, added, left out or doubled, spelled as labctl spells its files."""
    value = json.loads(content)
    for _ in range(20):
        changed = [copy.deepcopy(value)]
        place = _change_somewhere(changed, rng)
        separators = None if indent else (",", ":")
        text = json.dumps(changed[0], indent=indent, ensure_ascii=False, separators=separators) + "\n"
        if changed[0] != value or type(changed[0]) is not type(value):
            return f"changed {place} of", text.encode("utf-8", "surrogatepass")
    return "respelled", json.dumps(value, indent=7).encode()


def _change_somewhere(holder: Any, rng: Random) -> str:
    """Walks down from the only item of a list, and changes what it comes to."""
    key: Any = 0
    place = ""
    while isinstance(holder[key], dict | list) and holder[key] and rng.random() < 0.85:
        holder = holder[key]
        key = rng.choice(sorted(holder)) if isinstance(holder, dict) else rng.randrange(len(holder))
        place += f"/{key}"
    if place and rng.random() < 0.15:
        del holder[key]
    else:
        holder[key] = _other(holder[key], rng)
    return place or "all"


def _other(value: Any, rng: Random) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return rng.choice([value + 1, -1, 0.5, 2**53])
    if isinstance(value, str):
        swaps = {"pass": "fail", "fail": "pass", "unknown": "pass"}
        return swaps.get(value, rng.choice([value + "x", "", value[1:], value.upper(), "\N{SNOWMAN}"]))
    if isinstance(value, list):
        return rng.choice([[*value, *value[-1:]] or [1], value[1:], value[::-1]])
    if isinstance(value, dict):
        return rng.choice([{**value, "zz": 1}, {}])
    return 0


def _lines(change: Callable[[list[bytes], Random], list[bytes]]) -> Callable[[bytes, Random], bytes]:
    return lambda sealed, rng: b"".join(change(sealed.splitlines(keepends=True), rng))


def _shuffled(lines: list[bytes], rng: Random) -> list[bytes]:
    rest = lines[1:]
    while rest == lines[1:]:
        rng.shuffle(rest)
    return [lines[0], *rest]


def _at_random(change: Callable[[bytes], bytes]) -> Callable[[bytes, Random], bytes]:
    """Of one of the lines that list files."""

    def changed(lines: list[bytes], rng: Random) -> list[bytes]:
        at = rng.randrange(1, len(lines))
        return [*lines[:at], change(lines[at]), *lines[at + 1 :]]

    return _lines(changed)


_SPELLINGS: dict[str, Callable[[bytes, Random], bytes]] = {
    "CRLF": lambda sealed, _: sealed.replace(b"\n", b"\r\n"),
    "CR": lambda sealed, _: sealed.replace(b"\n", b"\r"),
    "another order": _lines(_shuffled),
    "upper-case hex": _at_random(lambda line: line[:64].upper() + line[64:]),
    "byte order mark": lambda sealed, _: b"\xef\xbb\xbf" + sealed,
    "marked binary": _at_random(lambda line: line[:65] + b"*" + line[66:]),
    "a line twice": _at_random(lambda line: line + line),
    "a line left out": _at_random(lambda _: b""),
    "a ghost": lambda sealed, _: sealed + b"0" * 64 + b"  ghost\n",
    "trailing blank": _at_random(lambda line: line[:-1] + b" \n"),
    "one blank": _at_random(lambda line: line.replace(b"  ", b" ", 1)),
    "dot slash": _at_random(lambda line: line[:66] + b"./" + line[66:]),
    "escaped": _at_random(lambda line: b"\\" + line),
    "another digest": _at_random(lambda line: line[:63] + (b"0" if line[63:64] != b"0" else b"1") + line[64:]),
    "NUL": _at_random(lambda line: line[:-1] + b"\0\n"),
    "blank line": lambda sealed, _: sealed + b"\n",
    "no last line end": lambda sealed, _: sealed[:-1],
    "comment": lambda sealed, _: sealed + b"# verified\n",
    "no header": lambda sealed, _: sealed.partition(b"\n")[2],
    "header twice": lambda sealed, _: sealed.partition(b"\n")[0] + b"\n" + sealed,
    "header last": lambda sealed, _: b"\n".join(reversed(sealed.rstrip(b"\n").split(b"\n", 1))) + b"\n",
    "another version": lambda sealed, _: sealed.replace(b"labctl-seal 1", b"labctl-seal 2", 1),
    "another run": lambda sealed, _: sealed.replace(b" run=", b" run=x", 1),
    "another count": lambda sealed, _: sealed.replace(b" files=", b" files=1", 1),
    "another body": lambda sealed, _: sealed.replace(b" body=", b" body=0", 1),
    "header's blank": lambda sealed, _: sealed.replace(b" files=", b"  files=", 1),
    "header in capitals": lambda sealed, _: sealed.replace(b"# labctl-seal", b"# LABCTL-SEAL", 1),
    "empty": lambda *_: b"",
    "cut": lambda sealed, rng: sealed[: rng.randrange(1, len(sealed))],
    "UTF-16": lambda sealed, _: sealed.decode().encode("utf-16"),
    "two megabytes": lambda sealed, _: sealed + b"#" * (2 << 20),
}


def respelled_seal(sealed: bytes, rng: Random) -> tuple[str, bytes]:
    """COMPLETE in another spelling, some of which `sha256sum` still understands."""
    how = rng.choice(sorted(_SPELLINGS))
    return how, _SPELLINGS[how](sealed, rng)
