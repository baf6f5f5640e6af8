"""The proxies of one concurrency slot: named, made anew for each attempt, counted by differences.

toxiproxy never drops a series of its counters, so names and ports are used again. Each name has every second attempt
only: what the counters of one still had to count when it ended is counted by the time the name is used again. Where an
agent may outlive its attempt, nothing is used again: what it still asks would be counted for whoever has its port then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from contracts.order import FaultProxyOrder
from contracts.suite.fault import Toxic
from runner import clock
from runner.faults.counters import Counters
from runner.faults.proxy_door import ProxyDoor
from runner.faults.trouble import FaultProxyError, FaultProxyRefusedError
from runner.faults.witness import all_met

_SETTLING_S = (0.005, 0.02)
"""Pauses before the counters are read again while they do not tell that every fault was met."""


@dataclass
class Slot:
    """For one attempt at a time: `apply`, then `end`."""

    name: str
    """Unique among all that use the same toxiproxy."""
    door: ProxyDoor
    where: FaultProxyOrder
    is_outlived: bool = False
    """Whether an agent may ask on when its attempt is over."""
    _attempts: int = 0
    _generation: int = 0
    _ports: dict[str, int] = field(default_factory=dict)
    _before: Mapping[str, Counters] = field(default_factory=dict)
    _made: dict[str, str] = field(default_factory=dict)
    """Target to the name of its proxy, of the attempt under way."""
    _toxics: Sequence[Toxic] = ()

    def apply(self, toxics: Sequence[Toxic], upstreams: Mapping[str, str]) -> dict[str, str]:
        """Make the proxies that the toxics need; target to the `host:port` where agents reach it.

        Raises FaultProxyError, and then nothing of them is left.
        """
        self._attempts += 1
        self._toxics = toxics
        found: dict[str, str] = {}
        try:
            for target in dict.fromkeys(toxic.target for toxic in toxics):
                own = [toxic for toxic in toxics if toxic.target == target]
                port = self._make(target, upstream=upstreams[target], toxics=own)
                found[target] = f"{self.where.host}:{port}"
        except FaultProxyError:
            self._remove()
            raise
        return found

    def _make(self, target: str, *, upstream: str, toxics: Sequence[Toxic]) -> int:
        name = f"{self.name}-{target}-{'ab'[self._attempts % 2]}{self._generation}"
        port = self._ports.get(name, 0)
        try:
            made = self._made_at(port, name, upstream=upstream, toxics=toxics)
        except FaultProxyRefusedError:
            if not port:
                raise
            # somebody took the port meanwhile: any other will do
            made = self._made_at(0, name, upstream=upstream, toxics=toxics)
        self._ports[name] = made
        self._made[target] = name
        return made

    def _made_at(self, port: int, name: str, *, upstream: str, toxics: Sequence[Toxic]) -> int:
        return self.door.make(name, listen=f"{self.where.listen}:{port}", upstream=upstream, toxics=toxics)

    def end(self) -> dict[str, Counters]:
        """End the proxies with all their connections; by target what went through. Raises FaultProxyError."""
        made, before = dict(self._made), self._before
        self._remove()
        flows = self._read(made, before)
        for pause_s in _SETTLING_S:
            if all_met(self._toxics, flows):
                break
            clock.pause(pause_s)
            flows = self._read(made, before)
        # what a slow_close still holds back is counted when it lets go, whenever that is
        if self.is_outlived or any(toxic.type == "slow_close" for toxic in self._toxics):
            self._generation += 1
        return flows

    def _remove(self) -> None:
        """End every proxy of the attempt; the first failure is told when all were tried."""
        failures = []
        for name in self._made.values():
            try:
                self.door.remove(name)
            except FaultProxyError as trouble:
                failures.append(trouble)
        self._made = {}
        if failures:
            self._generation += 1  # nobody knows whether the old names are free
            raise failures[0]

    def _read(self, made: Mapping[str, str], before: Mapping[str, Counters]) -> dict[str, Counters]:
        self._before = self.door.counters()
        nothing = Counters()
        return {target: self._before.get(name, nothing) - before.get(name, nothing) for target, name in made.items()}
