"""cases.json: what is asked of the agent and what is expected of it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from contracts.record import Json, Record
from contracts.suite.fault import CaseFaults
from contracts.suite.route import Route

ToolMatch = Literal["names", "strict", "unordered", "subset", "superset"]
Pointer = Annotated[str, Field(pattern=r"^(/([^~/]|~[01])*)*$")]
CaseId = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,99}$")]


class Message(Record):
    """One message of a conversation."""

    role: Literal["user"]
    content: str


class ExpectedCall(Record):
    """A tool call that is expected; without `arguments` any arguments will do."""

    name: str
    arguments: dict[str, Json] | None = None


class ExpectedState(Record):
    """A value that the case's state must have at the end."""

    pointer: Pointer
    equals: Json = Field()


class Assertion(Record):
    """One assertion over text, calls or cost; the type's name is read whatever its case."""

    name: str | None = None
    """Shown instead of type and value."""
    type: str
    """One of contains, not_contains, equals, starts_with, ends_with, regex, json_schema, tool_called, tool_not_called
    and cost_threshold; equals and ends_with leave out white space around the text."""
    value: Json = Field()
    """Text; for json_schema a schema, for cost_threshold US dollars."""


class Expect(Record):
    """What must hold after the attempt; every list that is absent makes no check."""

    tool_calls: tuple[ExpectedCall, ...] | None = None
    """The tool calls, compared as `toolMatch` says; an empty list expects none."""
    tool_match: ToolMatch = "names"
    """names: F1 over the multiset of names; the others compare names and, where given, arguments."""
    min_f1: Annotated[float, Field(ge=0, le=1, alias="minF1")] = 1.0
    """The least F1 that passes, for names."""
    never_tools: tuple[str, ...] = ()
    """Tools that must not be called."""
    denied_tools: tuple[str, ...] = ()
    """Tools that must be asked for and refused by a safety policy."""
    tool_order: tuple[tuple[str, str], ...] = ()
    """Pairs [first, then]: each `then` needs an earlier `first`; neither called holds."""
    state: tuple[ExpectedState, ...] = ()
    """Values that the case's state must have at the end."""
    assertions: tuple[Assertion, ...] = ()
    """Claims over the judged text, the tools called or the cost."""
    size: Literal["S", "M", "L", "XL"] | None = None
    """UTF-8 bytes of the judged text: S < 500, M < 1500, L < 5000, XL above."""
    relevance: tuple[str, ...] = ()
    """Statements about the answer for the judge."""
    unmatched_requests: Literal["fail", "unknown", "allow"] = "fail"
    """What a request that no route answers makes of the case."""

    @property
    def is_empty(self) -> bool:
        """True when nothing is expected that could fail the case."""
        lists = (self.never_tools, self.denied_tools, self.tool_order, self.state, self.assertions, self.relevance)
        return self.tool_calls is None and self.size is None and not any(lists)


class CaseLimits(Record):
    """The case's own limits; they always hold, whatever flags say."""

    model_config = ConfigDict(alias_generator=None)

    seconds: Annotated[float, Field(gt=0, le=1e7)] | None = None
    """Wall time of an attempt."""
    tool_calls: Annotated[int, Field(ge=0)] | None = None
    model_calls: Annotated[int, Field(ge=0)] | None = None
    cost_usd: Annotated[float, Field(ge=0)] | None = None


class Case(Record):
    """One case of the suite."""

    id: CaseId
    """Unique in the suite."""
    title: str | None = None
    """Shown to people; not part of the case digest."""
    tags: tuple[str, ...] = ()
    """Labels; not part of the case digest."""
    protected: bool = False
    """Comes first everywhere, and --allow-removed never covers it."""
    input: str | Annotated[tuple[Message, ...], Field(min_length=1)]
    """What the user says; several messages are a multi-turn conversation."""
    state: dict[str, Json] | None = None
    """Merged over the suite's state.json for this case only (RFC 7386)."""
    routes: tuple[Route, ...] = ()
    """Tried before the suite's."""
    faults: CaseFaults | None = None
    """Active only under the fault profile."""
    setup: str | None = None
    """A shell script that is run first; needs a container of its own."""
    working_dir: str | None = Field(default=None, alias="working_dir")
    """A folder in working_dirs/, copied for the attempt; needs a container of its own."""
    image: str | None = None
    """The image of the attempt; needs a container of its own."""
    limits: CaseLimits = CaseLimits()
    expect: Expect

    @property
    def shown_title(self) -> str:
        """The title, or the id where there is none."""
        return self.title or self.id

    @property
    def messages(self) -> tuple[Message, ...]:
        """The user messages in order."""
        if isinstance(self.input, str):
            return (Message(role="user", content=self.input),)
        return self.input


class CasesFile(Record):
    """cases.json."""

    revision: str | None = None
    cases: tuple[Case, ...]
