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
    type: str
    value: Json = Field()


class Expect(Record):
    """What must hold after the attempt; every list that is absent makes no check."""

    tool_calls: tuple[ExpectedCall, ...] | None = None
    tool_match: ToolMatch = "names"
    min_f1: Annotated[float, Field(ge=0, le=1, alias="minF1")] = 1.0
    never_tools: tuple[str, ...] = ()
    denied_tools: tuple[str, ...] = ()
    tool_order: tuple[tuple[str, str], ...] = ()
    state: tuple[ExpectedState, ...] = ()
    assertions: tuple[Assertion, ...] = ()
    size: Literal["S", "M", "L", "XL"] | None = None
    relevance: tuple[str, ...] = ()
    unmatched_requests: Literal["fail", "unknown", "allow"] = "fail"

    @property
    def is_empty(self) -> bool:
        """True when nothing is expected that could fail the case."""
        lists = (self.never_tools, self.denied_tools, self.tool_order, self.state, self.assertions, self.relevance)
        return self.tool_calls is None and self.size is None and not any(lists)


class CaseLimits(Record):
    """The case's own limits; they always hold, whatever flags say."""

    model_config = ConfigDict(alias_generator=None)

    seconds: Annotated[float, Field(gt=0)] | None = None
    tool_calls: Annotated[int, Field(ge=0)] | None = None
    model_calls: Annotated[int, Field(ge=0)] | None = None
    cost_usd: Annotated[float, Field(ge=0)] | None = None


class Case(Record):
    """One case of the suite."""

    id: CaseId
    title: str | None = None
    tags: tuple[str, ...] = ()
    protected: bool = False
    input: str | Annotated[tuple[Message, ...], Field(min_length=1)]
    state: dict[str, Json] | None = None
    routes: tuple[Route, ...] = ()
    faults: CaseFaults | None = None
    setup: str | None = None
    working_dir: str | None = Field(default=None, alias="working_dir")
    image: str | None = None
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
