"""Canonical JSON (RFC 8785) and the digests that are taken over it."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import rfc8785

from contracts.record import Json

_CHUNK_BYTES = 1 << 20
_encode = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
_MAY_DIFFER = re.compile(r"[:,\[]-?\d+(?:[.e]|\d{15})")
"""What the standard library might write otherwise than RFC 8785: a fraction, an exponent, a very long integer."""


def canonical_json(value: Json) -> bytes:
    """The JCS bytes of a JSON value.

    Raises:
        rfc8785.CanonicalizationError: an integer beyond 2**53 - 1, NaN or an infinity.

    """
    try:
        text = _encode(value)
        # Without such numbers, and with no character above U+FFFF (which UTF-16 sorts otherwise), both write the same
        # bytes, and the standard library is 20 times as quick.
        if text[0] in '{["tfn' and not _MAY_DIFFER.search(text) and (text.isascii() or max(text) <= "\uffff"):
            return text.encode()
    except ValueError:
        pass  # NaN, an infinity or a lone surrogate: the library below names it
    return rfc8785.dumps(value)


def digest_of_bytes(content: bytes) -> str:
    """`sha256:<64 hex digits>` of the bytes as they are."""
    return "sha256:" + hashlib.sha256(content).hexdigest()


def digest_of_json(value: Json) -> str:
    """`sha256:<64 hex digits>` of the canonical JSON of the value; see `canonical_json` for what it raises."""
    return digest_of_bytes(canonical_json(value))


def digest_of_file(path: Path) -> str:
    """`sha256:<64 hex digits>` of a file's content, read in pieces; raises OSError as `open` does."""
    sha256 = hashlib.sha256()
    with path.open("rb") as stream:
        while piece := stream.read(_CHUNK_BYTES):
            sha256.update(piece)
    return "sha256:" + sha256.hexdigest()


def digest_of_tree(files: dict[str, Path]) -> str:
    """One digest for a set of files: the canonical JSON of their names and content digests."""
    return digest_of_json({name: digest_of_file(path) for name, path in files.items()})
