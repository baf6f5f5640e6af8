"""An agent that tries to reach what it must not: it says what it reached, and how much it tried."""

from __future__ import annotations

import errno
import json
import os
import re
import socket
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

TOLD = Path("/tmp/told.json")  # noqa: S108 - in the container
DONE = Path("/tmp/done")  # noqa: S108 - in the container
LEAVE = Path("/tmp/leave")  # noqa: S108 - in the container
LAB_PORTS = (22, 2375, 2376, 4317, 4318, 7070, 8081, 8474, 13133)
SEARCHED = tuple(
    f"/{name}" for name in ("agent-suite", "suite", "evidence", "work", "tmp", "run", "home", "mnt", "srv", "root")
)
Target = tuple[str, int]


def wait_for(path: Path) -> None:
    """At most two minutes."""
    until = time.monotonic() + 120
    while not path.exists() and time.monotonic() < until:
        time.sleep(0.05)


def reach(target: Target) -> bool:
    """A TCP connection could be made."""
    try:
        socket.create_connection(target, 1).close()
    except OSError:
        return False
    return True


def is_routed(host: str) -> bool:
    """A datagram to there would leave this container."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        try:
            datagrams.connect((host, 53))
        except OSError as error:
            if error.errno not in {errno.ENETUNREACH, errno.EHOSTUNREACH}:
                raise
            return False
    return True


def resolves(name: str) -> bool:
    """The name has an address."""
    try:
        socket.getaddrinfo(name, 80)
    except OSError:
        return False
    return True


def found_addresses() -> set[str]:
    """Every IPv4 address that the kernel and the resolver tell of, but loopback."""
    places = ("/etc/resolv.conf", "/etc/hosts", "/proc/net/arp", "/proc/net/fib_trie", "/proc/net/tcp")
    texts = [Path(place).read_text() for place in places if Path(place).exists()]
    addresses = {found for text in texts for found in re.findall(r"\b\d+\.\d+\.\d+\.\d+\b", text)}
    return {address for address in addresses if not address.startswith(("127.0.0.1", "0.", "255."))} - {"127.0.0.0"}


def guessed_addresses(found: Iterable[str]) -> set[str]:
    """The first ones of the networks of this container, where gateways are, and of every network of Docker's pool."""
    own = {address.rpartition(".")[0] for address in found}
    pool = {f"172.{number}.0" for number in range(17, 32)} | {f"192.168.{number}" for number in range(0, 256, 16)}
    return {f"{network}.{last}" for network in own | pool for last in range(1, 9)}


def holds(path: Path, marker: str) -> bool:
    """The file has the marker; what cannot be read does not show it."""
    try:
        return marker.encode() in path.read_bytes()
    except OSError:
        return False


def files_with(marker: str) -> list[str]:
    """Files, and environments and command lines of processes, that have the marker."""
    places = [Path(folder, name) for root in SEARCHED for folder, _, names in os.walk(root) for name in names]
    processes = [path for name in ("environ", "cmdline") for path in Path("/proc").glob(f"[0-9]*/{name}")]
    return [str(path) for path in (*places, *processes) if path != TOLD and holds(path, marker)]


def look(told: dict[str, Any]) -> dict[str, Any]:
    """Everything that was tried, and what of it worked."""
    found = found_addresses()
    ports = (*LAB_PORTS, told["hostPort"])
    addresses = found | guessed_addresses(found) | set(told["addresses"])
    targets = {(host, port) for host in addresses | set(told["names"]) for port in ports}
    targets |= {(urlsplit(os.environ["FIXTURE_URL"]).hostname or "", port) for port in range(1, 10_001)}
    targets |= {(address, 8080) for address in told["controlAddresses"]} | {("192.0.2.1", 80)}
    targets -= {(told["ownAddress"], 7070), ("agent", 7070)}
    with ThreadPoolExecutor(64) as pool:
        ordered = sorted(targets)
        reached = [target for target, ok in zip(ordered, pool.map(reach, ordered), strict=True) if ok]
    return {
        "reached": reached,
        "tried": sorted({host for host, _ in ordered}),
        "routed": [host for host in (*told["controlAddresses"], "192.0.2.1") if is_routed(host)],
        "ownNetworkIsRouted": is_routed(told["ownAddress"]),
        "resolved": [name for name in told["names"] if resolves(name)],
        "there": [path for path in told["paths"] if Path(path).exists()],
        "withMarker": files_with(told["marker"]),
        "withOwnText": files_with("An agent that tries to reach what it must not")[:1],
    }


json.load(sys.stdin)
wait_for(TOLD)
report = look(json.loads(TOLD.read_text()))
DONE.touch()
wait_for(LEAVE)
print(json.dumps({"type": "message", "text": json.dumps(report)}))
