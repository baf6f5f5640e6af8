"""What attempts tell of themselves while they happen; here nobody listens, `runner.spans` makes spans of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, NamedTuple

from contracts.attempt import AttemptRecord, Check
from contracts.control import ServedRequest
from contracts.record import Json
from contracts.telemetry import SpanCount
from providers.conversation import Reply

if TYPE_CHECKING:
    from runner.agents.interface import ToolEvent
    from runner.attempts import Task


class TimedCheck(NamedTuple):
    """A check, and the Unix nanoseconds in which it was decided."""

    check: Check
    began_at_ns: int
    ended_at_ns: int


class CallTrace:
    """A tool call under way."""

    def answered(self, status: int | str, text: str) -> None:
        """What came of it: an HTTP status or a word, and what the model reads."""


class RequestTrace:
    """A request to a model under way."""

    def replied(self, reply: Reply) -> None:
        """What the model said."""


_CALL = CallTrace()
_REQUEST = RequestTrace()


class AttemptTrace:
    """One attempt; all of it but `headers` and `traceparent` is called from the attempt's own thread."""

    @property
    def traceparent(self) -> str | None:
        """The attempt's place in the trace, as W3C Trace Context writes it; None: there is no trace."""
        return None

    def headers(self) -> dict[str, str]:
        """What a request of this moment carries, so that spans of whoever takes it join."""
        return {}

    def model_request(self) -> AbstractContextManager[RequestTrace]:
        """Within: the model is asked."""
        return nullcontext(_REQUEST)

    def tool_call(self, tool: str, *, arguments: Json) -> AbstractContextManager[CallTrace]:  # noqa: ARG002 - see above
        """Within: the tool is called."""
        return nullcontext(_CALL)

    def seen(self, served: Sequence[ServedRequest], events: Sequence[ToolEvent]) -> None:
        """What the world served the attempt, and what the agent says of itself."""

    def checked(self, checks: Iterable[TimedCheck]) -> None:
        """What was checked."""

    def finished(self, record: AttemptRecord) -> None:
        """How it ended."""


NO_TRACE = AttemptTrace()
"""Of an attempt that nobody traces."""


class Tracing:
    """All attempts of a run, from many threads."""

    @contextmanager
    def attempt(self, task: Task) -> Iterator[AttemptTrace]:  # noqa: ARG002 - nobody listens
        """Within: an attempt is made."""
        yield NO_TRACE

    def repeat_over(self, task: Task) -> None:
        """No further try of that repeat will be made."""

    def finish(self) -> SpanCount | None:
        """The run is over: what became of the spans, once all were handed on or the time for that was up; else None."""
        return None


NO_TRACING = Tracing()
"""Without the profile observe."""
