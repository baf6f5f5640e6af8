"""A docker-agent session as `docker agent eval` reads it: what was said, which tools were called, what is expected."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import ConfigDict, Field

from contracts.record import Record
from contracts.suite.case import Assertion, Case

SIZES = ("S", "M", "L", "XL")
_AS_RECORDED = ConfigDict(alias_generator=None, extra="ignore")
"""Whatever else docker-agent wrote down stays in the file and means nothing here; null is as good as absent."""


class SessionFunction(Record):
    """What a recorded tool call named."""

    model_config = _AS_RECORDED
    name: str | None = None


class SessionToolCall(Record):
    """One recorded tool call."""

    model_config = _AS_RECORDED
    function: SessionFunction | None = None


class SessionPart(Record):
    """One part of a message that is more than text."""

    model_config = _AS_RECORDED
    text: str | None = None


class SessionChat(Record):
    """A message as the model saw it."""

    model_config = _AS_RECORDED
    role: str | None = None
    """user, assistant, tool or system."""
    content: str | None = None
    multi_content: tuple[SessionPart, ...] | None = None
    """Read where `content` is empty: the texts of its parts, each on a line of its own."""
    tool_calls: tuple[SessionToolCall, ...] | None = None
    """Those of assistant messages are the expected tool calls, by name."""

    @property
    def text(self) -> str:
        """What it says; empty where it holds no text."""
        return self.content or "\n".join(part.text for part in self.multi_content or () if part.text)


class SessionMessage(Record):
    """A message and who spoke."""

    model_config = _AS_RECORDED
    agent_name: str | None = None
    """The agent that spoke; of no effect."""
    agent_name_before: str | None = Field(default=None, alias="agentName")
    """The older name of `agent_name`."""
    message: SessionChat | None = None
    implicit: bool | None = None
    """Made by docker-agent, not said by the user: no input."""


class SessionItem(Record):
    """One step of a session: a message, or the whole session of a sub-agent."""

    model_config = _AS_RECORDED
    message: SessionMessage | None = None
    sub_session: Session | None = None
    """A task that was handed on; its tool calls are expected as well."""
    subsession: Session | None = None
    """Another spelling of `sub_session`."""


class SessionEvals(Record):
    """What must hold, and where the agent runs; unknown keys are refused, as docker-agent refuses them."""

    model_config = ConfigDict(alias_generator=None)
    relevance: tuple[str, ...] | None = None
    """Statements about the answer for the judge."""
    size: str | None = Field(default=None, json_schema_extra={"enum": ["S", "M", "L", "XL", "", None]})
    """S, M, L or XL: of the judged text."""
    setup: str | None = None
    """A shell script that is run first; needs a container of its own."""
    working_dir: str | None = None
    """A folder in working_dirs/ beside the sessions, copied for the attempt; needs a container of its own."""
    image: str | None = None
    """The image of the attempt; needs a container of its own."""
    assertions: tuple[Assertion, ...] | None = None
    """Claims over the judged text, the tools called or the cost."""


class Session(Record):
    """A session; sub-sessions have the same shape, and their `evals` mean nothing."""

    model_config = _AS_RECORDED
    title: str | None = None
    """Shown to people; not part of the case digest."""
    evals: SessionEvals | None = None
    messages: tuple[SessionItem, ...] | None = None
    """In order; the user's are the input."""


class SessionCase(Case):
    """A session as a case."""

    id: str
    """The name of its file without .json: any UTF-8."""


def user_messages(session: Session) -> Iterator[tuple[int, str]]:
    """The index in `messages` and the text of what the user said.

    Not of sub-sessions: there another agent speaks as the user, and saying it again would be an input nobody gave.
    """
    for index, item in enumerate(session.messages or ()):
        said = item.message
        if said and said.message and said.message.role == "user" and not said.implicit:
            yield index, said.message.text


def recorded_tools(session: Session) -> Iterator[str]:
    """The tools that assistant messages called, in order, those of sub-sessions where they were handed on."""
    for item in session.messages or ():
        chat = item.message.message if item.message else None
        if chat and chat.role == "assistant":
            for call in chat.tool_calls or ():
                yield (call.function.name if call.function else None) or ""
        for below in (item.sub_session, item.subsession):
            if below:
                yield from recorded_tools(below)
