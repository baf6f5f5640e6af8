"""The table spread out: every row on every combination, run as a case of its own or left out for a stated reason."""

from __future__ import annotations

from typing import NamedTuple

from tests.fakes.outcome_table.combinations import COMBINATIONS, Combination, refusal_of, runnable
from tests.fakes.outcome_table.deeds import Deed
from tests.fakes.outcome_table.rows import ROWS, Row


class Cell(NamedTuple):
    """A row on one combination: the deed that brings it about, or why there is none."""

    combination: Combination
    row: Row
    deed: Deed | str

    def __str__(self) -> str:
        """As the id of a test."""
        return f"{self.combination}: {self.row.what}"

    @property
    def case_id(self) -> str:
        """The case in which it is done; the same on every combination of an adapter."""
        assert isinstance(self.deed, Deed), self.deed
        return f"row-{ROWS.index(self.row):02}.{self.deed.agent}.{self.deed.does}"

    @property
    def run(self) -> tuple[Combination, str, str]:
        """Combination, agent and what the run meets: the cells of one run."""
        assert isinstance(self.deed, Deed), self.deed
        return self.combination, self.deed.agent, self.row.during


def cell_of(combination: Combination, row: Row) -> Cell:
    """What a row is on a combination."""
    refusal = refusal_of(combination)
    if refusal is not None:
        return Cell(combination, row, refusal.why)
    deed = row.deeds[combination.adapter]
    if row.needs_container and combination.isolation != "container" and isinstance(deed, Deed):
        return Cell(combination, row, row.needs_container)
    return Cell(combination, row, deed)


CELLS = tuple(cell_of(combination, row) for combination in COMBINATIONS for row in ROWS)


def cells_of(backend: str) -> tuple[Cell, ...]:
    """Those of a backend that are run."""
    combinations = runnable(backend)
    return tuple(cell for cell in CELLS if cell.combination in combinations and isinstance(cell.deed, Deed))


def runs_of(backend: str) -> tuple[tuple[Combination, str, str], ...]:
    """The runs that those need."""
    return tuple(dict.fromkeys(cell.run for cell in cells_of(backend)))


def cells_in(run: tuple[Combination, str, str]) -> tuple[Cell, ...]:
    """The cells of one run, in the order of its cases."""
    return tuple(cell for cell in cells_of(run[0].backend) if cell.run == run)
