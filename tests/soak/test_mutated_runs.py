"""Sealed runs of the real lab, mutated at random: each is refused, and the right files are named, no others."""

from __future__ import annotations

import os
import shutil
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

import pytest

from contracts.attempt import AttemptRecord
from contracts.errors import LabError
from contracts.evidence import ATTEMPTS
from contracts.exits import Exit
from contracts.outcome import Outcome
from driver.replay import replay
from driver.rerun import Anew
from driver.two_runs import verified_sides
from driver.verify import verify_run
from tests.conftest import Rounds
from tests.fakes.consistent_forgery import forge_consistently
from tests.fakes.real_runs import labctl, make_runs
from tests.fakes.run_mutations import Mutation, forge, mutate

HANG_S = 60
ACTED_ON_EVERY = 4
SHOWN_EVERY = 25
"""Of so many mutations one goes through the command itself."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return make_runs(tmp_path_factory.mktemp("real"))


@contextmanager
def no_hang() -> Iterator[None]:
    """Raises within a call that does not come back."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(HANG_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def files_named(act: Callable[[], object]) -> frozenset[str] | None:
    """The files that a refusal names; None where nothing is refused."""
    error = _refusal_of(act)
    if error is None:
        return None
    assert error.exit_code is Exit.EVIDENCE, error
    return frozenset(found.file or "" for found in error.found) | (
        {"COMPLETE"} if "no COMPLETE" in str(error) else set()
    )


def _refusal_of(act: Callable[[], object]) -> LabError | None:
    try:
        with no_hang():
            act()
    except LabError as error:
        return error
    return None


def check(root: Path, mutation: Mutation, act: Callable[[], object]) -> None:
    named = files_named(act)
    if not mutation.named:
        assert named is None, (mutation, named)
    else:
        assert named is not None, mutation
        assert mutation.is_named_rightly_by(named), (mutation, named)


def replayed(root: Path) -> None:
    anew = Anew(command=(), evidence=root.parent, env=(), env_from_file=None, host_env={})
    replay(root, "x", anew=anew, stack_of=_no_stack, progress=_no_stack, warn=print)


def _no_stack(*_: object) -> Any:
    """Stands for what must never be reached."""
    raise AssertionError


@pytest.mark.parametrize("change", [mutate, forge], ids=["mutated", "sealed-again"])
def test_every_mutation_is_refused_and_the_right_files_named_and_no_others(
    change: Callable[[Path, Random], Mutation], runs: dict[str, Path], tmp_path: Path, rounds: Rounds
) -> None:
    free = Counter[str]()
    for seed in range(rounds(ci=30, soak=1000)):
        rng = Random(f"{change.__name__} {seed}")  # noqa: S311 - the same again from the same seed
        kind = rng.choice(sorted(runs))
        root = tmp_path / "run"
        shutil.copytree(runs[kind], root)
        mutation = change(root, rng)
        print(f"seed {seed}: {kind}: {mutation.told}")
        check(root, mutation, lambda root=root: verify_run(root))  # type: ignore[misc]
        if seed % ACTED_ON_EVERY == 0 and mutation.named:
            check(root, mutation, lambda root=root: _compared(runs["sample"], root))  # type: ignore[misc]
            check(root, mutation, lambda root=root: replayed(root))  # type: ignore[misc]
        if seed % SHOWN_EVERY == 0:
            done = labctl("verify", str(root))
            assert done.returncode == (Exit.EVIDENCE if mutation.named else Exit.YES), done.stderr.decode()
            assert b"Traceback" not in done.stderr
        free[mutation.told] += not mutation.named
        for left in tmp_path.iterdir():
            shutil.rmtree(left) if left.is_dir() and not left.is_symlink() else left.unlink()
    print(f"in sections that follow from nothing: {free.total()}")


def _compared(baseline: Path, candidate: Path) -> None:
    with verified_sides(baseline, candidate):
        pass


@pytest.mark.parametrize("kind", ["sample", "observed", "sessions"])
def test_a_wholly_consistent_forgery_is_verified_as_the_documentation_says(
    kind: str, runs: dict[str, Path], tmp_path: Path
) -> None:
    root = tmp_path / "run"
    shutil.copytree(runs[kind], root)

    def passed(record: AttemptRecord) -> AttemptRecord:
        checks = tuple(one.model_copy(update={"outcome": Outcome.PASS}) for one in record.checks)
        better = {"outcome": Outcome.PASS, "outcome_class": None, "reason": None, "checks": checks, "duration_ms": 1}
        return record.model_copy(update=better)

    before = (root / ATTEMPTS).read_bytes()
    forge_consistently(root, passed, scratch=tmp_path)
    assert before != (root / ATTEMPTS).read_bytes()
    assert verify_run(root).rows.totals.summary().failed == 0


def test_modes_are_no_part_of_what_is_sealed(runs: dict[str, Path], tmp_path: Path) -> None:
    root = tmp_path / "run"
    shutil.copytree(runs["sample"], root)
    for path in root.rglob("*"):
        if path.is_file():
            path.chmod(0o755 if os.access(path, os.R_OK) else 0o644)
    assert verify_run(root).cases
