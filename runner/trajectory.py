"""What an agent did: the journal's rows for bound tools, its own events for the others, in one order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from contracts.attempt import TrajectoryCall
from contracts.control import ServedRequest
from runner.agents.interface import ToolEvent
from runner.json_values import digest_of_any, equal_json
from runner.texts import cut_text


def merge_trajectory(
    served: Sequence[ServedRequest], events: Sequence[ToolEvent], *, bound_tools: frozenset[str]
) -> tuple[TrajectoryCall, ...]:
    """The calls that were made and those that were claimed.

    A bound tool's call happened when the journal has it. The order is the journal's; an event that matches no row
    stands after the row of the last event before it that matched one.
    """
    made = [request for request in served if request.row.tool is not None]
    rows = _match(made, events, bound_tools=bound_tools)
    claimed_only: dict[int, list[TrajectoryCall]] = {}
    last_row = -1
    for event, row in zip(events, rows, strict=True):
        if row is None:
            claimed_only.setdefault(last_row, []).append(_claimed_call(event, counts=event.tool not in bound_tools))
        else:
            last_row = max(last_row, row)
    matched = set(rows)
    calls = claimed_only.get(-1, [])
    for index, request in enumerate(made):
        calls.append(_made_call(request, claimed=index in matched))
        calls.extend(claimed_only.get(index, ()))
    return tuple(calls)


def _match(
    made: Sequence[ServedRequest], events: Sequence[ToolEvent], *, bound_tools: frozenset[str]
) -> list[int | None]:
    """For each event the index of its row: the first one left with the same tool and arguments."""
    free = list(range(len(made)))
    rows: list[int | None] = []
    for event in events:
        row = next((index for index in free if _is_same(made[index], event)), None)
        row = row if event.tool in bound_tools else None
        if row is not None:
            free.remove(row)
        rows.append(row)
    return rows


def _is_same(request: ServedRequest, event: ToolEvent) -> bool:
    return request.row.tool == event.tool and equal_json(request.arguments, event.arguments)


def _made_call(request: ServedRequest, *, claimed: bool) -> TrajectoryCall:
    return TrajectoryCall(
        tool=request.row.tool or "",
        arguments=request.arguments,
        status=request.row.status,
        made=True,
        claimed=claimed,
        counts=True,
        request_digest=request.row.request_digest,
        response_digest=request.row.response_digest,
        result=_cut(request.response_text),
    )


def _claimed_call(event: ToolEvent, *, counts: bool) -> TrajectoryCall:
    return TrajectoryCall(
        tool=event.tool,
        arguments=event.arguments,
        status=event.status,
        made=False,
        claimed=True,
        counts=counts,
        result=_cut(event.result),
    )


def _cut(text: str | None) -> str | None:
    return None if text is None else cut_text(text)


def counted(calls: Iterable[TrajectoryCall]) -> list[TrajectoryCall]:
    """The calls that are part of what the agent did."""
    return [call for call in calls if call.counts]


def digest_trajectory(calls: Iterable[TrajectoryCall]) -> str:
    """The digest of tools, arguments and statuses of the calls that count, in order."""
    return digest_of_any([[call.tool, call.arguments, call.status] for call in counted(calls)])
