"""Canonical JSON at the speed of the hot path, and the two digests of a journal row (CONTRACT §5)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from importlib import import_module
from json import encoder
from json.encoder import JSONEncoder, encode_basestring
from typing import Any, cast

from contracts.canonical import canonical_json
from contracts.record import Json

# JSONEncoder.encode makes its C encoder anew for each call; here it is made once. In the order of its arguments: no
# look-out for circles, refuse other types, not ASCII only, no indent, compact, keys sorted, none skipped, NaN allowed.
_ENCODER_ARGUMENTS = (None, JSONEncoder().default, encode_basestring, None, ":", ",", True, False, True)
_encode: Callable[[Json, int], Iterable[str]] = vars(encoder)["c_make_encoder"](*_ENCODER_ARGUMENTS)

_NUMBER_MAY_DIFFER = re.compile(r"\d[.e]|\d{16}|NaN|Infinity")
_TEXT_MAY_DIFFER = re.compile("[\ud800-\U0010ffff]")


def canonical_text(value: Json, *, numbers_are_plain: bool = False) -> str:
    """RFC 8785's text of a JSON value: the same as `contracts.canonical.canonical_json`, mostly many times faster.

    Python's encoder and RFC 8785 differ in floats, integers beyond 2**53, NaN and infinities, lone surrogates, and
    keys whose order in UTF-16 is not that of their code points. A text without any sign of these is right as it is;
    `numbers_are_plain` says that the caller knows it of the numbers, which saves looking.

    Raises:
        ValueError: the value holds something that canonical JSON cannot carry.

    """
    text = "".join(_encode(value, 0))
    differs = not numbers_are_plain and _NUMBER_MAY_DIFFER.search(text)
    if differs or not (text.isascii() or not _TEXT_MAY_DIFFER.search(text)):
        return canonical_json(value).decode()
    return text


def _small_sha256() -> Callable[[bytes], Any]:
    """Python's own SHA-256, where this Python has it: OpenSSL's way to its own costs a small text twice as much."""
    for name in ("_sha2", "_sha256"):
        with suppress(ImportError):
            return cast("Callable[[bytes], Any]", import_module(name).sha256)
    return hashlib.sha256


_small = _small_sha256()
_SMALL_BYTES = 4096


def sha256_hex(content: bytes) -> str:
    """64 hex digits."""
    hashed = _small(content) if len(content) <= _SMALL_BYTES else hashlib.sha256(content)
    digits: str = hashed.hexdigest()
    return digits


EMPTY_SHA256 = sha256_hex(b"")


def digested_target(method: str, path: str) -> str:
    """Method and decoded path as they stand in the text of a request digest."""
    return f'"method":{encode_basestring(method)},"path":{encode_basestring(path)}'


def digested_media_type(media_type: str | None) -> str:
    """The media type as it stands in the text of a request digest."""
    return '"mediaType":' + ("null" if media_type is None else encode_basestring(media_type))


def request_digest(
    *, target: str, query: Sequence[tuple[str, str]], media_type: str, canonical_body: str | None, body: bytes
) -> str:
    """`sha256:…` over `{mediaType, method, path, query, json}`, with `bodySha256` for `json` where the body is no JSON.

    `target` and `media_type` come from the two functions above; `query` is sorted by key and value. The text is put
    together in the order of RFC 8785 instead of being sorted again for each request.
    """
    if canonical_body is None:
        head = f'"bodySha256":"{sha256_hex(body) if body else EMPTY_SHA256}"'
    else:
        head = f'"json":{canonical_body}'
    pairs = "".join(_encode(query, 0)) if query else "[]"
    text = f'{{{head},{media_type},{target},"query":{pairs}}}'
    return "sha256:" + sha256_hex(text.encode())


def response_digest_tail(status: int, headers: Iterable[tuple[str, str]]) -> str:
    """What follows the body's digest in the text that a response digest is taken over."""
    return f'","headers":{canonical_text(dict(headers))},"status":{status}}}'


def response_digest(body: bytes, *, tail: str) -> str:
    """`sha256:…` over `{bodySha256, headers, status}`; headers are content-type and the route's own, lower-case."""
    text = '{"bodySha256":"' + (sha256_hex(body) if body else EMPTY_SHA256) + tail
    return "sha256:" + sha256_hex(text.encode())
