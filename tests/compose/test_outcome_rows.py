"""CONTRACT §4's outcome table on every combination that Compose has: a container for all attempts, or one for each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.outcome import Outcome
from tests.compose.launching import labctl_of_checkout, told
from tests.fakes.outcome_table.cells import Cell, cells_of
from tests.fakes.outcome_table.combinations import Combination, refused
from tests.fakes.outcome_table.runs import TableRuns
from tests.fakes.outcome_table.suite import in_stack, judge_here, write_outcome_suite

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def runs(images: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TableRuns]:
    labctl = labctl_of_checkout(tmp_path_factory.mktemp("labctl"))
    setup = dict(line.split("=", 1) for line in (images / ".env").read_text().splitlines() if "=" in line)
    place = in_stack(setup["AGENT_IMAGE"])
    with judge_here() as judge_url:
        suite = write_outcome_suite(tmp_path_factory.mktemp("suite") / "desk", place=place, judge_url=judge_url)
        yield TableRuns(labctl, suite, place=place)


@pytest.mark.parametrize("cell", cells_of("compose"), ids=str)
def test_a_row_has_its_outcome_and_class(runs: TableRuns, cell: Cell) -> None:
    run = runs.of(cell)

    assert run.is_sealed, told(run)
    assert run.verdict(cell.case_id) == (cell.row.outcome, cell.row.outcome_class), told(run)
    assert run.attempts[cell.case_id].get("reason") or cell.row.outcome == Outcome.PASS


def test_nothing_of_any_run_is_left(runs: TableRuns) -> None:
    assert {made: run.left for made, run in runs.made.items() if run.left} == {}


@pytest.mark.parametrize("combination", refused("compose"), ids=str)
def test_a_combination_that_is_none_is_refused_before_anything_starts(
    runs: TableRuns, combination: Combination
) -> None:
    runs.expect_refusal(combination)
