"""One attempt at a served agent: its requests, its limits while they are answered, and how it ends."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from contracts.record import Json
from runner.agents.claims import Claims, agent_error, heard, hiding
from runner.agents.event_lines import EventLines
from runner.agents.interface import AgentRun, Assignment, Ending, EndKind
from runner.agents.limits import passed_limit
from runner.cuttable_calls import Address, Call, CallFailedError
from runner.texts import TEXT_BYTES

_OK = range(200, 300)
_REDIRECTS = range(300, 400)


@dataclass(frozen=True)
class Endpoint:
    """Where a served agent is asked, as whom, and who knows what became of it."""

    address: Address
    token: str | None = None
    """Sent as a bearer token."""
    gone: Callable[[], Ending | None] = lambda: None
    """After a broken connection: the ending that its process, where it is the lab's own, explains."""

    def headers(self) -> dict[str, str]:
        """What every request has, with credentials."""
        return {**JSON_HEADERS, **({"authorization": f"Bearer {self.token}"} if self.token is not None else {})}


JSON_HEADERS = {"content-type": "application/json", "accept": "application/json, application/x-ndjson"}


class OverError(Exception):
    """The attempt cannot go on."""

    def __init__(self, ending: Ending) -> None:
        super().__init__(ending.reason)
        self.ending = ending


class ServedAttempt:
    """Asks; `stop` may come from any thread and cuts whatever is under way."""

    def __init__(self, assignment: Assignment, endpoint: Endpoint) -> None:
        self.assignment = assignment
        self.claims = Claims(assignment, EventLines(hide=hiding(assignment)))
        self._endpoint = endpoint
        self._lock = threading.Lock()
        self._call: Call | None = None
        self._stopped: Ending | None = None
        self._received_bytes = 0

    def ask(self, document: Json) -> tuple[Mapping[str, str], Iterator[bytes]]:
        """POST the document: the answer's headers, and its body as it comes.

        Raises:
            OverError: it answered with something else than success, or the attempt was stopped before.
            runner.cuttable_calls.CallFailedError: no answer came, or it broke off (also while the body is read).

        """
        call = self._next_call()
        body = json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")
        status, headers = call.post(body, {**self._endpoint.headers(), **_attempt_headers(self.assignment)})
        if status not in _OK:
            self._keep(call)
            more = "; redirects are not followed" if status in _REDIRECTS else ""
            raise OverError(agent_error(f"it answered {status}{more}"))
        if headers.get("content-encoding", "identity") != "identity":
            raise OverError(agent_error("its reply is compressed, which nobody asked for"))
        return headers, self._bounded(call)

    def _next_call(self) -> Call:
        with self._lock:
            if self._stopped is not None:
                raise OverError(self._stopped)
            if self._call is not None:
                self._call.close()
            self._call = Call(self._endpoint.address)
            return self._call

    def _bounded(self, call: Call) -> Iterator[bytes]:
        limits = self.assignment.limits
        for piece in call.pieces():
            self._received_bytes += len(piece)
            if self._received_bytes > limits.output_bytes:
                raise OverError(passed_limit("output", limits=limits))
            yield piece

    def _keep(self, call: Call) -> None:
        """What came beside a bad status is for whoever reads the log."""
        kept = b""
        with suppress(CallFailedError):  # the status is what counts
            for piece in call.pieces():
                kept += piece
                if len(kept) > TEXT_BYTES:
                    break
        self.claims.reader.log.add(kept.decode(errors="replace"))

    def keep_limits(self) -> None:
        """Raise OverError when the events so far went past a limit."""
        passed = self.claims.passed()
        if passed is not None:
            raise OverError(passed)

    def hear(self, about: object) -> None:
        """Take what the world says of the attempt."""
        ending = heard(about, self.assignment)
        if ending is not None:
            self.stop(ending)

    def stop(self, ending: Ending) -> None:
        """End the attempt now; the first one decides how."""
        with self._lock:
            if self._stopped is None:
                self._stopped = ending
            call = self._call
        if call is not None:
            call.cut()

    def result_of(self, ask: Callable[[ServedAttempt], None]) -> AgentRun:
        """Let `ask` do the asking, whatever comes of it."""
        try:
            ending = self._ending_of(ask)
        finally:
            with self._lock:
                call, self._call = self._call, None
            if call is not None:
                call.close()
        lines = self.claims.reader
        lines.finish()
        return AgentRun(
            ending=self._stopped or ending,
            texts=tuple(lines.texts),
            events=tuple(lines.calls),
            usage=lines.usage,
            log=self.claims.log(),
        )

    def _ending_of(self, ask: Callable[[ServedAttempt], None]) -> Ending:
        try:
            ask(self)
            self.keep_limits()
        except OverError as over:
            return over.ending
        except CallFailedError as trouble:
            if self._stopped is not None:
                return self._stopped
            return self.claims.told() or self._endpoint.gone() or agent_error(str(trouble))
        return self.claims.told() or Ending(kind=EndKind.FINISHED)


def _attempt_headers(assignment: Assignment) -> dict[str, str]:
    return {
        "x-eval-case": assignment.case.id,
        "x-lab-attempt": str(assignment.attempt),
        "x-lab-fixture-url": assignment.fixture_url,
        "x-lab-model-url": assignment.model_url,
        **assignment.trace.headers(),
    }
