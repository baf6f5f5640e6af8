"""Start one agent process per attempt for one runner, carry its output as JSON lines, and end every descendant."""
# ruff: noqa: PTH102 - per process of a bomb: os is fast

import codecs
import ctypes
import json
import math
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from types import SimpleNamespace
from typing import Any, NoReturn

from agent_host.leftovers import descendants, first_to_go, remove_tree, send

READ_BYTES, HIGH_WATER_BYTES = 1 << 16, 1 << 20  # when the runner is so far behind, agents wait in their writes
FREE = b'{"op":"free"}'
DRAIN_S = 1.0  # for a pipe that a process out of our reach still holds
ENDING_S = 10.0  # a fork bomb is beaten long before; what is left then cannot be ended (another user's, or stuck)
PRCTL, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = ctypes.CDLL(None).prctl, 4, 36
LEAVING = dict.fromkeys((signal.SIGTERM, signal.SIGINT, signal.SIGHUP), lambda number, _: sys.exit(128 + number))


class Station:
    """A process with one upstream, whose end is SystemExit; it reads what is below while the upstream has room."""

    def __init__(self, *, source: int, sink: int, on_upstream: Callable[[bytes], object]) -> None:
        if PRCTL(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) or PRCTL(PR_SET_DUMPABLE, 0, 0, 0, 0):
            raise OSError("prctl is refused")  # not dumpable: agents of the same user cannot look or write in here
        wake, writing = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self.readers: dict[int, Callable[[bytes], object]] = {source: on_upstream, wake: lambda _: self._reap()}
        self.source, self.sink, self.writers = source, sink, {sink: bytearray()}
        self.killed, self.urgent = 0, {source, wake}

    def _say(self, **fields: object) -> None:
        """Queue a line, pure ASCII: no text of an agent can break or forge one."""
        self.writers[self.sink] += json.dumps(fields, separators=(",", ":")).encode("ascii") + b"\n"

    def _step(self, until: float) -> None:
        """Wait for events, to that instant of the monotonic clock at most, and serve each descriptor once."""
        has_room = len(self.writers[self.sink]) < HIGH_WATER_BYTES
        reading = [descriptor for descriptor in self.readers if has_room or descriptor in self.urgent]
        writing = [descriptor for descriptor, out in self.writers.items() if out]
        for descriptor in select.select(reading, writing, [], min(max(until - time.monotonic(), 0.0), 3600.0))[0]:
            try:
                piece = os.read(descriptor, READ_BYTES)
            except BlockingIOError:
                continue  # another reader of the pipe was faster
            except ConnectionResetError:
                piece = b""
            if not piece and descriptor == self.source:
                sys.exit(0)
            (self.readers[descriptor] if piece else self.readers.pop(descriptor))(piece)
        for descriptor in [*self.writers]:
            self._write(descriptor)

    def _write(self, descriptor: int) -> None:
        out = self.writers[descriptor]
        try:
            while out:
                del out[: os.write(descriptor, out[:READ_BYTES])]
        except BlockingIOError:
            return
        except ConnectionError:
            out.clear()  # nobody reads it any more; when it is the upstream that is gone, its source says so
        if descriptor not in self.readers and descriptor != self.sink:
            del self.writers[descriptor]
            os.close(descriptor)

    def _take(self, pid: int, status: int) -> None:
        if os.WIFSTOPPED(status):  # only an agent of the same user stops its warden, to escape from its limits
            send(pid, signal.SIGKILL)
        self.killed += os.WIFSIGNALED(status)

    def _reap(self) -> bool:
        """Take in all children that died or stopped; false when no child is left."""
        with suppress(ChildProcessError):
            while (event := os.waitpid(-1, os.WNOHANG | os.WUNTRACED))[0]:
                self._take(*event)
            return True
        return False

    def _end_descendants(self, keep: frozenset[int] = frozenset()) -> None:
        """Kill all but `keep` until none is left; stopped first, so that no bomb refills its process limit."""
        until = time.monotonic() + ENDING_S
        while self._reap() and (not keep or any(descendants(keep))):
            stopped, known, done_groups = set[int](), -1, {os.getpgrp()}
            while known < len(stopped) and time.monotonic() < until:
                known = len(stopped)
                for pid in descendants(keep):
                    if pid not in stopped:
                        stopped.add(pid)
                        send(pid, signal.SIGSTOP, done_groups=done_groups)
            for pid in stopped:
                send(pid, signal.SIGKILL)
            if time.monotonic() > until:
                print(f"agent_host: cannot end the processes {[*descendants(keep)][:20]}", file=sys.stderr)
                break
            time.sleep(0.0005)


class Warden(Station):
    """The process between the host and one agent at a time: starts it, carries its output, kills all that is left."""

    def __init__(self, *, channel: int) -> None:
        os.setsid()
        os.dup2(os.dup2(2, 0), 1)
        os.closerange(3, channel)
        os.closerange(channel + 1, os.sysconf("SC_OPEN_MAX"))  # nothing here leads to the runner or another attempt
        super().__init__(source=channel, sink=channel, on_upstream=self._hear)
        self.path, self.rest, self.is_free = os.environ.get("PATH", os.defpath), bytearray(), True
        self.next: list[tuple[dict[str, Any], str]] = []

    def serve(self, order: dict[str, Any], work: str) -> None:
        """Run attempts one after the other, this one first, as long as each ends by itself: a fork is dear."""
        while self.run(order, work):
            self.is_free = True
            self._say(op="free")
            while not self.next:
                self._step(math.inf)
            order, work = self.next.pop()

    def _hear(self, piece: bytes) -> None:
        self.rest += piece
        if b"\n" not in piece:
            return
        *lines, self.rest[:] = bytes(self.rest).split(b"\n")
        for line in lines:
            if line != b"end":
                self.next.append(json.loads(line))
            elif not self.is_free:  # else it is for the attempt that has ended
                self._ask("asked")

    def run(self, order: dict[str, Any], work: str) -> bool:
        """Run the attempt to its end, or to the end of the host; true when it ended by itself and left no process."""
        self.order, self.began_at, self.until, self.grace_s = order, time.monotonic(), math.inf, 0.0
        self.reason, self.agent, self.carried_bytes, self.limit_bytes = "", 0, 0, 0
        self.end: dict[str, object] = {"exitCode": None, "signal": None}
        self.is_free, is_clean = False, False
        try:
            self._start(work)
        except (LookupError, OSError, TypeError, ValueError) as error:
            self._say(op="failed", id=self.order["id"], message=f"{type(error).__name__} when it was started: {error}")
        else:
            self._watch()
            self._conclude()
            is_clean = not (self.reason or self.killed or order.get("leave"))
        finally:
            self._end_what_may_not_stay()
            remove_tree(work)
        os.set_blocking(self.sink, True)
        self._write(self.sink)
        return is_clean and not self._reap()

    def _start(self, work: str) -> None:
        order = self.order
        env = {"PATH": self.path, "HOME": work, "TMPDIR": work} | order["env"]
        self.limit_bytes, self.grace_s = int(order["outputBytes"]), float(order["graceSeconds"])
        self.until = math.inf if order["seconds"] is None else self.began_at + order["seconds"]
        stdin, pipes = bytearray(order["stdin"].encode("utf-8", "surrogateescape")), [os.pipe() for _ in range(3)]
        theirs, ours = (pipes[0][0], pipes[1][1], pipes[2][1]), (pipes[0][1], pipes[1][0], pipes[2][0])
        actions = [(os.POSIX_SPAWN_DUP2, descriptor, number) for number, descriptor in enumerate(theirs)]
        os.chdir(order.get("cwd") or work)
        os.environ["PATH"] = env["PATH"]
        self.agent = os.posix_spawnp(
            order["argv"][0], order["argv"], env, file_actions=actions, setsid=True, setsigdef=[signal.SIGPIPE]
        )
        first_to_go(self.agent)
        self._say(op="started", id=order["id"], pid=self.agent)
        self.writers[ours[0]], self.pipes = stdin, ours
        for name, descriptor in zip(("stdout", "stderr"), ours[1:], strict=True):
            self.readers[descriptor] = partial(self._carry, name, codecs.getincrementaldecoder("utf-8")("replace"))
        for mine, descriptor in zip(ours, theirs, strict=True):
            os.set_blocking(mine, False)
            os.close(descriptor)

    def _watch(self) -> None:
        while self._reap() and (self.agent or self.reason):
            if time.monotonic() >= self.until and not self._ask("seconds"):
                return
            self._step(self.until)

    def _ask(self, reason: str) -> bool:
        """End the agent politely, with a grace from now, for the first reason that is given; false for others."""
        if self.reason:
            return False
        self.reason, self.until = reason, time.monotonic() + self.grace_s
        for _, pid in zip(range(5000), descendants(), strict=False):  # a bomb may grow as fast as this walks
            send(pid, signal.SIGTERM)
        return True

    def _take(self, pid: int, status: int) -> None:
        if pid != self.agent:
            self.killed += os.WIFSIGNALED(status)
        elif not os.WIFSTOPPED(status):
            code, self.agent = os.waitstatus_to_exitcode(status), 0
            self.end["exitCode" if code >= 0 else "signal"] = abs(code)

    def _carry(self, stream: str, decoder: codecs.IncrementalDecoder, piece: bytes) -> None:
        kept = piece[: self.limit_bytes - self.carried_bytes]
        self.carried_bytes += len(kept)
        if text := decoder.decode(kept, not piece):
            self._say(op="out", id=self.order["id"], stream=stream, text=text)
        if len(kept) < len(piece):
            self._ask("output")

    def _end_what_may_not_stay(self) -> None:
        """All of it, but for the services that a setup which succeeded left running: those are the host's from now."""
        if not self.order.get("leave") or self.reason or self.end["exitCode"] != 0:
            self._end_descendants()

    def _conclude(self) -> None:
        self.killed = 0
        self._end_what_may_not_stay()
        duration_ms = round((time.monotonic() - self.began_at) * 1000)
        streams, until = self.readers.keys() - self.urgent, time.monotonic() + DRAIN_S
        self.urgent |= streams
        while streams & self.readers.keys() and time.monotonic() < until:
            self._step(until)
        for descriptor in self.pipes:
            self.readers.pop(descriptor, None)
            if descriptor != self.pipes[0] or self.writers.pop(descriptor, None) is not None:  # else `_write` closed it
                os.close(descriptor)
        self.urgent -= streams
        self.end |= {"reason": self.reason or "exit", "strays": self.killed, "outputBytes": self.carried_bytes}
        self._say(op="ended", id=self.order["id"], **self.end, durationMs=duration_ms)


class Host(Station):
    """Serves one runner until it leaves, or a signal comes; then no warden and no agent is left."""

    def __init__(self, *, source: int, sink: int, work: str, trouble: str = "") -> None:
        super().__init__(source=source, sink=sink, on_upstream=self._on_upstream)
        self.work, self.rest, self.trouble = work, bytearray(), trouble  # the last: why no agent can be started here
        self.wards: dict[str, SimpleNamespace] = {}
        self.free: list[SimpleNamespace] = []

    def run(self) -> NoReturn:
        """Serve; SystemExit has the exit code: 0 the runner left, 1 it broke the protocol, 128 + n for signal n."""
        self._say(op="hello", version=1)
        try:
            while True:
                self._step(math.inf)
        finally:
            signal.pthread_sigmask(signal.SIG_BLOCK, LEAVING)
            self._end_descendants()
            for ward in self.wards.values():
                remove_tree(ward.work)

    def _on_upstream(self, piece: bytes) -> None:
        self.rest += piece
        if b"\n" not in piece:
            return
        *lines, self.rest[:] = bytes(self.rest).split(b"\n")
        for line in lines:
            try:
                message = json.loads(line)
                {"start": self._start, "end": self._end}[message["op"]](message)
            except (KeyError, TypeError, ValueError) as error:
                sys.exit(f"agent_host: not a message of the protocol: {line[:99]!r}: {error!r}")

    def _end(self, message: dict[str, Any]) -> None:
        if ward := self.wards.get(message["id"]):  # else its end is on the way to the runner
            self.writers[ward.channel] += b"end\n"

    def _start(self, order: dict[str, Any]) -> None:
        if order["id"] in self.wards:
            raise ValueError("an attempt of this id runs")
        if self.trouble:
            self._say(op="failed", id=order["id"], message=self.trouble)
            return
        work = f"{self.work}/attempt-{os.urandom(8).hex()}"
        try:
            os.mkdir(work, 0o700)
            ward = self._freed(order, work) or self._forked(order, work)
        except OSError as error:
            remove_tree(work)
            self._say(op="failed", id=order["id"], message=f"cannot make a process for it in {work}: {error}")
            return
        ward.id, ward.work, ward.began_at = order["id"], work, time.monotonic()
        self.wards[ward.id] = ward

    def _freed(self, order: dict[str, Any], work: str) -> SimpleNamespace | None:
        """A warden that has nothing to do, and has it now."""
        if not self.free:
            return None
        ward = self.free.pop()
        self.writers[ward.channel] += json.dumps([order, work]).encode("ascii") + b"\n"
        return ward

    def _forked(self, order: dict[str, Any], work: str) -> SimpleNamespace:
        ours, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            try:
                Warden(channel=theirs.fileno()).serve(order, work)
            except Exception:  # noqa: BLE001 - nothing may lead back into the host; it takes a silent warden for lost
                sys.excepthook(*sys.exc_info())
            finally:
                os._exit(0)
        theirs.close()
        channel = ours.detach()
        os.set_blocking(channel, False)
        ward = SimpleNamespace(pid=pid, channel=channel, said=b"")
        self.readers[channel], self.writers[channel] = partial(self._forward, ward), bytearray()
        return ward

    def _forward(self, ward: SimpleNamespace, piece: bytes) -> None:
        whole, newline, ward.said = (ward.said + piece).rpartition(b"\n")
        if whole.endswith(FREE):  # its own word and the last one, which no text of an agent can be
            whole, newline = whole.removesuffix(FREE), b""
            self.free.append(ward)
        self.writers[self.sink] += whole + newline
        if b'{"op":"ended"' in whole or b'{"op":"failed"' in whole:  # in a text, these quotes would be escaped
            del self.wards[ward.id]
        if piece:
            return
        del self.writers[ward.channel]
        os.close(ward.channel)
        if ward in self.free:
            self.free.remove(ward)
        elif self.wards.get(ward.id) is ward:
            del self.wards[ward.id]
            self._end_descendants(frozenset(other.pid for other in (*self.wards.values(), *self.free)))
            remove_tree(ward.work)
            end = {"exitCode": None, "signal": None, "reason": "supervisor-lost", "strays": self.killed}
            duration_ms = round((time.monotonic() - ward.began_at) * 1000)
            self._say(op="ended", id=ward.id, **end, outputBytes=0, durationMs=duration_ms)
            self.killed = 0
