"""A served agent that the lab starts: one process for the whole run, at agent_host, whose words go to the log."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack

from contracts.control import without_prefix
from contracts.hosting import AgentEnded, AgentFailed, AgentOut, HostStart
from contracts.plan import Capture
from ledger.capture import captured_text
from runner.agents.claims import agent_error, lost
from runner.agents.following import GRACE_S, Hosting, how_it_ended
from runner.agents.interface import Ending
from runner.agents.output_lines import BoundedLines
from runner.hosting import AgentSession, HostGone

SESSION = "served agent"
DEATH_S = 1.0
"""How long after a broken connection the process's end may be told, so that the reason can name it."""
DRAIN_S = 5.0
"""For its last words, once its host is gone."""
LONGEST_LINE = 64 * 1024
"""Characters of one line that are in the log; a service may write for ever without an end of line."""
_UNBOUNDED = 2**62
"""The log is bounded where it is kept: a service that talks much is not ended for it."""
_MARGIN = 512
"""Kept beyond the cut, so that no half of an address of an attempt stands before it, which nobody would recognise."""


class ServedProcess:
    """The process; `log` gets its lines, from a thread of its own."""

    def __init__(self, host: Hosting, *, log: Callable[[str], None]) -> None:
        self._stack = ExitStack()
        self._session: AgentSession = self._stack.enter_context(host.session(SESSION))
        self._log = log
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._follow, name=SESSION, daemon=True)
        self._ending: Ending | None = None
        self._lines = {
            stream: BoundedLines(self._say, longest=LONGEST_LINE + _MARGIN) for stream in ("stdout", "stderr")
        }

    def start(self, argv: tuple[str, ...], *, env: Mapping[str, str]) -> None:
        """Ask for the process; whether it serves is for whoever connects to find out."""
        self._session.start(
            HostStart(
                id=SESSION,
                argv=argv,
                env=dict(env),
                stdin="",
                seconds=None,
                output_bytes=_UNBOUNDED,
                grace_seconds=GRACE_S,
            )
        )
        self._thread.start()

    def drain(self) -> None:
        """Wait until what it said is in the log; its host has ended it before."""
        self._thread.join(DRAIN_S)

    @property
    def over(self) -> str | None:
        """Why nobody serves any more; None while the process runs."""
        return self._ending.reason if self._ending else None

    def ending(self) -> Ending | None:
        """How the process ended, for an attempt that it left without an answer; None: it did not within DEATH_S."""
        self._over.wait(DEATH_S)
        return self._ending

    def _follow(self) -> None:
        while self._ending is None:
            match self._session.next(seconds=None):
                case AgentOut(stream=stream, text=text):
                    self._lines[stream].feed(text)
                case AgentEnded() as ended:
                    self._end(agent_error(f"the served agent's process is gone: {how_it_ended(ended)}"))
                case AgentFailed(message=message):
                    self._end(lost(f"the served agent could not be started: {message}"))
                case HostGone(reason=reason):
                    self._end(lost(reason))

    def _end(self, ending: Ending) -> None:
        for lines in self._lines.values():
            lines.finish()
        self._ending = ending
        self._over.set()
        self._stack.close()

    def _say(self, line: str, left_out: int) -> None:
        line = without_prefix(line)
        self._log(f"{line[:-_MARGIN]} [... {left_out + _MARGIN} characters left out]" if left_out else line)


def log_line(line: str, *, level: Capture) -> str:
    """A line of the agent's as the run's log may have it."""
    return f"agent | {captured_text(line, level=level)}"
