"""Where an attempt waits before it begins, as long as the driver has too many that it did not judge yet."""

from __future__ import annotations

import threading
from collections.abc import Callable

from contracts.pace import Pace

_LOOK_S = 0.1


class Gate:
    """Open until the driver says that no further attempt may begin; safe for many threads."""

    def __init__(self) -> None:
        self._is_open = threading.Event()
        self._is_open.set()

    def hear(self, line: bytes) -> None:
        """Take what the driver says; raises pydantic.ValidationError for a line that says nothing of the pace."""
        if Pace.model_validate_json(line).hold:
            self._is_open.clear()
        else:
            self._is_open.set()

    def wait(self, *, unless: Callable[[], bool]) -> None:
        """Wait until it is open, or until `unless` holds."""
        while not self._is_open.wait(_LOOK_S) and not unless():
            continue
