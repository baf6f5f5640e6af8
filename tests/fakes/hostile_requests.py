"""Requests as no sane client sends them, from a seeded generator: odd in one part, in several, or in how they come."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import NamedTuple

from tests.fakes import hostile_parts as parts
from tests.fakes.raw_wire import chunked

MIB = 1024 * 1024


class Hostile(NamedTuple):
    """What is sent, and how."""

    pieces: tuple[bytes, ...]
    pause_s: float
    """Between two pieces."""
    ends: bool
    """The client closes its side at the end: it cannot expect an answer."""


def hostile_requests(count: int, *, seed: int, prefix: str) -> list[Hostile]:
    """So many requests below a prefix (or below none), always the same ones for a seed."""
    rng = random.Random(seed)  # noqa: S311 - the same each time is what is wanted
    return [_hostile(rng, prefix.encode()) for _ in range(count)]


def _hostile(rng: random.Random, prefix: bytes) -> Hostile:
    if rng.random() < 0.03:
        return _come(rng, rng.choice(parts.JUNK))
    if rng.random() < 0.03:
        return _come(rng, rng.randbytes(rng.randrange(1, 400)))
    content = _request(rng, prefix)
    if rng.random() < 0.1:
        content += _request(rng, prefix) + _request(rng, prefix)
    if rng.random() < 0.05:
        at = rng.randrange(len(content))
        content = content[:at] + rng.randbytes(rng.randrange(1, 4)) + content[at + 1 :]
    return _come(rng, content)


def _request(rng: random.Random, prefix: bytes) -> bytes:
    headers = [rng.choice(parts.HEADERS) for _ in range(rng.choice((0, 0, 0, 0, 1, 2)))]
    framings = _FRAMINGS if rng.random() < 0.4 else _RIGHT_FRAMINGS
    framing, body = rng.choice(framings)(rng, rng.choice(parts.JSON) if rng.random() < 0.9 else rng.randbytes(50))
    headers += framing
    if body:
        headers.append(b"content-type: " + rng.choice(parts.TYPES))
    rng.shuffle(headers)
    method = rng.choice(parts.METHODS) if rng.random() < 0.2 else rng.choice((b"GET", b"POST", b"PUT"))
    line = method + b" " + _target(rng, prefix) + (rng.choice(parts.VERSIONS) if rng.random() < 0.2 else b" HTTP/1.1")
    return b"\r\n".join((line, b"host: lab", *headers, b"", body))


def _target(rng: random.Random, prefix: bytes) -> bytes:
    path = (
        rng.choice(parts.TARGETS)
        if rng.random() < 0.8
        else b"/" + bytes(rng.choices(range(0x21, 0x7F), k=rng.randrange(30)))
    )
    if rng.random() < 0.4:
        return prefix + rng.choice(parts.RIGHT_TARGETS)
    where = rng.random()
    if where < 0.8:
        return prefix + path
    if where < 0.9:
        return (
            rng.choice((b"http://lab", b"HTTP://[::1]:80", b"https://a@b:c@d", b"ftp://x", b"//lab", b""))
            + prefix
            + path
        )
    return rng.choice(
        (
            b"*",
            b"lab:443",
            b"http://lab",
            b"/~",
            b"/~" + b"0" * 32,
            b"/~" + b"g" * 32 + path,
            b"/%7e" + prefix[2:] + path,
            path,
        )
    )


Framed = tuple[list[bytes], bytes]


def _lengths(*lengths: Callable[[int], object]) -> Callable[[random.Random, bytes], Framed]:
    def framed(_rng: random.Random, body: bytes) -> Framed:
        return [f"content-length: {length(len(body))}".encode() for length in lengths], body

    return framed


def _none(_rng: random.Random, _body: bytes) -> Framed:
    return [], b""


def _chunked(*also: bytes) -> Callable[[random.Random, bytes], Framed]:
    def framed(rng: random.Random, body: bytes) -> Framed:
        at = rng.randrange(len(body) + 1)
        return [b"transfer-encoding: chunked", *also], chunked(*filter(None, (body[:at], body[at:])))

    return framed


def _badly_chunked(rng: random.Random, body: bytes) -> Framed:
    return [b"transfer-encoding: chunked"], chunked(body)[:-5] + rng.choice(parts.BAD_CHUNKS)


def _oddly_coded(rng: random.Random, body: bytes) -> Framed:
    codings = (
        b"gzip, chunked",
        b"chunked, gzip",
        b"identity",
        b"xchunked",
        b"chunked;q=1",
        b" chunked",
        b"",
        b"chunked, chunked",
    )
    return [b"transfer-encoding: " + rng.choice(codings)], chunked(body)


_RIGHT_FRAMINGS = (_none, _lengths(lambda length: length), _chunked())
_FRAMINGS: tuple[Callable[[random.Random, bytes], Framed], ...] = (
    *[_badly_chunked] * 3,
    _oddly_coded,
    _chunked(b"content-length: 3"),
    _chunked(b"transfer-encoding: chunked"),
    _lengths(lambda length: length + 1),
    _lengths(lambda length: max(length - 1, 0)),
    _lengths(lambda length: length, lambda length: length),
    _lengths(lambda length: length, lambda length: length + 1),
    _lengths(lambda length: f"{length}, {length}"),
    _lengths(lambda length: f"+{length}"),
    _lengths(lambda length: -length - 1),
    _lengths(lambda _: "0x5"),
    _lengths(lambda _: 10**30),
    _lengths(lambda _: 2**63),
)


def _come(rng: random.Random, content: bytes) -> Hostile:
    """Whole, in two pieces, cut short with and without an end, or byte by byte."""
    how = rng.random()
    at = rng.randrange(1, len(content) + 1)
    if not content[:at].strip(b"\r\n"):
        return Hostile((content,), 0, ends=True)  # no request has begun: such a connection stays open
    if how < 0.72:
        return Hostile((content,), 0, ends=False)
    if how < 0.84:
        return Hostile((content[:at], content[at:]), 0.001, ends=False)
    if how < 0.9:
        return Hostile((content[:at],), 0, ends=True)
    if how < 0.97:
        return Hostile((content[:at],), 0, ends=False)
    return Hostile(tuple(content[place : place + 1] for place in range(min(len(content), 400))), 0.005, ends=False)


def big_request(prefix: str, size: int, *, is_chunked: bool, closes: bool = False) -> bytes:
    """A JSON text of that many bytes as the body of a request."""
    body = json.dumps("x" * (size - 2)).encode()
    framing = b"transfer-encoding: chunked" if is_chunked else b"content-length: %d" % len(body)
    pieces = (body[at : at + MIB] for at in range(0, len(body), MIB))
    connection = b"connection: close\r\n" if closes else b""
    head = b"PATCH %s/echo HTTP/1.1\r\nhost: lab\r\ncontent-type: application/json\r\n%s%s\r\n\r\n"
    return head % (prefix.encode(), connection, framing) + (chunked(*pieces) if is_chunked else body)
