"""tools.json: the tools that agents are offered, and how each one is called over HTTP."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from contracts.record import Json, Record
from contracts.suite.route import Method, RoutePath


class ToolHttp(Record):
    """Binds a tool: path parameters by name, the other arguments as query (GET, HEAD, DELETE) or JSON body."""

    method: Method
    path: RoutePath


class ToolFunction(Record):
    """An OpenAI function tool."""

    name: str = Field(min_length=1)
    description: str | None = None
    parameters: dict[str, Json] = Field(default_factory=dict)
    """JSON Schema of the arguments object."""
    strict: bool | None = None


class Tool(Record):
    """One tool; without `http` it is unbound: nothing but the agent's events can tell of it."""

    type: Literal["function"] = "function"
    function: ToolFunction
    http: ToolHttp | None = None

    @property
    def name(self) -> str:
        """The tool's name."""
        return self.function.name

    def offered(self) -> dict[str, Json]:
        """The tool as a chat model is offered it: without its binding."""
        return {"type": "function", "function": self.function.to_json()}


class ToolsFile(Record):
    """tools.json."""

    tools: tuple[Tool, ...]
