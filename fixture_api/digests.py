"""Canonical JSON at the speed of the hot path, and the two digests of a journal row (CONTRACT §5)."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from json.encoder import encode_basestring

from contracts.canonical import canonical_json
from contracts.record import Json

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode

# Where Python's encoder and RFC 8785 can differ: floats, integers beyond 2**53, NaN and infinities, lone surrogates,
# and characters whose order in UTF-16 is not that of their code points. A string that merely looks like one of these
# takes the slow way too, which is right as well.
_MAY_DIFFER = re.compile(r"\d[.e]|\d{16}|NaN|Infinity|[\ud800-\U0010ffff]")


def canonical_text(value: Json) -> str:
    """RFC 8785's text of a JSON value: the same as `contracts.canonical.canonical_json`, mostly many times faster.

    Raises:
        ValueError: the value holds something that canonical JSON cannot carry.

    """
    text = _encode(value)
    return canonical_json(value).decode() if _MAY_DIFFER.search(text) else text


def sha256_hex(content: bytes) -> str:
    """64 hex digits."""
    return hashlib.sha256(content).hexdigest()


EMPTY_SHA256 = sha256_hex(b"")


def request_digest(  # noqa: PLR0913 - the parts that CONTRACT §5 names
    *,
    method: str,
    path: str,
    query: Sequence[tuple[str, str]],
    media_type: str | None,
    canonical_body: str | None,
    body: bytes,
) -> str:
    """`sha256:…` over `{method, path, query, mediaType, json}`, or `bodySha256` for `json` where the body is no JSON.

    `path` is decoded and without prefix, `query` sorted by key and value, `mediaType` lower-case without parameters
    or null. The text is put together in the order of RFC 8785 instead of being sorted again for each request.
    """
    if canonical_body is None:
        head = f'"bodySha256":"{sha256_hex(body) if body else EMPTY_SHA256}"'
    else:
        head = f'"json":{canonical_body}'
    media = "null" if media_type is None else encode_basestring(media_type)
    pairs = _encode(query) if query else "[]"
    text = f'{{{head},"mediaType":{media},"method":"{method}","path":{encode_basestring(path)},"query":{pairs}}}'
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def response_digest_tail(status: int, headers: Iterable[tuple[str, str]]) -> str:
    """What follows the body's digest in the text that a response digest is taken over."""
    return f'","headers":{canonical_text(dict(headers))},"status":{status}}}'


def response_digest(body: bytes, *, tail: str) -> str:
    """`sha256:…` over `{bodySha256, headers, status}`; headers are content-type and the route's own, lower-case."""
    text = '{"bodySha256":"' + (sha256_hex(body) if body else EMPTY_SHA256) + tail
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()
