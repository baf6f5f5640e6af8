"""A request as the world sees it: without prefix, read once, digested once."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, unquote

from contracts.record import Json
from fixture_api.digests import canonical_text, digested_media_type, digested_target, request_digest

MAX_JSON_DEPTH = 100
"""Deeper bodies are bytes to the lab: reading them recursively is what a hostile agent would hope for."""

MAX_JSON_VALUES = 100_000
"""A body of more is bytes to the lab: 8 MiB of empty lists would take 400 MiB, and seconds of everybody's time."""

_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"')
_VALUE_BYTES = 100
"""About what a value takes in memory beside its text."""

_MAX_QUERY_FIELDS = 10_000
_PLAIN_DIGITS = 15


class Absent:
    """The type of `ABSENT`: no JSON body, which is not the same as null."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent()


class Target(NamedTuple):
    """Method and path, without prefix."""

    method: str
    path: str
    """Decoded, beginning with a slash."""
    segments: list[str]
    """The parts between slashes, each decoded by itself: an encoded slash stays inside its segment."""
    digested: str
    """Both as they stand in the text of a request digest."""


class WorldRequest(NamedTuple):
    """One request; a tuple because the hot path makes one each time."""

    target: Target
    query: list[tuple[str, str]]
    """Decoded pairs in the order in which they came."""
    headers: list[tuple[bytes, bytes]]
    """Lower-case names."""
    body: Json
    """The JSON body, or ABSENT."""
    has_body: bool
    """Some bytes came, JSON or not."""
    digest: str
    weight: int
    """About how many bytes of memory its JSON body takes; 0 without one."""


def read_target(method: str, raw_path: bytes) -> Target:
    """Method and path as they came over the wire; whatever is in them, this does not raise."""
    path = raw_path.decode("latin-1") or "/"
    segments = path.split("/")[1:]
    if "%" in path:
        segments = [unquote(segment) for segment in segments]
        path = unquote(path)
    return Target(method, path, segments, digested_target(method, path))


def read_request(
    target: Target, *, query_string: bytes, headers: list[tuple[bytes, bytes]], body: bytes
) -> WorldRequest:
    """Reads what came over the wire; whatever is in there, this does not raise."""
    query = read_query(query_string) if query_string else []
    media_type = media_type_of(headers)
    value, canonical = read_json(body) if body and media_type.is_json else (ABSENT, None)
    weight = 0 if value is ABSENT else len(body) + _VALUE_BYTES * _signs_of_values(body)
    digest = request_digest(
        target=target.digested,
        query=sorted(query) if query else query,
        media_type=media_type.digested,
        canonical_body=canonical,
        body=body,
    )
    return WorldRequest(target, query, headers, value, bool(body), digest, weight)


def read_query(query_string: bytes) -> list[tuple[str, str]]:
    """The decoded pairs; keys without a value have the empty one."""
    text = query_string.decode("latin-1")
    try:
        return parse_qsl(text, keep_blank_values=True, max_num_fields=_MAX_QUERY_FIELDS)
    except ValueError:
        return [("", text)]  # more fields than any tool has: kept as one, so that the digest still tells them apart


class MediaType(NamedTuple):
    """A media type, lower-case and without parameters."""

    is_json: bool
    digested: str
    """As it stands in the text of a request digest."""


_NO_MEDIA_TYPE = MediaType(is_json=False, digested=digested_media_type(None))


def media_type_of(headers: list[tuple[bytes, bytes]]) -> MediaType:
    """The media type of a body."""
    for name, value in headers:
        if name == b"content-type":
            return _media_type(value)
    return _NO_MEDIA_TYPE


@lru_cache(maxsize=64)  # agents use a handful, and a hostile one cannot fill more
def _media_type(value: bytes) -> MediaType:
    name = value.partition(b";")[0].strip().decode("latin-1").lower()
    return MediaType(name == "application/json" or name.endswith("+json"), digested_media_type(name))


class _JsonReader:
    """Parses JSON and notices, while it parses, whether some number has another text in canonical JSON."""

    def __init__(self) -> None:
        self._numbers_are_plain = True
        self._decoder = json.JSONDecoder(
            parse_int=self._integer, parse_float=self._float, parse_constant=self._constant
        )

    def read(self, text: str) -> tuple[Json, str]:
        self._numbers_are_plain = True
        value = self._parse(text)
        if len(text) > MAX_JSON_DEPTH and text.count("[") + text.count("{") > MAX_JSON_DEPTH and is_too_deep(value):
            raise ValueError("nested too deeply")
        return value, canonical_text(value, numbers_are_plain=self._numbers_are_plain)

    def _parse(self, text: str) -> Json:
        if text.startswith(("{", "[")):
            # Bodies rarely have space around them, and looking for it takes as long as parsing a small one.
            value, end = self._decoder.raw_decode(text)
            if end == len(text):
                return value
        return self._decoder.decode(text)

    def _integer(self, text: str) -> int:
        if len(text) > _PLAIN_DIGITS:
            self._numbers_are_plain = False
        return int(text)

    def _float(self, text: str) -> float:
        self._numbers_are_plain = False
        return float(text)

    def _constant(self, text: str) -> float:
        raise ValueError(f"{text} is no JSON")


_READER = _JsonReader()


def read_json(body: bytes) -> tuple[Json, str | None]:
    """The value and its canonical text; (ABSENT, None) for what is no JSON or what canonical JSON cannot carry.

    Such a body (NaN, an integer beyond 2**53, a lone surrogate) is bytes to every part of the lab, so that none of it
    can get into a state that could not be digested. So is one of more than MAX_JSON_VALUES values.
    """
    try:
        text = body.decode()
        if (
            len(body) > MAX_JSON_VALUES  # a shorter one cannot have so many, and most are
            and _signs_of_values(body) > MAX_JSON_VALUES
            and _signs_of_values(_STRINGS.sub("", text).encode()) > MAX_JSON_VALUES
        ):
            return ABSENT, None
        return _READER.read(text)
    except (ValueError, RecursionError):
        return ABSENT, None


def _signs_of_values(body: bytes) -> int:
    """At least as many as there are values, but for the first; those in strings count too."""
    return body.count(b",") + body.count(b"[") + body.count(b"{")


def is_too_deep(value: Json) -> bool:
    """True for more than MAX_JSON_DEPTH containers in one another; does not recurse."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(MAX_JSON_DEPTH):
        level = [
            member
            for container in level
            for member in (container.values() if isinstance(container, dict) else container)
            if isinstance(member, dict | list)
        ]
    return bool(level)
