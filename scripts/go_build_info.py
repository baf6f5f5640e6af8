"""Reads which Go modules a program was built from, out of the program itself, as `go version -m` does."""

from __future__ import annotations

from dataclasses import dataclass

_MAGIC = b"\xff Go buildinf:"
_HEADER_BYTES = 32
_FLAGS_AT = 15
_INLINE = 2
_SENTINEL_BYTES = 16
_VARINT_BITS = 7


@dataclass(frozen=True, order=True)
class GoModule:
    """One module, the program's own or one that it needs."""

    path: str
    version: str
    sum: str | None
    """`h1:…`: of its files, as the checksum database has it; None for a program that was built in its own checkout."""


@dataclass(frozen=True)
class GoProgram:
    """What a program says of itself."""

    go: str
    """Version of the toolchain, and so of its standard library."""
    modules: tuple[GoModule, ...]


def go_program(content: bytes) -> GoProgram | None:
    """The build info of a program; None for bytes that are no Go program.

    Raises:
        ValueError: for build info of a Go older than 1.18, which lies elsewhere, and for one that is cut.

    """
    at = content.find(_MAGIC)
    if not content.startswith(b"\x7fELF") or at < 0:
        return None
    if at + _HEADER_BYTES > len(content) or not content[at + _FLAGS_AT] & _INLINE:
        raise ValueError("the build info is cut, or of a Go older than 1.18")
    version, after = _text(content, at + _HEADER_BYTES)
    about, _ = _text(content, after)
    if len(about) < 2 * _SENTINEL_BYTES:
        raise ValueError("the build info names no module")
    return GoProgram(version.decode(), tuple(sorted(_modules(about[_SENTINEL_BYTES:-_SENTINEL_BYTES].decode()))))


def _text(content: bytes, at: int) -> tuple[bytes, int]:
    """A length as varint and as many bytes; they, and where they end."""
    length = shift = 0
    while True:
        if at >= len(content):
            raise ValueError("the build info is cut")
        byte = content[at]
        at += 1
        length |= (byte & 0x7F) << shift
        shift += _VARINT_BITS
        if byte < 1 << _VARINT_BITS:
            break
    if at + length > len(content):
        raise ValueError("the build info is cut")
    return content[at : at + length], at + length


def _modules(about: str) -> list[GoModule]:
    """Lines `mod|dep PATH VERSION [SUM]`; a line `=>` replaces the module before it."""
    found: list[GoModule] = []
    for line in about.splitlines():
        kind, *fields = line.split("\t")
        if kind not in ("mod", "dep", "=>"):
            continue
        if kind == "=>":
            found.pop()
        path, version, *rest = fields
        found.append(GoModule(path, version, rest[0] if rest and rest[0] else None))
    return found
