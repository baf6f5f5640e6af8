"""CONTRACT §4's outcome table on every combination that the process backend has; and that the table is whole."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from contracts.outcome import Outcome, OutcomeClass
from tests.compose.launching import labctl_of_checkout, told
from tests.fakes.outcome_table.cells import CELLS, Cell, cells_of
from tests.fakes.outcome_table.combinations import ADAPTERS, COMBINATIONS, Combination, refusal_of, refused
from tests.fakes.outcome_table.deeds import RIGHT, Deed
from tests.fakes.outcome_table.rows import PLAIN, ROWS, TIME_OVER
from tests.fakes.outcome_table.runs import SUITE_S, TableRuns
from tests.fakes.outcome_table.suite import judge_here, provider_here, write_outcome_suite


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TableRuns]:
    labctl = labctl_of_checkout(tmp_path_factory.mktemp("labctl"), has_engine=False)
    with judge_here() as judge_url, provider_here() as place:
        suite = write_outcome_suite(tmp_path_factory.mktemp("suite") / "desk", place=place, judge_url=judge_url)
        yield TableRuns(labctl, suite, place=place)


@pytest.mark.parametrize("cell", cells_of("process"), ids=str)
def test_a_row_has_its_outcome_and_class(runs: TableRuns, cell: Cell) -> None:
    run = runs.of(cell)

    assert run.is_sealed, told(run)
    assert run.verdict(cell.case_id) == (cell.row.outcome, cell.row.outcome_class), told(run)
    assert run.attempts[cell.case_id].get("reason") or cell.row.outcome == Outcome.PASS


def test_nothing_of_any_run_is_left(runs: TableRuns) -> None:
    assert {made: run.left for made, run in runs.made.items() if run.left} == {}


def test_the_suites_time_is_in_the_plan(runs: TableRuns) -> None:
    for run in (run for (_, _, during), run in runs.made.items() if during == TIME_OVER):
        assert run.read("plan.json")["suiteTimeoutSeconds"] == SUITE_S


@pytest.mark.parametrize("combination", refused("process"), ids=str)
def test_a_combination_that_is_none_is_refused_before_anything_starts(
    runs: TableRuns, combination: Combination
) -> None:
    runs.expect_refusal(combination)


def test_every_row_is_run_on_every_combination_or_says_why_not() -> None:
    assert [(cell.combination, cell.row.what) for cell in CELLS] == [
        (combination, row.what) for combination in COMBINATIONS for row in ROWS
    ]
    assert [cell for cell in CELLS if not isinstance(cell.deed, Deed) and len(cell.deed.split()) < 3] == []


def test_the_rows_name_every_class_of_the_contract_and_every_adapter() -> None:
    assert {row.outcome_class for row in ROWS} == {None, *OutcomeClass}
    assert {row.what: tuple(row.deeds) for row in ROWS} == {row.what: ADAPTERS for row in ROWS}
    assert len({row.what for row in ROWS}) == len(ROWS)


def test_only_faults_are_run_nowhere() -> None:
    nowhere = [row.what for row in ROWS if not any(isinstance(deed, Deed) for deed in row.deeds.values())]
    assert nowhere == [
        "the fault proxy died",
        "a planned fault could not be applied",
        "a planned fault was never experienced",
    ]


def test_a_right_agent_of_every_adapter_is_run_wherever_it_can_be() -> None:
    passing = [cell.combination for cell in CELLS if cell.row.deeds is RIGHT and cell.row.during == PLAIN]
    assert {one for one in passing if refusal_of(one) is None} == {
        one for one in COMBINATIONS if refusal_of(one) is None
    }
