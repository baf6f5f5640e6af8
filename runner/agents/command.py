"""The command adapter: one process per attempt, at agent_host, told everything by environment and standard input."""

from __future__ import annotations

import json
from collections.abc import Mapping

from contracts.hosting import HostStart
from runner.agents.claims import hiding
from runner.agents.event_lines import EventLines
from runner.agents.following import GRACE_S, Hosting, follow, session_id
from runner.agents.interface import AgentRun, Assignment
from runner.agents.task import agent_environment, task_of
from runner.world import BreachWatch


class CommandAgent:
    """Runs any program."""

    def __init__(
        self, host: Hosting, *, watch: BreachWatch, argv: tuple[str, ...], agent_env: Mapping[str, str]
    ) -> None:
        self._host = host
        self._watch = watch
        self._argv = argv
        self._agent_env = agent_env

    def run(self, assignment: Assignment) -> AgentRun:
        """Start the program, follow its output, and end it when it passes a limit."""
        order = start_order(assignment, session_id=session_id(assignment), argv=self._argv, agent_env=self._agent_env)
        reader = EventLines(hide=hiding(assignment))
        return follow(self._host, watch=self._watch, assignment=assignment, order=order, reader=reader)


def start_order(
    assignment: Assignment, *, session_id: str, argv: tuple[str, ...], agent_env: Mapping[str, str]
) -> HostStart:
    """What the host is told; the lab's own variables win over those of `-e`."""
    return HostStart(
        id=session_id,
        argv=argv,
        env=agent_environment(assignment, agent_env),
        stdin=json.dumps(task_of(assignment), ensure_ascii=False) + "\n",
        seconds=assignment.limits.seconds or None,
        output_bytes=assignment.limits.output_bytes,
        grace_seconds=GRACE_S,
    )
