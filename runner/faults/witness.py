"""Whether an attempt met each fault that was planned for it: from a proxy's counters, and from the journal.

Counted is what a connection carried by its end. What every type of toxic lets be counted are the bytes that the agent
sent, so without any no fault was met. A toxic that delays is met by whoever sends a request, and so is a time-out on
the way back, through which no answer comes, however late it would be. One that cuts is met where the proxy received
more in its direction than it passed on. There it may also stop reading for good, so that what it received is never
counted: then it passed on more than it received, or nothing at all of an answer that was given.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from contracts.attempt import FaultWitness
from contracts.journal import JournalRow, Via
from contracts.suite.case import Case
from contracts.suite.fault import ResponseFault, Toxic
from contracts.verdict import missed_faults
from runner.faults.counters import Counters

_DELAYING = frozenset({"latency", "bandwidth", "slicer", "slow_close"})
_NO_ANSWER = 0
"""The status in the row of a request that got none."""


def is_met(toxic: Toxic, counters: Counters, *, was_answered: bool = False) -> bool:
    """Whether the agent met the toxic; `was_answered`: the fixture API answered at once what came through its proxy."""
    flow, other = counters.of(toxic.stream), counters.upstream
    if not any((other.received, other.sent, flow.received, flow.sent)):
        return False
    if toxic.type in _DELAYING:
        return True
    if flow.sent > flow.received:
        return True
    if toxic.type == "timeout" and toxic.stream == "downstream" and not flow.sent:
        return True
    limit = toxic.attributes.get("bytes", 0) if toxic.type == "limit_data" else 0
    if flow.received > flow.sent:
        return flow.received > limit  # less than the limit is lost to another toxic, or to an agent that left
    is_silent = toxic.stream == "downstream" and limit == 0 and not flow.received
    return is_silent and was_answered


def all_met(toxics: Sequence[Toxic], flows: Mapping[str, Counters]) -> bool:
    """Whether the counters alone say that every toxic was met; `flows` are by target."""
    return all(is_met(toxic, flows[toxic.target]) for toxic in toxics)


def witnesses(case: Case, flows: Mapping[str, Counters], rows: Sequence[JournalRow]) -> tuple[FaultWitness, ...] | None:
    """One for each planned fault of the case; None where none is planned."""
    if case.faults is None:
        return None
    network = [
        _of_toxic(index, toxic, flows[toxic.target], was_answered=_was_answered(toxic.target, rows))
        for index, toxic in enumerate(case.faults.network)
    ]
    responses = [_of_response(index, fault, rows) for index, fault in enumerate(case.faults.responses)]
    return (*network, *responses) or None


def _was_answered(target: str, rows: Iterable[JournalRow]) -> bool:
    is_model = target == "model"
    return any(row.status != _NO_ANSWER and not row.delay_ms and (row.via is Via.MODEL) is is_model for row in rows)


def _of_toxic(index: int, toxic: Toxic, counters: Counters, *, was_answered: bool) -> FaultWitness:
    flow = counters.of(toxic.stream)
    return FaultWitness(
        kind="network",
        index=index,
        type=toxic.type,
        met=is_met(toxic, counters, was_answered=was_answered),
        target=toxic.target,
        stream=toxic.stream,
        request_bytes=counters.upstream.received,
        received_bytes=flow.received,
        sent_bytes=flow.sent,
    )


def _of_response(index: int, fault: ResponseFault, rows: Iterable[JournalRow]) -> FaultWitness:
    answers = sum(row.fault == f"{fault.kind}#{index}" for row in rows)
    return FaultWitness(
        kind="response", index=index, type=fault.kind, met=answers > 0, route=fault.route, answers=answers
    )


def not_met_reason(faults: Sequence[FaultWitness]) -> str | None:
    """Which planned faults the attempt did not meet; None where it met all."""
    missed = [_named(fault) for fault in missed_faults(faults)]
    return f"it never met {', '.join(missed)}" if missed else None


def _named(fault: FaultWitness) -> str:
    if fault.kind == "response":
        return f'the response fault {fault.type} (route "{fault.route}" gave no such answer)'
    how = f"{fault.request_bytes} bytes of requests" if fault.request_bytes else "no request"
    return f"the network fault {fault.type} on {fault.stream} of its {fault.target} ({how} came through the proxy)"
