"""From what a proxy counted, and what the journal has, to whether a planned fault was met."""

from __future__ import annotations

from typing import Any

import pytest

from contracts.journal import JournalRow
from contracts.suite.fault import Toxic
from runner.faults.counters import Counters, Flow, counters_in
from runner.faults.witness import is_met, not_met_reason, witnesses
from tests.fakes.assignments import case_of, served_of

METRICS = """\
# HELP toxiproxy_proxy_received_bytes_total
# TYPE toxiproxy_proxy_received_bytes_total counter
toxiproxy_proxy_received_bytes_total{direction="downstream",listener="127.0.0.1:1",proxy="one",upstream="a:1"} 90
toxiproxy_proxy_received_bytes_total{direction="upstream",listener="127.0.0.1:1",proxy="one",upstream="a:1"} 1.5e+06
toxiproxy_proxy_received_bytes_total{direction="upstream",listener="127.0.0.1:2",proxy="one",upstream="a:1"} 5
toxiproxy_proxy_sent_bytes_total{direction="upstream",listener="127.0.0.1:1",proxy="one",upstream="a:1"} 7
toxiproxy_proxy_sent_bytes_total{direction="upstream",listener="[::]:3",proxy="two",upstream="a:1"} 1
go_goroutines 9
"""


def toxic(kind: str, stream: str = "downstream", **attributes: int) -> Toxic:
    return Toxic.model_validate({"type": kind, "stream": stream, "attributes": attributes})


def counted(up: tuple[int, int] = (0, 0), down: tuple[int, int] = (0, 0)) -> Counters:
    """Received and sent, in each direction."""
    return Counters(upstream=Flow(*up), downstream=Flow(*down))


def test_counters_are_summed_by_proxy_over_the_addresses_it_had() -> None:
    assert counters_in(METRICS) == {
        "one": counted(up=(1_500_005, 7), down=(90, 0)),
        "two": counted(up=(0, 1)),
    }
    assert counted(up=(9, 8), down=(7, 6)) - counted(up=(1, 2), down=(3, 4)) == counted(up=(8, 6), down=(4, 2))


@pytest.mark.parametrize(
    "kind", ["latency", "bandwidth", "slicer", "slow_close", "timeout", "reset_peer", "limit_data"]
)
@pytest.mark.parametrize("stream", ["downstream", "upstream"])
def test_who_sends_nothing_meets_nothing(kind: str, stream: str) -> None:
    assert not is_met(toxic(kind, stream), counted())
    assert not is_met(toxic(kind, stream), counted(), was_answered=True)


@pytest.mark.parametrize("kind", ["latency", "bandwidth", "slicer", "slow_close"])
@pytest.mark.parametrize("stream", ["downstream", "upstream"])
def test_whoever_sends_a_request_meets_what_delays(kind: str, stream: str) -> None:
    assert is_met(toxic(kind, stream), counted(up=(60, 60), down=(90, 90)))
    assert is_met(toxic(kind, stream), counted(up=(60, 0)))


@pytest.mark.parametrize(
    ("what", "met", "counters"),
    [
        (toxic("timeout"), True, counted(up=(60, 60), down=(90, 0))),
        (toxic("timeout"), False, counted(up=(60, 60), down=(90, 90))),
        (toxic("timeout"), True, counted(up=(60, 60))),  # cut before a slow answer came
        (toxic("timeout", "upstream"), True, counted(up=(60, 0))),
        (toxic("reset_peer"), True, counted(up=(60, 60), down=(90, 0))),
        (toxic("limit_data", bytes=40), True, counted(up=(60, 60), down=(90, 40))),
        (toxic("limit_data", bytes=90), False, counted(up=(60, 60), down=(90, 90))),
        (toxic("limit_data", bytes=100), False, counted(up=(60, 60), down=(90, 0))),  # the agent left before it came
        (toxic("limit_data", bytes=40), True, counted(up=(60, 60), down=(0, 40))),  # the proxy stopped reading
        (toxic("limit_data", "upstream", bytes=40), True, counted(up=(0, 40))),
    ],
)
def test_what_cuts_is_met_where_more_came_in_than_went_on(what: Toxic, met: bool, counters: Counters) -> None:
    assert is_met(what, counters) is met


@pytest.mark.parametrize(
    ("what", "met"),
    [
        (toxic("reset_peer"), True),
        (toxic("limit_data", bytes=0), True),
        (toxic("limit_data", bytes=1), False),
        (toxic("timeout", "upstream"), False),
    ],
)
def test_an_answer_of_which_the_proxy_counted_nothing_was_cut_where_nothing_could_pass(what: Toxic, met: bool) -> None:
    nothing_back = counted(up=(60, 60))

    assert is_met(what, nothing_back, was_answered=True) is met
    assert not is_met(what, nothing_back)


def row(fault: str | None = None, **fields: Any) -> JournalRow:
    return served_of(1, "lookup_order").row.model_copy(update={"fault": fault, **fields})


def test_a_response_fault_was_met_as_often_as_the_journal_has_it() -> None:
    planned = [{"route": "a", "kind": "empty"}, {"route": "b", "kind": "empty"}, {"route": "b", "kind": "truncated"}]
    case = case_of(faults={"responses": planned})
    found = witnesses(case, {}, [row("empty#1"), row(None), row("empty#1"), row("truncated#2")])

    assert found is not None
    assert [(one.index, one.route, one.met, one.answers) for one in found] == [
        (0, "a", False, 0),
        (1, "b", True, 2),
        (2, "b", True, 1),
    ]
    assert not_met_reason(found) == 'it never met the response fault empty (route "a" gave no such answer)'
    assert not_met_reason(found[1:]) is None


def test_each_toxic_is_looked_for_at_its_own_target() -> None:
    planned = [{"type": "reset_peer"}, {"type": "latency", "attributes": {"latency": 1}, "target": "model"}]
    flows = {"tools": counted(up=(9, 9), down=(8, 0)), "model": counted()}
    found = witnesses(case_of(faults={"network": planned}), flows, [])

    assert found is not None
    assert [(one.target, one.met, one.request_bytes, one.sent_bytes) for one in found] == [
        ("tools", True, 9, 0),
        ("model", False, 0, 0),
    ]
    assert not_met_reason(found) == (
        "it never met the network fault latency on downstream of its model (no request came through the proxy)"
    )


def test_an_answer_of_the_model_is_no_answer_of_a_tool() -> None:
    case = case_of(faults={"network": [{"type": "reset_peer"}]})
    flows = {"tools": counted(up=(9, 9))}
    model_row = served_of(1, None).row

    for rows, met in (([model_row], False), ([row(delay_ms=5)], False), ([row(status=0)], False), ([row()], True)):
        found = witnesses(case, flows, rows)
        assert found is not None
        assert found[0].met is met


def test_without_planned_faults_there_is_nothing_to_witness() -> None:
    assert witnesses(case_of(), {}, [row()]) is None
    assert witnesses(case_of(faults={}), {}, [row()]) is None
