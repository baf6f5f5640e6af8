"""What an agent of each adapter does in its case, written so that a row of the table is a few words."""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.fakes.control_suites import LOOKUP_CALL
from tests.fakes.docker_agent_streams import Event, called, says, spends
from tests.fakes.docker_agent_suites import SAID, replay

LOOKS_UP = {"toolCalls": [LOOKUP_CALL], "toolMatch": "strict"}
LOOKED_UP = called("lookup", {"id": "1"})
"""A docker-agent's own tool of that name, or one of the fixture API's."""


class Deed(NamedTuple):
    """What an agent does in its case."""

    agent: str
    does: str
    """The last part of the case's id: command and http agents act by it."""
    case: dict[str, Any]
    stream: dict[str, Any] | None = None
    """What the program that stands for docker-agent replays."""

    def but(self, **case: Any) -> Deed:
        """The same in a case that has more."""
        return self._replace(case=self.case | case)


def chat(says: str, *, agent: str = "talker", **case: Any) -> Deed:
    """The built-in loop, told this."""
    return Deed(agent, says, {"input": says, **case})


def command(does: str, *, agent: str = "controls", **case: Any) -> Deed:
    """The program of the controls."""
    return Deed(agent, does, case)


def http(does: str, *, agent: str = "served", **case: Any) -> Deed:
    """The served controls."""
    return Deed(agent, does, case)


def docker_agent(
    does: str, *events: Event, agent: str = "desk", ends: dict[str, Any] | None = None, **case: Any
) -> Deed:
    """A stream with its end, which is `replay`'s."""
    return Deed(agent, does, case, stream=replay(*events, **(ends or {})))


RIGHT = {
    "chat": chat("talk"),
    "command": command("is-right", expect=LOOKS_UP),
    "http": http("is-right", expect=LOOKS_UP),
    "docker-agent": docker_agent("is-right", *LOOKED_UP, *SAID, expect={"toolCalls": [{"name": "lookup"}]}),
}
"""By adapter: an agent that does what is expected."""
WAITS = {
    "chat": chat("wait", limits={"model_calls": 10_000, "tool_calls": 10_000}),
    "command": command("waits"),
    "http": http("waits"),
    "docker-agent": docker_agent("waits", *SAID, ends={"act": "hang"}),
}
"""One that does not come to an end by itself."""


def judged(statement: str) -> dict[str, Deed | str]:
    """Right agents of whom the judge has to say whether a statement is true."""
    return {adapter: deed.but(expect={"relevance": [statement]}) for adapter, deed in RIGHT.items()}


def set_up(script: str) -> dict[str, Deed | str]:
    """Right agents whose attempts are set up first; chat and http agents never are."""
    without = "no agent of this adapter runs in a container of an attempt, so no case of it has a setup"
    return {adapter: deed.but(setup=script) if _is_process(adapter) else without for adapter, deed in RIGHT.items()}


def _is_process(adapter: str) -> bool:
    return adapter in ("command", "docker-agent")


def talking(times: int) -> list[Event]:
    """That many messages of a model, each with its counters."""
    return [event for _ in range(times) for event in (*says("do", "ne"), *spends(0.01))]
