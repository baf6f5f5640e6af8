"""The fixture API's data port as the lab's own loop reaches it: on shared connections, or through a proxy."""

from __future__ import annotations

from dataclasses import dataclass

from runner.http_calls import Exchange, Server


@dataclass(frozen=True)
class DataPort:
    """Where requests of attempts go."""

    origin: str
    """`http://host:port`, without a slash at its end."""
    shared: Exchange

    def at(self, url: str) -> tuple[Exchange, str]:
        """Whom to ask for what stands below a URL, and with which prefix of the path.

        Through a proxy each request has a connection of its own, closed here once its answer is whole: toxics count by
        connection, and what a connection carried is counted at its end.
        """
        if url.startswith(f"{self.origin}/"):
            return self.shared, url.removeprefix(self.origin)
        return Server(url, connections=0), ""
