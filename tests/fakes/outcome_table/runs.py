"""Makes the runs of the table through labctl, each once, as a user would."""

from __future__ import annotations

import time
from pathlib import Path

from tests.compose.launching import FinishedRun, Labctl, LiveRun, told
from tests.fakes.docker_agent_suites import with_program
from tests.fakes.outcome_table.cells import Cell, cells_in
from tests.fakes.outcome_table.combinations import Combination, refusal_of
from tests.fakes.outcome_table.deeds import RIGHT
from tests.fakes.outcome_table.rows import FULL_DISK, PLAIN, ROWS, TIME_OVER, UNSTARTABLE, WORLD_LOST
from tests.fakes.outcome_table.suite import Place, small_runtime, unstartable_program

SUITE_S = 2
"""The whole suite's time, where it is to be over."""
_CHAT_PAUSE_S = 1.0
"""Nobody sees from outside that a chat attempt is under way: it follows at once on one that is finished."""


class TableRuns:
    """The runs so far."""

    def __init__(self, labctl: Labctl, suite: Path, *, place: Place) -> None:
        self.made: dict[tuple[Combination, str, str], FinishedRun] = {}
        self._labctl = labctl
        self._suite = suite
        self._place = place

    def of(self, cell: Cell) -> FinishedRun:
        """The run that a cell is part of."""
        if cell.run not in self.made:
            self.made[cell.run] = self._make(*cell.run)
        return self.made[cell.run]

    def _make(self, combination: Combination, agent: str, during: str) -> FinishedRun:
        cells = cells_in((combination, agent, during))
        cases = [cell.case_id for cell in cells]
        flags = [*self.flags(combination, agent), *(part for case in cases for part in ("--case", case))]
        env = self._environment(combination, during)
        if during == TIME_OVER:
            return self._labctl.run(*flags, "--suite-timeout", str(SUITE_S), "--concurrency", "1", env=env)
        if during == FULL_DISK:
            runtime = small_runtime(self._labctl.work / f"{combination}-runtime")
            return self._labctl.run(*flags, "--container-runtime", str(runtime), env=env)
        if during != WORLD_LOST:
            return self._labctl.run(*flags, "--judge-votes", "2", env=env)
        first = [Cell(combination, ROWS[0], cells[-1].deed).case_id]
        with self._labctl.started(*flags, "--case", *first, "--concurrency", "1", env=env) as live:
            _wait_for(live, combination, case=cases[0], first=first)
            live.kill_fixture_api(combination.backend)
            return live.wait()

    def expect_refusal(self, combination: Combination) -> None:
        """See how a combination that is none is refused, for a case that its adapter passes elsewhere."""
        refusal, deed = refusal_of(combination), RIGHT[combination.adapter]
        assert refusal is not None
        case = Cell(combination, ROWS[0], deed).case_id
        flags = [*self.flags(combination, deed.agent), "--case", case]
        run = self._labctl.run(*flags, env=self._environment(combination, PLAIN))

        assert run.exit_code == refusal.exit_code, told(run)
        assert run.stderr.splitlines()[0].startswith(f"labctl: {refusal.code}: "), told(run)
        assert not run.folder.exists()
        assert run.left == {}

    def flags(self, combination: Combination, agent: str) -> list[str]:
        """Of every run of an agent on a combination."""
        flags = [str(self._suite), "--backend", combination.backend, "--isolation", combination.isolation]
        if self._place.image and combination.adapter == "docker-agent" and combination.isolation == "container":
            flags += ["--base-image", self._place.image]  # has the Python that the replaying program wants
        if self._place.image and agent == "outside":
            flags += ["--profile", "outside"]
        return [*flags, "--agent", agent]

    def _environment(self, combination: Combination, during: str) -> dict[str, str]:
        if during == UNSTARTABLE:
            return unstartable_program(self._labctl.work / f"{combination}-program")
        return with_program() if combination.adapter == "docker-agent" else {}


def _wait_for(live: LiveRun, combination: Combination, *, case: str, first: list[str]) -> None:
    """Wait until the attempt that will not end is under way."""
    live.until(lambda: live.finished_cases() == first)
    if combination.adapter == "chat":
        time.sleep(_CHAT_PAUSE_S)
    else:
        live.until(lambda: live.runs_an_agent_of(case))
