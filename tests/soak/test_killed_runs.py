"""SIGKILL of the driver's whole process group at random instants: every run is finished by `labctl resume`."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest

from tests.compose.conftest import engine, images  # noqa: F401 - fixtures
from tests.compose.launching import Labctl, labctl_of_checkout
from tests.conftest import Rounds
from tests.fakes.cut_back import told as of_run
from tests.fakes.killed_runs import Killed, kill_at, left_of, lived, resume
from tests.fakes.sixty_cases import SECRET, sixty_cases, sixty_desks

_SEED = 20260909
VALUE = "a-desk-that-tells-7731"


@dataclass
class Told:
    """What the rounds came to."""

    killed: list[Killed] = field(default_factory=list)
    sealed_first: int = 0
    """Kills that came after the seal; another instant was taken then."""


def killed_and_resumed(labctl: Labctl, *flags: str, rounds: int, at_once: int = 2, again: tuple[str, ...] = ()) -> Told:
    """So many runs that were killed between their plan and their seal, and each resumed with the flags of `again`.

    Each tells then what a run tells that nobody killed, README.md of what was taken out too.
    """
    flags = (*flags, *again)
    life, told = lived(labctl, *flags), Told()

    def one(number: int) -> None:
        print(f"round {number} of {rounds}: seed {_SEED + number}", flush=True)
        instants = Random(_SEED + number)  # noqa: S311 - no secret
        while True:
            with labctl.started(*flags) as live:
                killed = kill_at(live, instants, life)
                if killed is not None:
                    resume(labctl, killed, *again)
                    assert left_of(killed) == {}
                    assert of_run(live.folder) == life.told
                    told.killed.append(killed)
                    return
            told.sealed_first += 1

    with ThreadPoolExecutor(at_once) as threads:
        for done in [threads.submit(one, number) for number in range(1, rounds + 1)]:
            done.result()
    kept = sorted(killed.attempts for killed in told.killed)
    print(f"{len(kept)} killed and resumed; kept attempts {kept}; {told.sealed_first} kills came after a seal")
    return told


def test_a_run_on_processes_that_is_killed_at_any_instant_is_finished_by_resume(rounds: Rounds, tmp_path: Path) -> None:
    labctl = labctl_of_checkout(tmp_path, has_engine=False)
    suite = sixty_desks(tmp_path / "suite")
    flags = (str(suite), "--backend", "process", "--concurrency", "2")
    secret = ("-e", f"{SECRET}={VALUE}")
    told = killed_and_resumed(labctl, *flags, rounds=rounds(ci=8, soak=200), again=secret)
    for killed in told.killed:
        assert f"{SECRET} " in (killed.run.folder / "README.md").read_text()
        files = [path for path in killed.run.folder.rglob("*") if path.is_file()]
        assert VALUE.encode() not in b"".join(path.read_bytes() for path in files)
    assert len({killed.attempts for killed in told.killed}) > 1, "all were killed at the same place"


@pytest.mark.engine
@pytest.mark.usefixtures("images")
def test_a_run_on_compose_that_is_killed_at_any_instant_is_finished_by_resume(rounds: Rounds, tmp_path: Path) -> None:
    suite = sixty_cases(tmp_path / "suite")
    flags = (str(suite), "--backend", "compose", "--concurrency", "2")
    killed_and_resumed(labctl_of_checkout(tmp_path), *flags, rounds=rounds(ci=2, soak=30), at_once=1)
