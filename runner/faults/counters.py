"""The bytes that went through a proxy, as toxiproxy counts them when a connection ends."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Stream = Literal["upstream", "downstream"]
_SERIES = re.compile(r"^toxiproxy_proxy_(received|sent)_bytes_total\{(.*)\} (\S+)$", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True)
class Flow:
    """One direction: what the proxy received, and what it passed on."""

    received: int = 0
    sent: int = 0

    def __sub__(self, before: Flow) -> Flow:
        return Flow(self.received - before.received, self.sent - before.sent)


@dataclass(frozen=True)
class Counters:
    """Both directions of a proxy, over all of its connections that have ended."""

    upstream: Flow = Flow()
    """From the agent to its tools or its model."""
    downstream: Flow = Flow()
    """Back to the agent."""

    def __sub__(self, before: Counters) -> Counters:
        return Counters(self.upstream - before.upstream, self.downstream - before.downstream)

    def of(self, stream: Stream) -> Flow:
        """The direction of that name."""
        return self.upstream if stream == "upstream" else self.downstream


@dataclass
class ProxiedAttempt:
    """An attempt whose connections lead through proxies; `flows`, by target, are there once it was left."""

    fixture_url: str
    model_url: str
    flows: Mapping[str, Counters] = field(default_factory=dict)


def counters_in(metrics: str) -> Mapping[str, Counters]:
    """By the name of the proxy, whatever addresses it listened on; `metrics` is the text of /metrics."""
    totals: dict[str, dict[tuple[str, str], int]] = {}
    for kind, labels, value in _SERIES.findall(metrics):
        named = dict(_LABEL.findall(labels))
        total = totals.setdefault(named["proxy"], {})
        key = named["direction"], kind
        total[key] = total.get(key, 0) + int(float(value))
    return {name: Counters(_flow(total, "upstream"), _flow(total, "downstream")) for name, total in totals.items()}


def _flow(total: Mapping[tuple[str, str], int], stream: Stream) -> Flow:
    return Flow(received=total.get((stream, "received"), 0), sent=total.get((stream, "sent"), 0))
