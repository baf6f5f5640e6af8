"""The docker-agent adapter: `docker-agent run --exec --json` with the agent file and the user messages as arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from contracts.hosting import HostStart
from contracts.order import FIXTURE_URL_MARK, DockerAgentOrder
from runner.agents.claims import hiding
from runner.agents.docker_agent_events import DockerAgentEvents
from runner.agents.following import GRACE_S, Hosting, follow, session_id
from runner.agents.interface import AgentRun, Assignment, Ending, EndKind
from runner.agents.task import agent_environment
from runner.world import BreachWatch

QUIET_ENV = {
    "TELEMETRY_ENABLED": "false",
    "DOCKER_AGENT_HIDE_TELEMETRY_BANNER": "1",
    "CAGENT_HIDE_TELEMETRY_BANNER": "1",
    "DOCKER_AGENT_AUTO_UPDATE": "false",
    "NO_COLOR": "1",
    "BROWSER": "false",
}
"""No telemetry, no greeting, no other version than the recorded one, no browser; `-e` may say otherwise."""
LONGEST_ARGUMENT = 100_000
"""Bytes of a message that still goes in an argument; the kernel takes 128 KiB."""
ALL_ARGUMENTS = 1_000_000
"""Bytes of all messages that still go in arguments; the kernel takes 2 MiB, environment included."""

_OWN_FOLDER = ".docker-agent-file"
_WITH_OWN_FILE = """set -eu
mkdir "$0"
for one in "$1"/* "$1"/.[!.]*; do
  [ "${one##*/}" = "$2" ] || [ ! -e "$one" ] || ln -s "$one" "$0/"
done
cat >"$0/$2"
shift 2
exec "$@" </dev/null"""
"""Run by sh: a folder with links to all files of the agent, but with the agent file of standard input."""


class DockerAgent:
    """Runs one agent file; safe for many threads."""

    def __init__(
        self, host: Hosting, *, watch: BreachWatch, where: DockerAgentOrder, agent_env: Mapping[str, str]
    ) -> None:
        self._host = host
        self._watch = watch
        self._where = where
        self._agent_env = agent_env

    def run(self, assignment: Assignment) -> AgentRun:
        """Start docker-agent, follow its events, and end it when it passes a limit."""
        trouble = undeliverable(assignment, self._where)
        if trouble is not None:
            return AgentRun(ending=Ending(kind=EndKind.SUITE, reason=trouble), seconds=0.0)
        order = start_order(assignment, where=self._where, agent_env=self._agent_env)
        reader = DockerAgentEvents(hide=hiding(assignment))
        return follow(self._host, watch=self._watch, assignment=assignment, order=order, reader=reader)


def start_order(assignment: Assignment, *, where: DockerAgentOrder, agent_env: Mapping[str, str]) -> HostStart:
    """What the host is told; the lab's own variables win over those of `-e`."""
    argv, stdin = command_line(assignment, where)
    return HostStart(
        id=session_id(assignment),
        argv=argv,
        env={**QUIET_ENV, **agent_environment(assignment, agent_env)},
        stdin=stdin,
        seconds=assignment.limits.seconds or None,
        output_bytes=assignment.limits.output_bytes,
        grace_seconds=GRACE_S,
    )


def command_line(assignment: Assignment, where: DockerAgentOrder) -> tuple[tuple[str, ...], str]:
    """The arguments, and what is on standard input."""
    agent = assignment.agent
    messages = [message.content for message in assignment.case.messages]
    options = [*_approval(agent.args), *(("--model", agent.model) if agent.overrides_model and agent.model else ())]
    start = [where.binary, "run", "--exec", "--json", *options, *agent.args]
    if where.text is not None:
        own_file = f"{_OWN_FOLDER}/{where.file}"
        wrapped = ["sh", "-c", _WITH_OWN_FILE, _OWN_FOLDER, where.folder, where.file]
        text = where.text.replace(FIXTURE_URL_MARK, assignment.fixture_url)
        return (*wrapped, *start, *_positional(own_file, messages)), text
    file = f"{where.folder}/{where.file}"
    if _goes_over_stdin(messages, where):
        return (*start, file, "-"), messages[0]
    return (*start, *_positional(file, messages)), ""


def undeliverable(assignment: Assignment, where: DockerAgentOrder) -> str | None:
    """Which of the case's messages docker-agent cannot be given, and why; None: it can be given all of them.

    It takes messages as arguments, and from standard input only where there is one, and no agent file goes that way.
    """
    messages = [message.content for message in assignment.case.messages]
    if _goes_over_stdin(messages, where):
        return None
    why = "where the case has several" if where.text is None else "with fixture_tools"
    sizes = [_size(message) for message in messages]
    for number, size in enumerate(sizes, 1):
        if size > LONGEST_ARGUMENT:
            limit = f"{LONGEST_ARGUMENT} bytes of one message {why}"
            return f"message {number} of the case has {size} bytes; docker-agent can be given {limit}"
    if sum(sizes) > ALL_ARGUMENTS:
        limit = f"{ALL_ARGUMENTS} bytes of messages together"
        return f"the {len(sizes)} messages of the case have {sum(sizes)} bytes; docker-agent can be given {limit}"
    return None


def _goes_over_stdin(messages: Sequence[str], where: DockerAgentOrder) -> bool:
    return where.text is None and len(messages) == 1 and _size(messages[0]) > LONGEST_ARGUMENT


def _size(message: str) -> int:
    return len(message.encode("utf-8", "replace"))


def _approval(args: Sequence[str]) -> tuple[str, ...]:
    """`--yolo`, unless the agent's own arguments say how calls are approved: nobody is there to be asked."""
    return () if any(one.startswith(("--safety", "--yolo")) for one in args) else ("--yolo",)


def _positional(file: str, messages: Sequence[str]) -> list[str]:
    """File and messages; a message may look like an option, and `-` would mean standard input."""
    shown = [" -" if message == "-" else message for message in messages]
    return [*(["--"] if any(message.startswith("-") for message in shown) else []), file, *shown]
