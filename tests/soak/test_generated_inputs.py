"""Generated suites, sessions, agent files, values, archives, runs and flags: an answer each time, never a traceback."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from contracts.errors import error_code_of
from contracts.outcome import Outcome
from tests.conftest import Rounds
from tests.fakes.generated_commands import Generated, generate
from tests.fakes.generated_suites import write_world
from tests.fakes.in_process import Said, called
from tests.fakes.real_runs import ROOT, labctl
from tests.fakes.restored_world import RestoredWorld
from tests.fakes.written_runs import attempt_of, plan_of, sealed_run

STATUSES = {0, 1, 2, 3, 4, 5, 130, 143}
REFUSALS = {2, 4, 5}
SHOWN_EVERY = 150
"""Of so many command lines one is given to a process of its own."""
LONGEST_WORD = 100_000
EACH_SEEN = (0, 2, 4, 5)
SHARE_OF_EACH = 0.04
"""Of all rounds, at least so many end with each of these; nearly twice as many do. The seeds are always the same."""
_CODE = re.compile(r"^labctl: ([a-z-]+): ", re.MULTILINE)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("generated") / "world"
    write_world(root)
    for name in ("run", "run2"):
        plan = plan_of("approval", "recovery")
        failed = attempt_of(plan, "recovery", outcome=Outcome.FAIL)
        sealed_run(root / "made", plan, [attempt_of(plan, "approval"), failed]).rename(root / name)
    (root / "made").rmdir()
    shutil.make_archive(str(root / "run"), "zip", root, "run")
    shutil.make_archive(str(root / "run"), "gztar", root, "run")
    return root


def what_is_wrong(generated: Generated, said: Said) -> str | None:
    """Of an answer; None where it is one that the documentation has."""
    err = said.err.decode("utf-8", "replace")
    if "Traceback (most recent call last)" in err:
        return "a traceback"
    if said.status not in STATUSES:
        return "a status that is in no table"
    is_told = generated.argv[:1] != ["doctor"] or said.status == 2
    if said.status in REFUSALS and is_told:
        return _wrong_code(err, said.status)
    return None


def _wrong_code(err: str, status: int) -> str | None:
    codes = [code for code in _CODE.findall(err) if code != "warning"]
    if not codes:
        return "no code"
    if any(f"| `{code}` |" not in _ERRORS_PAGE for code in codes):
        return "a code that no page has"
    if status not in {error_code_of(code).exit_code for code in codes}:
        return "a code of another status"
    return None


_ERRORS_PAGE = (ROOT / "docs" / "errors.md").read_text()


def test_every_generated_input_gets_an_answer_that_is_documented(
    template: Path, tmp_path: Path, rounds: Rounds
) -> None:
    seen = Counter[int | None]()
    world = RestoredWorld(template, tmp_path / "world")
    number = rounds(ci=300, soak=10_000)
    for seed in range(number):
        generated = _generated(seed, world.root)
        before = world.entries()
        print(f"seed {seed}: {generated}"[:2000])
        said = called(generated.argv, cwd=world.root)
        assert what_is_wrong(generated, said) is None, said
        if said.status == 2:
            assert world.entries() == before
        if seed % SHOWN_EVERY == 0 and max(map(len, generated.argv)) < LONGEST_WORD:
            world.restore()  # what it wrote there could be in its way
            _assert_same_as_a_process(_generated(seed, world.root), said, world.root)
        seen[said.status] += 1
        world.restore()
    print(f"statuses: {dict(seen)}")
    too_few = {status: seen[status] for status in EACH_SEEN if seen[status] < SHARE_OF_EACH * number}
    assert too_few == {}, "inputs that are all refused, or all taken, show nothing"


def _generated(seed: int, world: Path) -> Generated:
    return generate(world, Random(f"input {seed}"))  # noqa: S311 - the same again from the same seed


def _assert_same_as_a_process(generated: Generated, said: Said, world: Path) -> None:
    done = labctl(*generated.argv, cwd=world, env={"DOCKER_HOST": "unix:///nowhere/docker.sock"})
    assert what_is_wrong(generated, Said(done.returncode, done.stdout, done.stderr)) is None, done
    assert done.returncode == said.status, (done, said)
