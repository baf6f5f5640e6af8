"""A case's setup: run by `sh` in the attempt's container before the agent, and told apart from it when it fails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

from contracts.containers import RootSetupEnded
from contracts.hosting import AgentEnded, AgentFailed, AgentOut, AgentStarted, HostStart
from contracts.plan import Conditions
from runner import clock
from runner.agents.following import GRACE_S, HOST_SLACK_S
from runner.agents.output_lines import WholeLines
from runner.containers import NoContainerError
from runner.hosting import AgentSession, HostGone
from runner.suite_time import time_left_s
from runner.texts import TEXT_BYTES, BoundedText

LAST_LINES = 5
MOST_SHOWN = 600
"""Characters of its last lines in the reason."""
_NO_SHELL = 127


@dataclass(frozen=True)
class SetupEnd:
    """How a setup ended."""

    trouble: str | None
    """None when it succeeded."""
    output: str


@dataclass(frozen=True)
class Setup:
    """What is to be run, for one attempt."""

    script: str
    env: Mapping[str, str]
    seconds: float
    output_bytes: int
    image: str
    """What the container was made from, for a message."""
    until_s: float = inf
    """When the suite's time is over."""


def run_setup(setup: Setup, session: AgentSession) -> SetupEnd:
    """Run it as the agent's user; what it leaves running stays.

    Raises NoContainerError when the host is gone, and SuiteTimeOverError: whoever leaves the container ends it.
    """
    session.start(
        HostStart(
            id=session.id,
            argv=("sh", "-c", setup.script),
            env=dict(setup.env),
            stdin="",
            seconds=setup.seconds,
            output_bytes=setup.output_bytes,
            grace_seconds=GRACE_S,
            leave=True,
        )
    )
    output = BoundedText()
    streams = {stream: WholeLines(output.add, longest=TEXT_BYTES) for stream in ("stdout", "stderr")}
    until = clock.elapsed_s() + setup.seconds + GRACE_S + HOST_SLACK_S
    while True:
        event = session.next(seconds=min(max(until - clock.elapsed_s(), 0.0), time_left_s(setup.until_s)))
        match event:
            case AgentOut(stream=stream, text=text):
                streams[stream].feed(text)
            case AgentStarted():
                continue
            case AgentEnded() as ended:
                for lines in streams.values():
                    lines.finish()
                return SetupEnd(trouble=_trouble(ended, setup), output=output.text() or "")
            case AgentFailed():
                return SetupEnd(trouble=f"the image {setup.image} has no `sh` to run it", output="")
            case HostGone(reason=reason):
                raise NoContainerError(f"it was lost during its setup: {reason}")
            case _:
                time_left_s(setup.until_s)
                raise NoContainerError("agent_host did not say that the setup ended")


def _trouble(ended: AgentEnded, setup: Setup) -> str | None:
    if ended.reason == "seconds":
        return _too_long(setup)
    if ended.reason == "output":
        return f"it printed more than {setup.output_bytes} bytes"
    if ended.signal is not None:
        return f"it was ended by signal {ended.signal}"
    return f"it exited with {ended.exit_code}" if ended.exit_code else None


def end_of_root_setup(ended: RootSetupEnded, setup: Setup) -> SetupEnd:
    """The same for a setup that the driver ran as root."""
    trouble = None if ended.exit_code == 0 else f"it exited with {ended.exit_code}"
    if ended.exit_code is None:
        trouble = _too_long(setup)
    elif ended.exit_code == _NO_SHELL and ended.output.strip() == "no sh":
        trouble = f"the image {setup.image} has no `sh` to run it"
    return SetupEnd(trouble=trouble, output=ended.output)


def _too_long(setup: Setup) -> str:
    return f"it took longer than {setup.seconds:g} s (setup_seconds)"


def reason_of(end: SetupEnd, conditions: Conditions) -> str:
    """Why the attempt could not begin, with the last lines that the setup printed and what may help."""
    lines = [line for line in end.output.splitlines() if line.strip()][-LAST_LINES:]
    said = f"; its last lines: {' / '.join(lines)[-MOST_SHOWN:]}" if lines else ""
    helps = []
    if not conditions.setup_root:
        helps.append("--setup-root if it needs root or writes outside of /working_dir, /work and /tmp")
    if not conditions.egress:
        helps.append("--egress if it needs a network")
    next_step = f"; next: {', '.join(helps)}" if helps else ""
    return f"setup: {end.trouble}{said}{next_step}"
