"""The sample suite again and again on one machine: every case ends as it did, and no comparison finds a difference."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from comparison.compare import compare
from comparison.sides import Allowance
from contracts.comparison import Verdict
from driver.two_runs import verified_sides
from tests.conftest import Rounds
from tests.fakes.real_runs import labctl


def sample_run(backend: str, *, folder: Path) -> Path:
    done = labctl("run", "--backend", backend, "--evidence", str(folder))
    assert done.returncode == 0, done.stderr.decode()
    return Path(done.stdout.decode().splitlines()[-1])


@pytest.mark.parametrize("backend", ["process", pytest.param("compose", marks=pytest.mark.engine)])
def test_the_sample_suite_ends_the_same_each_time_and_compared_with_itself_nothing_differs(
    backend: str, rounds: Rounds, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if backend == "compose":
        request.getfixturevalue("images")
    runs = [sample_run(backend, folder=tmp_path) for _ in range(rounds(ci=2, soak=20))]
    pairs = list(combinations(runs, 2))
    for pair in pairs:
        with verified_sides(*pair) as (baseline, candidate):
            found = compare(baseline, candidate, allowance=Allowance())
        assert (found.verdict, found.cases) == (Verdict.NO_REGRESSION, ()), pair
        assert (found.subject, found.drift, found.tool_responses) == ((), (), ()), pair
    print(f"{backend}: {len(runs)} runs, {len(pairs)} comparisons, no difference")
