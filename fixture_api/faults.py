"""Response faults: bad answers of chosen routes, planned by a case and served only to attempts that ask for them.

`status`, `empty` and `timeout` stand instead of the route: nothing of it happens, and its responses do not move on.
`malformed-json`, `truncated` and `wrong-content-type` spoil the answer that the route gave: its effects have applied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from typing import NamedTuple

from contracts.suite.fault import ResponseFault
from contracts.suite.route import WITHOUT_BODY
from fixture_api.answers import Answer, cut_off, json_bytes, make_answer, make_head
from fixture_api.journal import Decision, Ending

UNANSWERED = 0
"""The status in the row of a request that got no answer."""

_JSON = {"content-type": "application/json"}
_HTML, _BYTES = "text/html; charset=utf-8", "application/octet-stream"
_EMPTY = make_answer(make_head(HTTPStatus.OK, _JSON), b"")
_NOTHING = make_answer(make_head(UNANSWERED, {}), b"")._replace(length=b"")


class CompiledFault(NamedTuple):
    """One fault of a case, ready to be served."""

    name: str
    """`KIND#INDEX` in the case's list."""
    first: int
    """The number of good answers of the route before it."""
    last: int | None
    """The number of answers after which it is over; None: never."""
    instead: Decision | None
    """What is served instead of the route's answer."""
    spoil: Callable[[Decision], Decision]
    """Makes the route's answer a bad one; not used where there is an `instead`."""


FaultPlan = Mapping[str, tuple[CompiledFault, ...]]
"""The faults of a case by the id of their route."""


class Faults:
    """The faults that one attempt meets: a plan, and how often each of its routes has answered."""

    def __init__(self, plan: FaultPlan) -> None:
        self._plan = plan
        self._answers = dict.fromkeys(plan, 0)

    def due(self, route_id: str) -> CompiledFault | None:
        """The fault of the route's next answer: the first in the plan whose time it is."""
        for fault in self._plan.get(route_id, ()):
            if fault.first <= self._answers[route_id] and (fault.last is None or self._answers[route_id] < fault.last):
                return fault
        return None

    def count(self, route_id: str) -> None:
        """The route has answered, well or badly."""
        if route_id in self._answers:
            self._answers[route_id] += 1


def compile_faults(faults: Iterable[ResponseFault]) -> FaultPlan:
    """The plan of a case."""
    plan: dict[str, list[CompiledFault]] = {}
    for index, fault in enumerate(faults):
        plan.setdefault(fault.route, []).append(_compile(fault, name=f"{fault.kind}#{index}"))
    return {route: tuple(compiled) for route, compiled in plan.items()}


def _compile(fault: ResponseFault, *, name: str) -> CompiledFault:
    last = None if fault.times is None else fault.skip + fault.times
    instead = _instead(fault)
    return CompiledFault(
        name=name,
        first=fault.skip,
        last=last,
        instead=instead._replace(route=fault.route, fault=name) if instead else None,
        spoil=lambda decision: _spoiled(decision, fault, name=name),
    )


def _instead(fault: ResponseFault) -> Decision | None:
    if fault.kind == "status":
        status = HTTPStatus.INTERNAL_SERVER_ERROR if fault.value is None else fault.value
        return Decision(_status(int(status)))
    if fault.kind == "empty":
        return Decision(_EMPTY)
    if fault.kind == "timeout":
        if fault.value is None:
            return Decision(_NOTHING, ending=Ending.HELD_TO_THE_END)
        return Decision(_NOTHING, delay_ms=int(fault.value), ending=Ending.HELD)
    return None


def _status(status: int) -> Answer:
    if status in WITHOUT_BODY:
        return make_answer(make_head(status, {}), b"")
    head = make_head(status, _JSON)
    phrase = HTTPStatus(status).phrase if status in set(HTTPStatus) else f"status {status}"
    return make_answer(head, json_bytes({"error": phrase}))


def _spoiled(decision: Decision, fault: ResponseFault, *, name: str) -> Decision:
    """The decision with its answer spoiled; as it was where it has no body to spoil, which lint refuses."""
    answer = decision.answer
    if not answer.body:
        return decision
    if fault.kind == "malformed-json":
        return decision._replace(answer=make_answer(answer.head, _malformed(answer.body)), fault=name)
    if fault.kind == "wrong-content-type":
        return decision._replace(answer=_with_wrong_type(answer), fault=name)
    half = len(answer.body) // 2 if fault.value is None else fault.value
    cut = cut_off(answer, after=min(half, len(answer.body) - 1))
    return decision._replace(answer=cut, fault=name, ending=Ending.CUT)


def _malformed(body: bytes) -> bytes:
    """Bytes that no JSON parser takes, as near to the body as can be: its end is missing, after a comma."""
    text = body.rstrip()
    return text[:-1] + b"," if text.endswith((b"}", b"]")) else b"{" + text + b","


def _with_wrong_type(answer: Answer) -> Answer:
    headers = {name: value for name, value in answer.headers.items() if name != "content-length"}
    wrong = _BYTES if headers.get("content-type", "").startswith("text/html") else _HTML
    return make_answer(make_head(answer.status, headers | {"content-type": wrong}), answer.body)
