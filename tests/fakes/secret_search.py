"""Looks for secret values as somebody who was handed a folder would: raw, decoded, joined, and in its databases."""

from __future__ import annotations

import base64
import binascii
import json
import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, quote_plus, unquote_plus

_BASE64_RUN = re.compile(rb"[A-Za-z0-9+/_-]{12,}")
_INVISIBLE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|\\u001b\[[0-9;]*[A-Za-z]|\r?\n[ \t]*|\\n")


class Leak(NamedTuple):
    """A secret that was found."""

    name: str
    where: str
    form: str

    @property
    def is_in_suite(self) -> bool:
        """In the run's own copy of its suite."""
        return self.where.startswith(("suite/", "name of suite/"))


def search_folder(root: Path, secrets: Mapping[str, str]) -> list[Leak]:
    """Every secret in the names and contents of all files below the folder."""
    leaks: list[Leak] = []
    for path in sorted(root.rglob("*")):
        where = path.relative_to(root).as_posix()
        leaks += search_bytes(where.encode("utf-8", "surrogateescape"), secrets, where=f"name of {where}")
        if path.is_file():
            content = path.read_bytes()
            leaks += search_bytes(content, secrets, where=where)
            if content.startswith(b"SQLite format 3\0"):
                leaks += search_bytes("\n".join(_cells(path)).encode(), secrets, where=f"rows of {where}")
    return leaks


def search_bytes(content: bytes, secrets: Mapping[str, str], *, where: str) -> list[Leak]:
    """Every secret in the bytes: in the forms that programs write, and in what readers make of the bytes."""
    views = dict(_views(content))
    leaks = []
    for name, secret in secrets.items():
        leaks += [Leak(name, where, form) for form, view in views.items() if secret in view]
        leaks += [Leak(name, where, form) for form, needle in _forms(secret) if needle in views["raw"]]
    return leaks


def _views(content: bytes) -> Iterator[tuple[str, str]]:
    raw = content.decode("utf-8", "replace")
    yield "raw", raw
    yield "joined", _INVISIBLE.sub("", raw)
    yield "url-decoded", unquote_plus(raw)
    yield "url-decoded twice", unquote_plus(unquote_plus(raw))
    once = _unescaped(raw)
    yield "json-unescaped", once
    yield "json-unescaped twice", _unescaped(once)
    yield "base64-decoded", _decoded(content)
    yield "base64-decoded, joined", _decoded(_INVISIBLE.sub("", raw).encode("utf-8", "replace"))


def _unescaped(text: str) -> str:
    """As a lenient reader of JSON takes it; pairs of surrogates become one character."""
    text = re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), text)
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t", "r": "\r"}.get(match[1], match[1]), text)


def _decoded(content: bytes) -> str:
    """What every run of base64 digits decodes to, at each of its four beginnings."""
    texts = []
    for run in _BASE64_RUN.findall(content):
        for first in range(4):
            digits = run[first:].translate(bytes.maketrans(b"-_", b"+/"))
            digits = digits[: len(digits) // 4 * 4]
            try:
                texts.append(base64.b64decode(digits).decode("utf-8", "replace"))
            except binascii.Error:
                continue
    return "\n".join(texts)


def _forms(secret: str) -> Iterator[tuple[str, str]]:
    yield "url-quoted", quote(secret, safe="")
    yield "url-quoted in lower case", re.sub("%..", lambda match: match[0].lower(), quote(secret, safe=""))
    yield "url-quoted with +", quote_plus(secret)
    yield "json", json.dumps(secret)[1:-1]
    yield "json with its characters", json.dumps(secret, ensure_ascii=False)[1:-1]
    for before in range(3):
        content = bytes(before) + secret.encode()
        first, last = (before * 8 + 5) // 6, len(content) * 8 // 6
        yield "base64", base64.b64encode(content).decode()[first:last]
        yield "base64 for URLs", base64.urlsafe_b64encode(content).decode()[first:last]


def _cells(path: Path) -> Iterator[str]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as store:
        tables = [name for (name,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            for row in store.execute(f'SELECT * FROM "{table}"'):  # noqa: S608 - a name out of its own schema
                yield from (str(cell) for cell in row)
