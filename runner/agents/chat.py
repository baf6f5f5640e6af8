"""The built-in chat loop: a prompt, a model, and tools that are called over HTTP."""

from __future__ import annotations

from dataclasses import dataclass, field

from contracts.attempt import Usage
from contracts.suite.tool import Tool
from providers.conversation import Reply, ToolCall
from runner import clock
from runner.agents.amounts import added
from runner.agents.chat_model import ChatModel, ModelTroubleError
from runner.agents.data_port import DataPort
from runner.agents.interface import AgentRun, Assignment, Ending, EndKind, ToolEvent
from runner.agents.limits import passed_limit
from runner.agents.scripted_model import ScriptedModel
from runner.agents.tool_calling import BAD_ARGUMENTS, NO_SUCH_TOOL, ToolResult, call_tool
from runner.http_calls import Exchange
from runner.suite_time import CUT_OFF
from runner.texts import BoundedText, cut_text


class ChatAgent:
    """Runs conversations; `server` is the fixture API's data port, shared by all of them.

    `model` is None for the scripted one, which the same port serves.
    """

    def __init__(self, fixture_url: str, *, server: Exchange, model: ChatModel | None = None) -> None:
        self._port = DataPort(fixture_url.rstrip("/"), server)
        self._model = model or ScriptedModel(self._port)

    def run(self, assignment: Assignment) -> AgentRun:
        """Give the model each user message in turn, and its tool calls to the tools, one at a time."""
        server, prefix = self._port.at(assignment.fixture_url)
        conversation = _Conversation(assignment=assignment, server=server, model=self._model, prefix=prefix)
        try:
            return conversation.run()
        finally:
            self._model.end(conversation.session)


class _OverError(Exception):
    """The conversation cannot go on."""

    def __init__(self, ending: Ending) -> None:
        super().__init__(ending.reason)
        self.ending = ending


@dataclass
class _Conversation:
    assignment: Assignment
    server: Exchange
    model: ChatModel
    prefix: str
    texts: list[str] = field(default_factory=list)
    events: list[ToolEvent] = field(default_factory=list)
    log: BoundedText = field(default_factory=BoundedText)
    model_calls: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    output_bytes: int = 0
    """What the model wrote: its texts, and its calls with their arguments."""

    def __post_init__(self) -> None:
        seconds = self.assignment.limits.seconds
        self.until = clock.elapsed_s() + seconds if seconds else float("inf")
        self.tools = {tool.name: tool for tool in self.assignment.tools}
        self.session = self.model.begin(self.assignment)

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
            usage=Usage(
                input_tokens=self.input_tokens,
                output_tokens=self.output_tokens,
                cost_usd=self.cost_usd,
                model_calls=self.model_calls,
            ),
            log=self.log.text(),
        )

    def _converse(self) -> None:
        for message in self.assignment.case.messages:
            self.session.tell(message.content)
            while calls := self._ask().calls:
                for call in calls:
                    self.session.answer(call, self._call(call).text)

    def _ask(self) -> Reply:
        limits = self.assignment.limits
        if self.model_calls >= limits.model_calls:
            raise _OverError(passed_limit("model_calls", limits=limits))
        seconds = min(limits.model_seconds, self._left_s())
        self.model_calls += 1
        try:
            with self.assignment.trace.model_request() as traced:
                reply = self.session.ask(seconds=seconds)
                traced.replied(reply)
        except ModelTroubleError as trouble:
            if trouble.detail:
                self.log.add(f"{trouble.detail}\n")
            self._left_s()
            raise _OverError(trouble.ending) from trouble
        self._take(reply)
        return reply

    def _take(self, reply: Reply) -> None:
        limits = self.assignment.limits
        self.input_tokens = added(self.input_tokens, reply.input_tokens)
        self.output_tokens = added(self.output_tokens, reply.output_tokens)
        self.cost_usd = added(self.cost_usd, reply.cost_usd)
        self.output_bytes += _size(reply)
        if self.output_bytes > limits.output_bytes:
            raise _OverError(passed_limit("output", limits=limits))
        if reply.text:
            self.texts.append(reply.text)
        if limits.cost_usd is not None and self.cost_usd is not None and self.cost_usd > limits.cost_usd:
            raise _OverError(passed_limit("cost", limits=limits))

    def _call(self, call: ToolCall) -> ToolResult:
        limits = self.assignment.limits
        if len(self.events) >= limits.tool_calls:
            raise _OverError(passed_limit("tool_calls", limits=limits))
        with self.assignment.trace.tool_call(call.name, arguments=call.arguments) as traced:
            result = self._result(call, seconds=min(limits.tool_seconds, self._left_s()))
            traced.answered(result.status, result.text)
        event = ToolEvent(tool=call.name, arguments=call.arguments, status=result.status, result=cut_text(result.text))
        self.events.append(event)
        self._left_s()
        return result

    def _result(self, call: ToolCall, *, seconds: float) -> ToolResult:
        tool: Tool | None = self.tools.get(call.name)
        if tool is None or tool.http is None:
            return ToolResult(text=NO_SUCH_TOOL, status="no-such-tool")
        if call.arguments is None:
            return ToolResult(text=BAD_ARGUMENTS, status="bad-arguments")
        headers = self.assignment.trace.headers()
        return call_tool(
            self.server, tool.http, call.arguments, prefix=self.prefix, seconds=seconds, more_headers=headers
        )

    def _left_s(self) -> float:
        now_s, suite_until_s = clock.elapsed_s(), self.assignment.suite_until_s
        if now_s >= self.until:
            raise _OverError(passed_limit("seconds", limits=self.assignment.limits))
        if now_s >= suite_until_s:
            raise _OverError(Ending(kind=EndKind.INFRASTRUCTURE, reason=CUT_OFF))
        return min(self.until, suite_until_s) - now_s


def _size(reply: Reply) -> int:
    """UTF-8 bytes."""
    written = [reply.text or "", *(part for call in reply.calls for part in (call.name, call.written))]
    return sum(len(text.encode("utf-8", "replace")) for text in written)
