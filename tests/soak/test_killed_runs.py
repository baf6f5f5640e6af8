"""SIGKILL of the driver's whole process group at random instants: every run is finished by `labctl resume`."""

from __future__ import annotations

from pathlib import Path
from random import Random

from tests.compose.launching import Labctl, labctl_of_checkout
from tests.conftest import Rounds
from tests.fakes.killed_runs import Killed, kill_at, left_of, lived, resume
from tests.fakes.sixty_cases import sixty_cases

_SEED = 20260909


def killed_and_resumed(labctl: Labctl, *flags: str, rounds: int) -> list[Killed]:
    """So many runs that were killed between their plan and their seal, and each resumed."""
    life = lived(labctl, *flags)
    done: list[Killed] = []
    sealed = number = 0
    while len(done) < rounds:
        number += 1
        seed = _SEED + number
        print(f"round {len(done) + 1} of {rounds}: seed {seed}", flush=True)
        with labctl.started(*flags) as live:
            killed = kill_at(live, Random(seed), life)  # noqa: S311 - an instant, no secret
            if killed is None:
                sealed += 1
                continue
            resume(labctl, killed)
            assert left_of(killed) == {}
            done.append(killed)
    kept = sorted(one.attempts for one in done)
    print(f"{len(done)} killed and resumed, kept attempts from {kept[0]} to {kept[-1]}, {sealed} were sealed first")
    return done


def test_a_run_on_processes_that_is_killed_at_any_instant_is_finished_by_resume(rounds: Rounds, tmp_path: Path) -> None:
    labctl = labctl_of_checkout(tmp_path, has_engine=False)
    suite = sixty_cases(tmp_path / "suite")
    flags = (str(suite), "--backend", "process", "--concurrency", "2")
    killed_and_resumed(labctl, *flags, rounds=rounds(ci=8, soak=200))
