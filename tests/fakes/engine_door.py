"""A socket that leads to the engine until a test shuts it, as an engine that dies and returns looks to a client."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_ENGINE = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock").removeprefix("unix://")
_PIECE = 64 * 1024


class EngineDoor:
    """Forwards connections to the engine of this machine."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.host = f"unix://{path}"
        self._listener: socket.socket | None = None
        self._open: set[socket.socket] = set()

    def open(self) -> None:
        """From now on the engine answers."""
        self.path.unlink(missing_ok=True)
        listener = self._listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(self.path))
        listener.listen(64)
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def shut(self) -> None:
        """Every connection is cut, and nobody answers any more."""
        if self._listener is not None:
            self.path.unlink()
            _end(self._listener)
            self._listener = None
        for one in tuple(self._open):
            _end(one)

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):  # it was shut
            while True:
                client = listener.accept()[0]
                engine = socket.socket(socket.AF_UNIX)
                engine.connect(_ENGINE)
                self._open |= {client, engine}
                for pair in ((client, engine), (engine, client)):
                    threading.Thread(target=self._hand_on, args=pair, daemon=True).start()

    def _hand_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):  # one of them is gone
            while piece := source.recv(_PIECE):
                target.sendall(piece)
            target.shutdown(socket.SHUT_WR)  # the other direction may go on: that is how a stdin ends


def _end(one: socket.socket) -> None:
    with suppress(OSError):  # it ended by itself
        one.shutdown(socket.SHUT_RDWR)
    one.close()


@contextmanager
def engine_door(path: Path) -> Iterator[EngineDoor]:
    """Within: it may be opened and shut; it is open at first."""
    door = EngineDoor(path)
    door.open()
    try:
        yield door
    finally:
        door.shut()
