"""The fault proxy as attempts use it: tried before the first one, then a slot for each that has network faults."""

from __future__ import annotations

import queue
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

from contracts.errors import ErrorCode, Found, LabError
from contracts.order import FaultProxyOrder
from contracts.suite.fault import Toxic
from runner import clock
from runner.faults.counters import ProxiedAttempt
from runner.faults.proxy_door import ProxyDoor
from runner.faults.slots import Slot
from runner.faults.trouble import FaultProxyError
from runner.randomness import random_bytes

PROBE = Toxic(type="timeout", attributes={"timeout": 1})
_RETRY_S = 0.02


class FaultProxies:
    """As many slots as attempts are made side by side; safe for many threads."""

    def __init__(self, where: FaultProxyOrder, *, slots: int, is_outlived: bool = False) -> None:
        """`is_outlived`: nobody ends the agent with its attempt, so that it may ask on."""
        self._where = where
        self._is_outlived = is_outlived
        self._mark = f"labctl-{random_bytes(4).hex()}"
        self._free: queue.LifoQueue[Slot] = queue.LifoQueue()
        self._slots = [self._slot(number) for number in range(1, slots + 1)]
        for slot in reversed(self._slots):
            self._free.put(slot)

    def _slot(self, number: int) -> Slot:
        return Slot(f"{self._mark}-{number}", door=self._door(), where=self._where, is_outlived=self._is_outlived)

    def _door(self) -> ProxyDoor:
        return ProxyDoor(self._where.admin_host, self._where.admin_port)

    def probe(self, *, seconds: float) -> None:
        """Wait for toxiproxy, then make a proxy, read it back and end it.

        Raises:
            LabError: FAULT_NOT_APPLIED when it does not answer within `seconds`, or does not do it.

        """
        door = self._door()
        try:
            self._await(door, seconds=seconds)
            name = f"{self._mark}-probe"
            door.make(name, listen=f"{self._where.listen}:0", upstream=self._where.upstream, toxics=[PROBE])
            door.remove(name)
            door.counters()
        except FaultProxyError as trouble:
            raise self._not_applied(trouble) from trouble
        finally:
            door.close()

    def _await(self, door: ProxyDoor, *, seconds: float) -> None:
        until = clock.elapsed_s() + seconds
        while True:
            try:
                door.version()
            except FaultProxyError:
                if clock.elapsed_s() + _RETRY_S > until:
                    raise
                clock.pause(_RETRY_S)
            else:
                return

    def _not_applied(self, trouble: FaultProxyError) -> LabError:
        return LabError(
            ErrorCode.FAULT_NOT_APPLIED,
            "the fault proxy does not take a proxy with a toxic and give it back as it was asked for",
            found=[Found(str(trouble), place=f"{self._where.admin_host}:{self._where.admin_port}")],
            expected="toxiproxy 2.12 with -proxy-metrics",
            next_step="look at the log of fault-proxy, or run without --profile fault",
        )

    @contextmanager
    def around(self, toxics: Sequence[Toxic], *, fixture_url: str, model_url: str) -> Iterator[ProxiedAttempt]:
        """Within: both URLs lead through proxies with the toxics of their target. After: the proxies are gone.

        Raises FaultProxyError before the block, when it could not be done, and after it, when nobody can tell what
        happened.
        """
        slot = self._free.get_nowait()
        try:
            urls = {"tools": fixture_url, "model": model_url}
            places = slot.apply(toxics, {target: self._upstream(url, fixture_url) for target, url in urls.items()})
            for target, place in places.items():
                urls[target] = urlsplit(urls[target])._replace(scheme="http", netloc=place).geturl()
            attempt = ProxiedAttempt(fixture_url=urls["tools"], model_url=urls["model"])
            try:
                yield attempt
            except BaseException:
                with suppress(FaultProxyError):  # what went wrong in the block is told
                    slot.end()
                raise
            attempt.flows = slot.end()
        finally:
            self._free.put(slot)

    def _upstream(self, url: str, fixture_url: str) -> str:
        """`host:port` behind a URL as toxiproxy reaches it."""
        parts = urlsplit(url)
        if parts.netloc == urlsplit(fixture_url).netloc:
            return self._where.upstream
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
        return f"{host}:{parts.port or 80}"

    def close(self) -> None:
        """Close the connections to toxiproxy."""
        for slot in self._slots:
            slot.door.close()
