"""The fixture API's only reader of the machine's clock: when an answer was decided; traces have it, nothing served."""

from __future__ import annotations

from time import time_ns

__all__ = ["time_ns"]
