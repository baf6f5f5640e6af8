"""The built-in chat loop: a prompt, a model, and tools that are called over HTTP."""

from __future__ import annotations

from dataclasses import dataclass, field

from contracts.attempt import Usage
from contracts.record import Json
from contracts.suite.tool import Tool
from runner import clock
from runner.agents.interface import AgentRun, Assignment, Ending, EndKind, ToolEvent
from runner.agents.limits import passed_limit
from runner.agents.model_client import ModelCall, ModelFailedError, ModelReply, ask_model
from runner.agents.tool_calling import BAD_ARGUMENTS, NO_SUCH_TOOL, ToolResult, call_tool
from runner.http_calls import Exchange, TimedOutError, UnreachableError
from runner.suite_time import CUT_OFF
from runner.texts import BoundedText, cut_text


class ChatAgent:
    """Runs conversations; `server` is the fixture API's data port, shared by all of them."""

    def __init__(self, fixture_url: str, *, server: Exchange) -> None:
        self._server = server
        self._origin = fixture_url.rstrip("/")

    def run(self, assignment: Assignment) -> AgentRun:
        """Give the model each user message in turn, and its tool calls to the tools, one at a time."""
        prefix = assignment.fixture_url.removeprefix(self._origin)
        return _Conversation(assignment=assignment, server=self._server, prefix=prefix).run()


class _OverError(Exception):
    """The conversation cannot go on."""

    def __init__(self, ending: Ending) -> None:
        super().__init__(ending.reason)
        self.ending = ending


@dataclass
class _Conversation:
    assignment: Assignment
    server: Exchange
    prefix: str
    messages: list[Json] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    events: list[ToolEvent] = field(default_factory=list)
    log: BoundedText = field(default_factory=BoundedText)
    model_calls: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None

    def __post_init__(self) -> None:
        seconds = self.assignment.limits.seconds
        self.until = clock.elapsed_s() + seconds if seconds else float("inf")
        self.tools = {tool.name: tool for tool in self.assignment.tools}
        self.offered = [tool.offered() for tool in self.assignment.tools]

    def run(self) -> AgentRun:
        ending = Ending(kind=EndKind.FINISHED)
        try:
            self._converse()
        except _OverError as over:
            ending = over.ending
        return AgentRun(
            ending=ending,
            texts=tuple(self.texts),
            events=tuple(self.events),
            usage=Usage(input_tokens=self.input_tokens, output_tokens=self.output_tokens, model_calls=self.model_calls),
            log=self.log.text(),
        )

    def _converse(self) -> None:
        system = "\n\n".join(text.rstrip("\n") for text in (self.assignment.prompt, self.assignment.policy) if text)
        if system:
            self.messages.append({"role": "system", "content": system})
        for message in self.assignment.case.messages:
            self.messages.append({"role": "user", "content": message.content})
            while calls := self._ask().calls:
                for call in calls:
                    result = self._call(call)
                    self.messages.append({"role": "tool", "tool_call_id": call.id, "content": result.text})

    def _ask(self) -> ModelReply:
        limits = self.assignment.limits
        if self.model_calls >= limits.model_calls:
            raise _OverError(passed_limit("model_calls", limits=limits))
        seconds = min(limits.model_seconds, self._left_s())
        self.model_calls += 1
        try:
            reply = ask_model(self.server, self._request(), prefix=self.prefix, seconds=seconds)
        except ModelFailedError as failure:
            self.log.add(f"{failure}: {failure.detail}\n")
            raise _OverError(Ending(kind=EndKind.AGENT_ERROR, reason=str(failure))) from failure
        except (TimedOutError, UnreachableError) as trouble:
            self._left_s()
            # the model is the lab's own, and no planned fault was on it
            raise _OverError(
                Ending(kind=EndKind.INFRASTRUCTURE, reason=f"the scripted model gave no answer: {trouble}")
            ) from trouble
        self._take(reply)
        return reply

    def _request(self) -> dict[str, Json]:
        agent = self.assignment.agent
        optional = {"temperature": agent.temperature, "max_tokens": agent.max_output_tokens}
        request: dict[str, Json] = {
            "model": (agent.model or "").partition("/")[2],
            "messages": self.messages,
            "seed": self.assignment.conditions.seed,
            **{key: value for key, value in optional.items() if value is not None},
        }
        if self.offered:
            request["tools"] = self.offered
        return request

    def _take(self, reply: ModelReply) -> None:
        self.messages.append(reply.as_message())
        if reply.text:
            self.texts.append(reply.text)
        self.input_tokens = _added(self.input_tokens, reply.input_tokens)
        self.output_tokens = _added(self.output_tokens, reply.output_tokens)

    def _call(self, call: ModelCall) -> ToolResult:
        limits = self.assignment.limits
        if len(self.events) >= limits.tool_calls:
            raise _OverError(passed_limit("tool_calls", limits=limits))
        result = self._result(call, seconds=min(limits.tool_seconds, self._left_s()))
        event = ToolEvent(tool=call.name, arguments=call.arguments, status=result.status, result=cut_text(result.text))
        self.events.append(event)
        self._left_s()
        return result

    def _result(self, call: ModelCall, *, seconds: float) -> ToolResult:
        tool: Tool | None = self.tools.get(call.name)
        if tool is None or tool.http is None:
            return ToolResult(text=NO_SUCH_TOOL, status="no-such-tool")
        if call.arguments is None:
            return ToolResult(text=BAD_ARGUMENTS, status="bad-arguments")
        return call_tool(self.server, tool.http, call.arguments, prefix=self.prefix, seconds=seconds)

    def _left_s(self) -> float:
        now_s, suite_until_s = clock.elapsed_s(), self.assignment.suite_until_s
        if now_s >= self.until:
            raise _OverError(passed_limit("seconds", limits=self.assignment.limits))
        if now_s >= suite_until_s:
            raise _OverError(Ending(kind=EndKind.INFRASTRUCTURE, reason=CUT_OFF))
        return min(self.until, suite_until_s) - now_s


def _added(total: int | None, more: int | None) -> int | None:
    return total if more is None else (total or 0) + more
