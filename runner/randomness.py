"""The runner's only source of randomness."""

from __future__ import annotations

import secrets


def random_bytes(count: int) -> bytes:
    """Bytes that nobody can guess."""
    return secrets.token_bytes(count)
