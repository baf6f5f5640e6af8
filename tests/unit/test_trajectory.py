"""The journal decides about bound tools, events about the others; claims that the journal lacks are shown."""

from __future__ import annotations

from contracts.control import ServedRequest
from runner.agents.interface import ToolEvent
from runner.trajectory import counted, digest_trajectory, merge_trajectory
from tests.fakes.assignments import served_of

BOUND = frozenset({"ask", "pay"})


def event(tool: str, arguments: dict[str, object] | None = None, status: int | str | None = None) -> ToolEvent:
    return ToolEvent(tool=tool, arguments=arguments or {}, status=status)


def shown(served: list[ServedRequest], events: list[ToolEvent]) -> list[str]:
    calls = merge_trajectory(served, events, bound_tools=BOUND)
    return [
        f"{call.tool} {'made' if call.made else '-'} {'claimed' if call.claimed else '-'}"
        f" {'counts' if call.counts else '-'}"
        for call in calls
    ]


def test_without_any_event_the_journal_is_the_trajectory() -> None:
    assert shown([served_of(1, "ask", {}), served_of(2, "pay", {})], []) == [
        "ask made - counts",
        "pay made - counts",
    ]


def test_requests_that_are_no_tool_call_are_left_out() -> None:
    assert shown([served_of(1, None), served_of(2, "ask", {})], []) == ["ask made - counts"]


def test_a_claim_that_the_journal_confirms_is_one_call() -> None:
    assert shown([served_of(1, "ask", {"x": 1})], [event("ask", {"x": 1.0})]) == ["ask made claimed counts"]


def test_a_bound_call_that_was_only_claimed_is_shown_and_does_not_count() -> None:
    assert shown([], [event("pay")]) == ["pay - claimed -"]


def test_a_claim_with_other_arguments_is_another_call() -> None:
    assert shown([served_of(1, "pay", {"amount": 2})], [event("pay", {"amount": 1})]) == [
        "pay - claimed -",
        "pay made - counts",
    ]


def test_a_second_claim_of_one_call_is_only_claimed() -> None:
    assert shown([served_of(1, "pay", {})], [event("pay"), event("pay")]) == [
        "pay made claimed counts",
        "pay - claimed -",
    ]


def test_an_unbound_tools_event_counts_and_stands_after_the_last_confirmed_claim_before_it() -> None:
    served = [served_of(1, "ask", {}), served_of(2, "pay", {})]

    assert shown(served, [event("first"), event("ask"), event("then"), event("pay"), event("last")]) == [
        "first - claimed counts",
        "ask made claimed counts",
        "then - claimed counts",
        "pay made claimed counts",
        "last - claimed counts",
    ]


def test_the_journals_order_wins_over_the_order_of_claims() -> None:
    served = [served_of(1, "ask", {}), served_of(2, "pay", {})]

    assert shown(served, [event("pay"), event("ask"), event("then")]) == [
        "ask made claimed counts",
        "pay made claimed counts",
        "then - claimed counts",
    ]


def test_the_served_status_wins_over_the_claimed_one() -> None:
    (call,) = merge_trajectory([served_of(1, "pay", {}, status=500)], [event("pay", status=200)], bound_tools=BOUND)

    assert call.status == 500


def test_the_digest_covers_tools_arguments_and_statuses_of_counted_calls_only() -> None:
    def digest(*served: ServedRequest, events: tuple[ToolEvent, ...] = ()) -> str:
        return digest_trajectory(merge_trajectory(served, events, bound_tools=BOUND))

    base = digest(served_of(1, "ask", {"x": 1}))
    assert digest(served_of(9, "ask", {"x": 1}), events=(event("pay"),)) == base
    assert digest(served_of(1, "ask", {"x": 2})) != base
    assert digest(served_of(1, "ask", {"x": 1}, status=404)) != base
    assert digest(served_of(1, "pay", {"x": 1})) != base
    assert digest(served_of(1, "ask", {"x": 1}), events=(event("think"),)) != base


def test_the_digest_takes_integers_that_canonical_json_refuses() -> None:
    big = digest_trajectory(merge_trajectory([], [event("think", {"n": 2**60})], bound_tools=BOUND))

    assert big != digest_trajectory(merge_trajectory([], [event("think", {"n": 2**60 + 1})], bound_tools=BOUND))


def test_long_results_are_cut_with_a_note() -> None:
    long = ToolEvent(tool="think", arguments={}, result="x" * 100_000)

    (call,) = merge_trajectory([], [long], bound_tools=BOUND)

    assert call.result is not None
    assert len(call.result) < 70_000
    assert "[... 34464 bytes left out ...]" in call.result


def test_counted_are_the_made_and_the_unbound() -> None:
    calls = merge_trajectory([served_of(1, "ask", {})], [event("pay"), event("think")], bound_tools=BOUND)

    assert [call.tool for call in counted(calls)] == ["think", "ask"]
