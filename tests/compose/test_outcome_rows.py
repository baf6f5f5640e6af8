"""Each row of CONTRACT §4's outcome table on each adapter, on Compose."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compose.launching import FinishedRun, Labctl, labctl_of_checkout, told
from tests.fakes.outcome_rows import AGENTS, ROWS, Deed, case_id_of, cases_of, cells, write_outcome_rows

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def runs(images: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, FinishedRun]:
    """One run for each agent, with all of its cases."""
    labctl: Labctl = labctl_of_checkout(tmp_path_factory.mktemp("rows"))
    suite = write_outcome_rows(tmp_path_factory.mktemp("suite") / "suite")
    found = {}
    for agent in AGENTS:
        cases = [part for case in cases_of(agent) for part in ("--case", case)]
        found[agent] = labctl.run(str(suite), "--backend", "compose", "--agent", agent, *cases)
    return found


@pytest.mark.parametrize(
    ("index", "adapter", "deed"),
    [pytest.param(*cell, id=f"{ROWS[cell[0]].what}-{cell[1]}") for cell in cells()],
)
def test_a_row_has_its_outcome_and_class(runs: dict[str, FinishedRun], index: int, adapter: str, deed: Deed) -> None:
    run, row = runs[deed.agent], ROWS[index]

    assert run.is_sealed, told(run)
    assert run.verdict(case_id_of(index, deed)) == (row.outcome, row.outcome_class), f"{adapter}: {told(run)}"


def test_nothing_of_any_run_is_left(runs: dict[str, FinishedRun]) -> None:
    assert {agent: run.left for agent, run in runs.items()} == {agent: {} for agent in AGENTS}
