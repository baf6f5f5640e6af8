"""The engine's fixtures, for the loops that need one: they belong to the folder of Compose tests."""

from __future__ import annotations

from tests.compose.conftest import engine, images

__all__ = ["engine", "images"]
