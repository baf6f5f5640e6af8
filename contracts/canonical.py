"""Canonical JSON (RFC 8785) and the digests that are taken over it."""

from __future__ import annotations

import hashlib
from pathlib import Path

import rfc8785

from contracts.record import Json

_CHUNK_BYTES = 1 << 20


def canonical_json(value: Json) -> bytes:
    """The JCS bytes of a JSON value.

    Raises:
        rfc8785.CanonicalizationError: an integer beyond 2**53 - 1, NaN or an infinity.

    """
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
