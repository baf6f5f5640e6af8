"""The rules of a case's faults: each planned bad answer must be one that can be served as it is planned."""

from __future__ import annotations

import base64
import binascii
import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from contracts.suite.broken import UNKNOWN, Broken
from contracts.suite.fault import CaseFaults, ResponseFault
from contracts.suite.lint_templates import has_reference
from contracts.suite.lint_toxics import lint_toxics
from contracts.suite.problems import Place, Problem, unknown_name
from contracts.suite.route import WITHOUT_BODY, Response, Route
from contracts.suite.wording import describe

_VALUES = {"status": (200, 599), "timeout": (1, 86_400_000), "truncated": (0, 2**31)}
_WINDOW = ("route", "skip", "times")
"""The keys that say which requests a fault is for."""
_TURN = (*_WINDOW, "kind")
"""The keys that say which of a route's responses come after it."""
_ANSWER = ("status", "json", "text", "bytesBase64", UNKNOWN)
"""The keys of a response that say whether it has a body."""
_SPOILS_BODY = frozenset({"malformed-json", "truncated", "wrong-content-type"})


class _Planned(NamedTuple):
    """A fault with its index in the case's list."""

    at: int
    fault: ResponseFault

    @property
    def end(self) -> float:
        """The number, from 0, of the first request to the route that is past the fault."""
        return float("inf") if self.fault.times is None else self.fault.skip + self.fault.times


PlacedRoute = tuple[Route, Place]


class Met(NamedTuple):
    """What the faults of a case can meet."""

    names: Collection[str] | None
    """The ids of all routes; None where nobody can tell them all."""
    routes: Mapping[str, PlacedRoute]
    broken: Broken


def lint_faults(faults: CaseFaults, place: Place, met: Met) -> Iterator[Problem]:
    """Everything that is wrong with the faults of a case."""
    yield from lint_toxics(faults.network, place / "network")
    here = place / "responses"
    by_route: dict[str, list[_Planned]] = defaultdict(list)
    for index, fault in enumerate(faults.responses):
        yield from _lint_fault(fault, here / index, names=met.names)
        by_route[fault.route].append(_Planned(index, fault))
    is_told = not any(met.broken.is_lost(here / index / "route") for index in range(len(faults.responses)))
    for name, planned in by_route.items():
        told = [one for one in planned if not met.broken.is_doubtful(*(here / one.at / key for key in _WINDOW))]
        overlaps = list(_overlaps(told, here))
        yield from overlaps
        if name not in met.routes or overlaps:
            continue
        yield from _lint_bodiless(planned, met.routes[name], here)
        if is_told and not met.broken.is_doubtful(*(here / one.at / key for one in planned for key in _TURN)):
            yield from _lint_spoiled(planned, met.routes[name], here)


def _lint_fault(fault: ResponseFault, place: Place, *, names: Collection[str] | None) -> Iterator[Problem]:
    if names is not None and fault.route not in names:
        yield Problem(unknown_name("route", fault.route, names), place / "route")
    if "value" not in fault.model_fields_set:
        return
    bounds = _VALUES.get(fault.kind)
    if bounds is None:
        text = f"a fault of the kind {fault.kind} has no value"
        yield Problem(text, place / "value", reads=(place / "kind",))
    elif type(fault.value) is not int or not bounds[0] <= fault.value <= bounds[1]:
        text = f"expected a whole number from {bounds[0]} to {bounds[1]}, found {describe(fault.value)}"
        yield Problem(text, place / "value", reads=(place / "kind",))


def _overlaps(planned: Sequence[_Planned], place: Place) -> Iterator[Problem]:
    """A problem for each fault that wants a request which an earlier one of the list has already taken."""
    for position, one in enumerate(planned):
        for earlier in planned[:position]:
            first = max(one.fault.skip, earlier.fault.skip)
            if first < min(one.end, earlier.end):
                text = f'request {first + 1} of the route "{one.fault.route}" is for fault {earlier.at} already'
                yield Problem(f"{text}; expected other `skip` and `times`", place / one.at, reads=())
                break


def _lint_bodiless(planned: Sequence[_Planned], met: PlacedRoute, place: Place) -> Iterator[Problem]:
    route, route_place = met
    for one in planned:
        if route.method == "HEAD" and one.fault.kind in _SPOILS_BODY:
            text = f"the kind {one.fault.kind} needs a body, and an answer to HEAD has none"
            at = place / one.at / "kind"
            yield Problem(text, at, reads=(at, place / one.at / "route", route_place / "method"))


def _lint_spoiled(planned: Sequence[_Planned], met: PlacedRoute, place: Place) -> Iterator[Problem]:
    route, route_place = met
    for one in planned:
        if route.method == "HEAD" or one.fault.kind not in _SPOILS_BODY:
            continue
        at = place / one.at
        for number in _responses_met(one, planned, len(route.responses)):
            key, why = _spoiling_refusal(one.fault, route.responses[number], f'response {number} of "{route.id}"')
            if why:
                answer = route_place / "responses" / number
                reads = (at / "value", route_place / "method", *(answer / part for part in _ANSWER))
                yield Problem(why, at / key, reads=reads)
                break


def _responses_met(one: _Planned, planned: Iterable[_Planned], count: int) -> range:
    """The route's responses that the fault spoils: only answers of the route itself move it on to the next one."""
    skip = one.fault.skip
    instead = sum(
        max(0, int(min(other.end, skip)) - other.fault.skip)
        for other in planned
        if other.fault.kind not in _SPOILS_BODY
    )
    first, last = skip - instead, count - 1
    until = last if one.fault.times is None else first + one.fault.times - 1
    return range(min(first, last), min(until, last) + 1)


def _spoiling_refusal(fault: ResponseFault, response: Response, name: str) -> tuple[str, str | None]:
    """The key of the fault and what is wrong with it."""
    length = _body_length(response)
    if length == 0:
        return "kind", f"the kind {fault.kind} needs a body, and {name} has none"
    if fault.kind == "truncated" and type(fault.value) is int and length is not None and fault.value >= length:
        return "value", f"expected less than {length}, the bytes of {name}, found {describe(fault.value)}"
    return "kind", None


def _body_length(response: Response) -> int | None:
    """Bytes of the body; None where it depends on state or request, or is not right by itself."""
    has_json = "json_body" in response.model_fields_set
    if has_json + (response.text is not None) + (response.bytes_base64 is not None) > 1:
        return None  # said where routes are linted, like what is no base64
    if response.status in WITHOUT_BODY:
        return 0
    if response.text is not None:
        return len(response.text.encode())
    if response.bytes_base64 is not None:
        return _decoded_length(response.bytes_base64)
    if has_json and has_reference(response.json_body):
        return None
    return len(json.dumps(response.json_body, ensure_ascii=False, separators=(",", ":")).encode()) if has_json else 0


def _decoded_length(text: str) -> int | None:
    try:
        return len(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError):
        return None
