"""--env-from-file: the rules of docker's --env-file, with every wrong line named at once."""

from __future__ import annotations

import errno
import os
import select
import stat
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from contracts.errors import ErrorCode, Found, LabError

_BLANKS = " \t"
_BOM = b"\xef\xbb\xbf"
FLAG = "--env-from-file"
LARGEST_BYTES = 1 << 20
_NO_WRITER_S = 2.0
"""How long a pipe may stand there without anybody who opened it for writing."""
_LOOK_AGAIN_S = 0.02


def read_env_values(path: Path, *, host: Mapping[str, str]) -> dict[str, str]:
    """Values by name: `KEY=VALUE` kept whole to the line's end, `KEY` alone takes the host's; `#` begins a comment.

    Raises:
        LabError: BAD_USAGE for a file that cannot be read, or with all of its wrong lines.

    """
    try:
        content = _content(path)
    except OSError as error:
        raise LabError(
            ErrorCode.BAD_USAGE,
            f"{FLAG} cannot be read",
            found=[Found(error.strerror or str(error), str(path))],
            next_step=f"{FLAG} FILE, with lines of KEY=VALUE",
        ) from error
    values: dict[str, str] = {}
    problems: list[Found] = []
    for number, raw in _lines(content):
        try:
            name, value = _entry(raw)
        except ValueError as trouble:
            problems.append(Found(str(trouble), str(path), f"line {number}"))
            continue
        value = host.get(name) if value is None else value
        if value is not None:
            values[name] = value
    if problems:
        raise LabError(
            ErrorCode.BAD_USAGE,
            f"{FLAG} has lines that are no KEY=VALUE",
            found=problems,
            expected="KEY=VALUE, KEY, an empty line or # and a comment",
        )
    return values


def _content(path: Path) -> bytes:
    """The bytes, also of a pipe such as a shell's `<(…)`; raises OSError, too for what nobody writes or has no end."""
    content = bytearray()
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # else a fifo without a writer holds us here
    with os.fdopen(handle, "rb", buffering=0) as stream:
        is_pipe, began_at = stat.S_ISFIFO(os.fstat(handle).st_mode), time.monotonic()
        while len(content) <= LARGEST_BYTES:
            piece = stream.read(LARGEST_BYTES)
            if piece is None:  # somebody may still write
                select.select([stream], [], [])
            elif piece or (is_pipe and not content and time.monotonic() - began_at < _NO_WRITER_S):
                content += piece
                time.sleep(0 if piece else _LOOK_AGAIN_S)
            elif is_pipe and not content:
                raise OSError(errno.ETIMEDOUT, "is a pipe, and nobody writes into it")
            else:
                return bytes(content)
    raise OSError(errno.EFBIG, f"has more than {LARGEST_BYTES} bytes")


def _lines(content: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines that say something, with their numbers from 1."""
    for number, line in enumerate(content.removeprefix(_BOM).split(b"\n"), start=1):
        text = line.removesuffix(b"\r").lstrip()
        if text and not text.startswith(b"#"):
            yield number, text


def _entry(raw: bytes) -> tuple[str, str | None]:
    """Name and value of a line; the value is None where there is no `=`. No message quotes a value."""
    try:
        line = raw.decode()
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8") from None
    name, given, value = line.partition("=")
    if not name:
        raise ValueError("has no name before the =")
    if not given and name != name.rstrip(_BLANKS):
        name = name.rstrip(_BLANKS)
    if any(blank in name for blank in _BLANKS):
        raise ValueError("has a blank in the name")
    if "\0" in line:
        raise ValueError("holds a zero byte, which no variable can")
    return name, value if given else None
