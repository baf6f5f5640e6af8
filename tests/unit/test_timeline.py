"""The spans of a case as a person reads them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from contracts import evidence
from contracts.errors import ErrorCode, LabError
from driver.otlp_lines import Span, parse_line, spans_of
from driver.timeline import MOST_SPANS, shown_time, timeline_lines, timeline_text
from ledger.screen_text import Screen
from tests.fakes.spans import line_of, span_json
from tests.fakes.written_runs import attempt_of, plan_of, write_run

CASE: dict[str, Any] = {"labctl.case.id": "refund"}
TREE = (
    span_json(0, parent=99, name="case refund", **CASE),
    span_json(1, parent=0, name="invoke_agent desk", **CASE, **{"labctl.kind": "attempt", "labctl.attempt": 2}),
    span_json(2, parent=1, name="execute_tool lookup_order", **CASE, **{"http.response.status_code": 200}),
    span_json(3, parent=1, name="check " + "long " * 20, **CASE, **{"labctl.outcome": "fail"}),
)


def spans(*raw: dict[str, Any]) -> list[Span]:
    return list(spans_of(parse_line(line_of(*raw))))


def lines_of(raw: Sequence[dict[str, Any]], **screen: Any) -> list[str]:
    return list(timeline_lines(spans(*raw), case_id="refund", **screen))


def test_spans_stand_in_a_tree_with_bars_and_durations_on_eighty_columns() -> None:
    assert lines_of(TREE) == [
        "refund: 4 spans in 13 ms",
        "                                         |0                      13 ms|",
        "case refund                              |=====================       |    10 ms",
        "  invoke_agent desk #2                   |  =====================     |    10 ms",
        "    execute_tool lookup_order 200        |    =====================   |    10 ms",
        "    check long long long long lon.. fail |      ======================|    10 ms",
    ]


def test_no_line_is_wider_than_the_terminal_and_nothing_is_coloured_off_it() -> None:
    assert all(len(line) <= 80 and line.isascii() and "\x1b" not in line for line in lines_of(TREE))
    wide = lines_of(TREE, screen=Screen(width=120, is_terminal=True, has_colour=False))
    assert {len(line) for line in wide[2:]} == {120}
    assert "\x1b[" in lines_of(TREE, screen=Screen(width=120, is_terminal=True, has_colour=True))[2]


def test_a_name_that_would_move_the_cursor_is_escaped() -> None:
    (line,) = lines_of([span_json(1, name="case \x1b[2J", **CASE)])[2:]
    assert line.startswith("case \\x1b[2J")


def test_a_span_whose_parent_was_lost_stands_at_the_left_and_one_of_no_time_has_a_mark() -> None:
    alone = span_json(5, parent=77, name="chat", **CASE)
    alone["endTimeUnixNano"] = alone["startTimeUnixNano"]
    (line,) = lines_of([alone])[2:]
    assert line.startswith("chat ")
    assert line.endswith(" -")
    assert line.count("=") == 1


def test_spans_that_name_each_other_as_parents_end() -> None:
    loop = [span_json(1, parent=2, **CASE), span_json(2, parent=1, **CASE), span_json(3, **CASE)]
    assert len(lines_of(loop)) == 3


def test_a_long_case_is_cut_and_says_so() -> None:
    many = [span_json(number, **CASE) for number in range(MOST_SPANS + 5)]
    assert lines_of(many)[-1] == "and 5 more spans"


@pytest.mark.parametrize(("took_ns", "shown"), [(50_000, "0.05 ms"), (12e6, "12 ms"), (1.5e9, "1.50 s")])
def test_a_duration_has_the_unit_that_suits_it(took_ns: float, shown: str) -> None:
    assert shown_time(took_ns) == shown


@pytest.fixture
def run(tmp_path: Path) -> Path:
    plan = plan_of("refund", "other")
    return write_run(tmp_path, plan, [attempt_of(plan, "refund")]).path


def test_a_run_without_spans_says_what_to_do(run: Path) -> None:
    with pytest.raises(LabError) as caught:
        timeline_text(run, case_id="refund")
    assert (caught.value.code, caught.value.next_step) == (ErrorCode.NO_TRACE, "labctl run --profile observe")


def test_only_the_spans_of_the_case_are_shown_and_an_unsealed_run_says_that_it_is(run: Path) -> None:
    (run / evidence.OTLP).write_bytes(line_of(*TREE) + line_of(span_json(9, **(CASE | {"labctl.case.id": "other"}))))
    text = timeline_text(run, case_id="refund")
    assert text.startswith("UNSEALED: ")
    assert "refund: 4 spans in 13 ms" in text


def test_a_case_of_which_nothing_was_traced_says_so(run: Path) -> None:
    (run / evidence.OTLP).write_bytes(b"")
    assert "other: no spans" in timeline_text(run, case_id="other")


def test_an_unknown_case_is_named(run: Path) -> None:
    with pytest.raises(LabError) as caught:
        timeline_text(run, case_id="nope")
    assert caught.value.code is ErrorCode.UNKNOWN_CASE


def test_a_line_that_is_no_spans_is_named(run: Path) -> None:
    (run / evidence.OTLP).write_bytes(line_of(TREE[0]) + b"{}\n")
    with pytest.raises(LabError, match="line 2") as caught:
        timeline_text(run, case_id="refund")
    assert caught.value.code is ErrorCode.ALTERED
