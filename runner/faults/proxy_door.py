"""The one door to toxiproxy: every call has a time limit, every refusal is an error, what was made is read back.

toxiproxy-python has one server for the whole process, no time limit and no kept connection, takes a 500 for success and
loses toxics that it populates: what is used of it are its objects and its reading of answers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from toxiproxy import Proxy
from toxiproxy.api import validate_response
from toxiproxy.exceptions import InvalidToxic, NotFound, ProxyExists
from toxiproxy.toxic import Toxic as SeenToxic

from contracts.suite.fault import Toxic
from runner import clock
from runner.faults.counters import Counters, counters_in
from runner.faults.trouble import FaultProxyError, FaultProxyRefusedError
from runner.http_calls import Server, TimedOutError, UnreachableError

CALL_S = 5.0
"""The slowest call makes or ends a proxy, which takes a millisecond."""
KEPT_S = 30.0
"""toxiproxy closes a connection that was idle for 60 s; one that was idle this long is not used again."""
_REFUSED = 400
_SHOWN = 200
_JSON = {"content-type": "application/json"}


class _Said(NamedTuple):
    """An answer as toxiproxy-python reads it."""

    status_code: int
    content: bytes


class ProxyDoor:
    """One kept-alive connection to toxiproxy's API; for one thread at a time."""

    def __init__(self, host: str, port: int) -> None:
        self._server = Server(f"http://{host}:{port}", connections=1)
        self._used_s = clock.elapsed_s()

    def close(self) -> None:
        """Close the connection."""
        self._server.close()

    def version(self) -> str:
        """Of toxiproxy; raises FaultProxyError where something else answers."""
        return str(self._json("GET", "/version")["version"])

    def make(self, name: str, *, listen: str, upstream: str, toxics: Sequence[Toxic]) -> int:
        """Make a proxy with these toxics and read it back; the port that it listens on.

        Raises:
            FaultProxyRefusedError: it could not be made, such as for an address that is taken.
            FaultProxyError: it is not what was asked for, or no answer came.

        """
        asked = {"name": name, "listen": listen, "upstream": upstream, "enabled": True}
        self._json("POST", "/proxies", asked)
        try:
            for index, toxic in enumerate(toxics):
                self._json("POST", f"/proxies/{name}/toxics", _asked(toxic, index))
            return self._checked(name, listen=listen, upstream=upstream, toxics=toxics)
        except FaultProxyError:
            self.remove(name)
            raise

    def _checked(self, name: str, *, listen: str, upstream: str, toxics: Sequence[Toxic]) -> int:
        answer = self._json("GET", f"/proxies/{name}")
        proxy = Proxy(**{key: answer[key] for key in ("name", "upstream", "enabled", "listen")})
        seen = sorted(map(_told, (SeenToxic(**one) for one in answer["toxics"])))
        wanted = sorted(_wanted(toxic, index) for index, toxic in enumerate(toxics))
        host, _, port = proxy.listen.rpartition(":")
        asked_host, _, asked_port = listen.rpartition(":")
        is_there = (proxy.name, proxy.upstream, proxy.enabled, host) == (name, upstream, True, asked_host)
        if not is_there or asked_port not in {"0", port} or not port.isdigit() or seen != wanted:
            raise FaultProxyError(f"read back, the proxy {name} is {answer}, asked for were {listen} and {wanted}")
        return int(port)

    def remove(self, name: str) -> None:
        """End a proxy with all of its connections."""
        self._answer("DELETE", f"/proxies/{name}")

    def counters(self) -> Mapping[str, Counters]:
        """Of every proxy that ever was, by its name."""
        return counters_in(self._answer("GET", "/metrics").decode(errors="replace"))

    def _json(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        try:
            found = json.loads(self._answer(method, path, body))
        except ValueError as trouble:
            raise FaultProxyError(f"{method} {path} was answered with something that is not JSON") from trouble
        if not isinstance(found, dict):
            raise FaultProxyError(f"{method} {path} was answered with no object")
        return found

    def _answer(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> bytes:
        if clock.elapsed_s() - self._used_s > KEPT_S:
            self._server.close()
        content = None if body is None else json.dumps(body).encode()
        try:
            answer = self._server.exchange(method, path, body=content, headers=_JSON, seconds=CALL_S)
            validate_response(_Said(answer.status, answer.body))
        except (UnreachableError, TimedOutError) as trouble:
            raise FaultProxyError(f"it gave no answer to {method} {path} ({trouble})") from trouble
        except (ProxyExists, NotFound, InvalidToxic) as trouble:
            raise FaultProxyRefusedError(f"it refused {method} {path}: {_shown(trouble.args[0])}") from trouble
        finally:
            self._used_s = clock.elapsed_s()
        if answer.status >= _REFUSED:
            raise FaultProxyRefusedError(f"it answered {answer.status} to {method} {path}: {_shown(answer.body)}")
        return answer.body


def _asked(toxic: Toxic, index: int) -> dict[str, Any]:
    return {
        "name": _name(index),
        "type": toxic.type,
        "stream": toxic.stream,
        "toxicity": 1.0,
        "attributes": toxic.attributes,
    }


def _name(index: int) -> str:
    """Of one toxic among others that may have its type and stream."""
    return f"fault-{index}"


Told = tuple[str, str, str, float, tuple[tuple[str, int], ...]]


def _told(toxic: Any) -> Told:
    given = tuple(sorted((name, value) for name, value in toxic.attributes.items() if value))
    return toxic.name, toxic.type, toxic.stream, toxic.toxicity, given


def _wanted(toxic: Toxic, index: int) -> Told:
    given = tuple(sorted((name, value) for name, value in toxic.attributes.items() if value))
    return _name(index), toxic.type, toxic.stream, 1.0, given  # toxiproxy takes 0 for one that is absent


def _shown(content: bytes) -> str:
    return content[:_SHOWN].decode(errors="replace").strip()
