"""Secrets in every place that a run has, in four forms each: a search of all that is left of it finds none."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tests.conftest import Rounds
from tests.fakes.judged_suite import scripted_judge
from tests.fakes.planted_secrets import (
    PLACES,
    Planted,
    chat_suite,
    desk_suite,
    environment_of,
    judge_replies,
    random_secrets,
    session_suite,
)
from tests.fakes.secret_search import Leak, search_bytes, search_folder

ROOT = Path(__file__).resolve().parents[2]
SEED = 20261130
ONLY_KEPT = {"FILE", "PROMPT", "SESSION_ANSWER"}
"""Places that no agent and no judge says anything of: they stand in the run's own copy of its suite."""
CAPTURES = ("metadata", "payloads")


class Ran(NamedTuple):
    """A run that ended, and everything that it left."""

    path: Path
    status: int
    stdout: str
    stderr: str

    def leaks(self, secrets: Mapping[str, str]) -> list[Leak]:
        said = (("stdout", self.stdout), ("stderr", self.stderr))
        found = [leak for name, text in said for leak in search_bytes(text.encode(), secrets, where=name)]
        return found + search_folder(self.path, secrets)


def labctl(*arguments: str | Path, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    code = "from driver.cli.main import main; main()"
    argv = [sys.executable, "-c", code, *map(str, arguments)]
    environment = {**os.environ, **env, "PYTHONPATH": str(ROOT)}
    return subprocess.run(argv, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False)


def run(planted: Planted, secrets: Mapping[str, str], *, capture: str, is_redacted: bool = True) -> Ran:
    env = environment_of({place: secrets[place] for place in planted.places})
    given = [word for name in sorted(env) for word in ("-e", name)]
    given += ["-e", f"COMMAND_LINE={secrets['COMMAND_LINE']}"] if "COMMAND_LINE" in planted.places else []
    public = ["FORMS"] if is_redacted else [*env, "COMMAND_LINE"]
    flags = [*given, *(word for name in public for word in ("--not-secret", name))]
    run_id = f"run-{capture}-{'redacted' if is_redacted else 'open'}"
    where = ("--backend", "process", "--evidence", planted.root.parent / "runs", "--run-id", run_id)
    done = labctl("run", planted.root, *where, "--capture", capture, *planted.flags, *flags, env=env)
    assert done.returncode in {0, 1, 3}, done.stderr
    return Ran(planted.root.parent / "runs" / run_id, done.returncode, done.stdout, done.stderr)


def suites(folder: Path, secrets: Mapping[str, str], *, judge_url: str) -> list[Planted]:
    return [
        desk_suite(folder / "desk" / "suite", secrets, judge_url=judge_url),
        chat_suite(folder / "chat" / "suite", secrets),
        session_suite(folder / "sessions" / "suite", secrets),
    ]


def test_no_secret_is_found_anywhere_in_any_form_and_every_run_verifies(tmp_path: Path, rounds: Rounds) -> None:
    for number in range(rounds(ci=1, soak=25)):
        print(f"round {number}: seed {SEED + number}")
        secrets = random_secrets(random.Random(SEED + number))  # noqa: S311 - inputs of a test
        folder = tmp_path / f"round-{number}"
        with scripted_judge(folder / "judge" / "suite", judge_replies(secrets)) as judge_url:
            for planted in suites(folder, secrets, judge_url=judge_url):
                levels = 2 if "desk" in planted.flags else rounds(ci=1, soak=2)
                for capture in CAPTURES[-levels:]:
                    ran = run(planted, secrets, capture=capture)
                    assert ran.leaks({place: secrets[place] for place in planted.places}) == []
                verified = labctl("verify", *ran.path.parent.iterdir(), env={})
                assert (verified.returncode, verified.stderr) == (0, "")


def test_the_search_finds_every_plant_where_nothing_was_redacted(tmp_path: Path) -> None:
    """The control: without it, places that reach no file, and a search that finds nothing, would pass for safety."""
    secrets = random_secrets(random.Random(SEED))  # noqa: S311 - inputs of a test
    found: set[str] = set()
    kept: set[str] = set()
    with scripted_judge(tmp_path / "judge" / "suite", judge_replies(secrets)) as judge_url:
        for planted in suites(tmp_path, secrets, judge_url=judge_url):
            leaks = run(planted, secrets, capture="payloads", is_redacted=False).leaks(secrets)
            found.update({leak.name for leak in leaks if not leak.is_in_suite} & set(planted.places))
            kept.update({leak.name for leak in leaks if leak.is_in_suite})
    # the judge's key is known as such, and --not-secret is about what reaches the agent
    assert sorted(set(PLACES) - found - ONLY_KEPT) == ["PROVIDER_KEY"]
    assert kept >= ONLY_KEPT
