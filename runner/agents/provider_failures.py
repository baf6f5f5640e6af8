"""Tells that the provider of a model failed, and not the agent, from a status or docker-agent's words: one table."""

from __future__ import annotations

import re

_ABOUT_THE_MODEL = re.compile(r"^Error: .*?(?:\bmodels? failed\b|\berror receiving from stream\b)", re.IGNORECASE)
_STATUS = re.compile(r"\bHTTP (\d{3})\b|\": ([45]\d\d) [A-Z]")
"""As docker-agent writes it, or as the clients of the providers do where it passes their text on."""

STATUSES = {
    401: "refused the credentials (HTTP 401)",
    403: "refused the request (HTTP 403)",
    429: "refused for its rate or quota (HTTP 429)",
}
"""Besides these every 5xx; any other status says that the request was wrong, which is the agent's doing."""

NETWORK = (
    ("connection refused", "refused the connection"),
    ("no such host", "has a name that cannot be resolved"),
    ("server misbehaving", "has a name that cannot be resolved"),
    ("temporary failure in name resolution", "has a name that cannot be resolved"),
    ("connection reset", "cut the connection"),
    ("unexpected eof", "cut the connection"),
    ("network is unreachable", "cannot be reached"),
    ("no route to host", "cannot be reached"),
    ("connection timed out", "did not answer in time"),
    ("i/o timeout", "did not answer in time"),
    ("tls handshake timeout", "did not answer in time"),
    ("awaiting headers", "did not answer in time"),
    ("deadline exceeded", "did not answer in time"),
)
"""Words of an error without a status, lower case, and what they say of the provider."""


def provider_failure(error: str) -> str | None:
    """What the provider did, as the end of "its model's provider …"; None when the line says nothing of the kind.

    `error` is one line of docker-agent's standard error that begins with `Error: `. A status decides alone: what a
    provider writes beside it may hold any of the other words.
    """
    about = _ABOUT_THE_MODEL.match(error)
    if about is None:
        return None
    rest = error[about.end() :]
    if status := _STATUS.search(rest):
        return failure_by_status(int(status[1] or status[2]))
    words = rest.lower()
    return next((said for word, said in NETWORK if word in words), None)


def failure_by_status(status: int) -> str | None:
    """What a provider did that answered with that status of an error, as `provider_failure` says it."""
    if status in STATUSES:
        return STATUSES[status]
    return f"failed (HTTP {status})" if status in range(500, 600) else None
