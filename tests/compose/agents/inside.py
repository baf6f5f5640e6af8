"""What an agent finds that looks around from inside its container and tries to reach what it must not: one report."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import re
import socket
import stat
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

TOLD = Path("/tmp/told.json")  # noqa: S108 - in the container
LIBC = ctypes.CDLL(None, use_errno=True)
SHOWN = ("Uid", "Gid", "Groups", "Cap", "NoNewPrivs", "Seccomp")
PTRACE_ATTACH, PTRACE_DETACH, CLONE_NEWUSER, CLONE_NEWNS = 16, 17, 0x10000000, 0x00020000
HOST_PORT = 7070
LAB_PORTS = (22, 80, 2375, 2376, 4317, 4318, 7070, 8081, 8474, 13133)
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
    """A TCP connection could be made; to an agent_host: one that let in somebody who guesses."""
    try:
        with socket.create_connection(target, 1) as connection:
            if target[1] != HOST_PORT:
                return True
            connection.sendall(b"a guess\n")
            return b"hello" in connection.recv(99)
    except OSError:
        return False


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


def targets_of(told: dict[str, Any]) -> set[Target]:
    """Every address and port that is worth a try."""
    found = found_addresses()
    addresses = found | guessed_addresses(found) | set(told["addresses"]) | {"169.254.169.254"}
    targets = {(host, port) for host in addresses | set(told["names"]) for port in (*LAB_PORTS, told["hostPort"])}
    targets |= {(urlsplit(os.environ["FIXTURE_URL"]).hostname or "", port) for port in range(1, 10_001)}
    return (
        targets | {(address, 8080) for address in told["controlAddresses"]} | {("192.0.2.1", 80), ("2001:db8::1", 80)}
    )


def of_the_network(told: dict[str, Any]) -> dict[str, Any]:
    """Everything that was tried, and what of it worked."""
    with ThreadPoolExecutor(64) as pool:
        ordered = sorted(targets_of(told))
        reached = [target for target, ok in zip(ordered, pool.map(reach, ordered), strict=True) if ok]
    return {
        "reached": reached,
        "tried": sorted({host for host, _ in ordered}),
        "routed": [host for host in (*told["controlAddresses"], "192.0.2.1", "169.254.169.254") if is_routed(host)],
        "ownNetworkIsRouted": is_routed(told["ownAddress"]),
        "resolved": [name for name in told["names"] if resolves(name)],
    }


def fields_of(pid: int | str) -> dict[str, str]:
    """/proc/PID/status."""
    return dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":\t" in line)


def works(attempt: Callable[[], object]) -> bool:
    """The kernel did not refuse it; a call of libc says so by 0."""
    try:
        return attempt() in {0, None}
    except OSError:
        return False


def walked(top: str = "/") -> Iterator[tuple[str, list[str]]]:
    """Every folder but those of the kernel, with the names of its files."""
    for folder, folders, names in os.walk(top):
        folders[:] = [name for name in folders if os.path.join(folder, name) not in {"/proc", "/sys"}]  # noqa: PTH118
        yield folder, names


def can_write(folder: str) -> bool:
    """A file can be made there; it is removed again."""
    path = Path(folder, f"tried-{os.getpid()}")
    try:
        path.touch()
        path.unlink()
    except OSError:
        return False
    return True


def writable_places() -> dict[str, list[int]]:
    """The mount points below which something can be written: what fits there, in bytes and in files."""
    mounts = sorted((line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()), key=len)
    folders = [folder for folder, _ in walked() if can_write(folder)]
    places = {[mount for mount in mounts if f"{folder}/".startswith(f"{mount.rstrip('/')}/")][-1] for folder in folders}
    return {place: [(told := os.statvfs(place)).f_blocks * told.f_frsize, told.f_files] for place in sorted(places)}


def writable_knobs() -> list[str]:
    """Files of the kernel, outside the processes' own, that this one may write."""
    tops = ("/proc/sys", "/proc/irq", "/proc/bus", "/sys")
    files = [os.path.join(folder, name) for top in tops for folder, _, names in os.walk(top) for name in names]  # noqa: PTH118
    return [path for path in [*files, "/proc/sysrq-trigger", "/proc/kcore"] if os.access(path, os.W_OK)]


def sockets_and_devices() -> list[str]:
    """Sockets in the file system, and devices that are neither nothing, noise nor a terminal."""
    harmless = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "console"}
    found = []
    for folder, names in walked():
        for name in names:
            mode = Path(folder, name).lstat().st_mode
            is_device = stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and name not in harmless)
            found += [f"{folder}/{name}"] if stat.S_ISSOCK(mode) or is_device else []
    return found


def uids_of_setuid_programs() -> dict[str, str]:
    """As whom each program runs that would be root by its mode bit."""
    found = {}
    for path in (Path(folder, name) for folder, names in walked() for name in names):
        if path.is_file() and not path.is_symlink() and path.stat().st_mode & stat.S_ISUID and path.stat().st_uid == 0:
            quiet = subprocess.DEVNULL
            with subprocess.Popen([path], stdin=subprocess.PIPE, stdout=quiet, stderr=quiet) as process:
                found[str(path)] = fields_of(process.pid)[
                    "Uid"
                ]  # told of one that has ended too, until it is waited for
                process.kill()
    return found


def privileges() -> dict[str, bool]:
    """What only root, or one with a capability or another seccomp profile, may do: whether it worked."""
    tried = {
        "setuid": lambda: os.setuid(0),
        "setgid": lambda: os.setgid(0),
        "mknod": lambda: os.mknod("/tmp/device", stat.S_IFBLK | 0o600, os.makedev(8, 0)),  # noqa: S108 - in the container
        "mount": lambda: LIBC.mount(b"none", b"/tmp", b"tmpfs", 0, None),
        "unshare user": lambda: LIBC.unshare(CLONE_NEWUSER),
        "unshare mounts": lambda: LIBC.unshare(CLONE_NEWNS),
        "raw socket": lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).close(),
        "nice": lambda: os.setpriority(os.PRIO_PROCESS, 0, -5),
        "chroot": lambda: os.chroot("/tmp"),  # noqa: S108 - in the container
        "hostname": lambda: LIBC.sethostname(b"mine", 4),
    }
    return {name: works(attempt) for name, attempt in tried.items()}


def attached(pid: int) -> bool:
    """A debugger could enter the process; it is let go at once."""
    if LIBC.ptrace(PTRACE_ATTACH, pid, None, None):
        return False
    os.waitpid(pid, 0x40000000)  # __WALL
    LIBC.ptrace(PTRACE_DETACH, pid, None, None)
    return True


def opened(path: Path, how: str) -> bool:
    """The file could be opened so."""
    try:
        path.open(how).close()
    except OSError:
        return False
    return True


def access_to(pid: int) -> list[str]:
    """What of a process is open to this one."""
    place = Path(f"/proc/{pid}")
    ways = [name for name in ("environ", "maps", "mem", "auxv") if opened(place / name, "rb")]
    ways += ["mem, written"] if opened(place / "mem", "r+b") else []
    ways += [name for name in ("cwd", "root", "exe") if works(lambda: os.readlink(place / name) and None)]  # noqa: B023, PTH115
    ways += ["fd"] if os.access(place / "fd", os.R_OK) else []
    return ways + (["ptrace"] if attached(pid) else [])


def of_processes() -> dict[str, Any]:
    """Those of the lab and those of other attempts, and what of each is open."""
    lab, others, told = {}, {}, {}
    for pid in sorted(int(path.name) for path in Path("/proc").glob("[0-9]*")):
        if not Path(f"/proc/{pid}").exists() or pid == os.getpid():
            continue
        name = Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
        if "agent_host" in name:
            lab[str(pid)] = access_to(pid)
        else:
            others[str(pid)] = access_to(pid)
            told[str(pid)] = case_of(pid)
    return {"lab": lab, "others": others, "casesOfOthers": sorted(set(told.values()))}


def case_of(pid: int) -> str:
    """The case whose agent that is, from its environment."""
    environ = Path(f"/proc/{pid}/environ").read_text().split("\0")
    return next((each.partition("=")[2] for each in environ if each.startswith("LAB_CASE_ID=")), "")


def look(told: dict[str, Any]) -> dict[str, Any]:
    """The whole report."""
    status = fields_of("self")
    return {
        **of_the_network(told),
        "status": {
            name: status[name] for name in status if name.startswith(("Uid", "Gid", "Groups", "Cap", "NoNew", "Sec"))
        },
        "setuid": uids_of_setuid_programs(),
        "privileges": privileges(),
        "places": writable_places(),
        "knobs": writable_knobs(),
        "sockets": sockets_and_devices(),
        "processes": of_processes(),
        "there": [path for path in told["paths"] if Path(path).exists()],
        "withMarker": files_with(told["marker"]),
        "withOwnText": files_with("looks around from inside its container and tries")[:1],
    }


def report() -> dict[str, Any]:
    """Once the test has said where to look."""
    wait_for(TOLD)
    return look(json.loads(TOLD.read_text()))
