"""Starts `labctl` as a user does, in the background where a test has to act meanwhile, and ends what it started."""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.compose.engine_calls import containers_of, docker, left_on_engine, processes_with, remove_from_engine

ROOT = Path(__file__).resolve().parents[2]
RUN_S = 240.0
"""How long one run may take on a busy machine."""
MARK = "LABTEST_RUN"
"""A variable of every agent: the run that it belongs to."""


@dataclass(frozen=True)
class Labctl:
    """A way to start labctl: of which checkout, and as whom."""

    argv: tuple[str, ...]
    root: Path
    environ: Mapping[str, str]
    work: Path
    """A folder of this user's, for evidence and scratch."""
    has_engine: bool = True
    """False for tests of the process backend, which leave an engine alone where there is one."""

    def call(self, *arguments: str, timeout_s: float = RUN_S) -> subprocess.CompletedProcess[str]:
        """Run it to its end."""
        return subprocess.run(
            [*self.argv, *arguments],
            cwd=self.root,
            env=dict(self.environ),
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout_s,
        )

    @contextmanager
    def started(self, *flags: str, env: Mapping[str, str] | None = None) -> Iterator[LiveRun]:
        """`labctl run FLAGS` under an id of its own; whatever is left of it after the block is removed."""
        run_id = f"test-{uuid.uuid4().hex[:12]}"
        scratch = self._folder(f"scratch-{run_id}")  # the id is in TMPDIR, and so in the environment of every child
        folder = self._folder("evidence") / run_id
        options = ["--run-id", run_id, "--evidence", str(folder.parent), "-e", f"{MARK}={run_id}", "--not-secret", MARK]
        process = subprocess.Popen(
            [*self.argv, "run", *flags, *options],
            cwd=self.root,
            env={**self.environ, **(env or {}), "TMPDIR": str(scratch)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        with _afterwards(lambda: self._clear_up(run_id, process)):
            yield LiveRun(run_id, folder=folder, scratch=scratch, process=process, has_engine=self.has_engine)

    def _clear_up(self, run_id: str, process: subprocess.Popen[str]) -> None:
        _end(process)
        for pid in processes_with(run_id):
            _kill(pid)
        if self.has_engine:
            remove_from_engine(run_id)

    def run(self, *flags: str, env: Mapping[str, str] | None = None) -> FinishedRun:
        """`labctl run FLAGS` to its end."""
        with self.started(*flags, env=env) as live:
            return live.wait()

    def _folder(self, name: str) -> Path:
        folder = self.work / name
        if not folder.is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            owner = self.work.stat()
            os.chown(folder, owner.st_uid, owner.st_gid)
        return folder


def labctl_of_checkout(work: Path, *, has_engine: bool = True) -> Labctl:
    """The labctl of the checkout that these tests are part of, with the user's own environment."""
    return Labctl((str(Path(sys.executable).with_name("labctl")),), ROOT, dict(os.environ), work, has_engine)


@dataclass(frozen=True)
class LiveRun:
    """A `labctl run` that was started."""

    id: str
    folder: Path
    """Where its run directory is, or will be."""
    scratch: Path
    process: subprocess.Popen[str]
    has_engine: bool

    def wait(self) -> FinishedRun:
        """Its end; what is left of it is looked for at once."""
        stdout, stderr = self.process.communicate(timeout=RUN_S)
        return FinishedRun(
            id=self.id,
            folder=self.folder,
            exit_code=self.process.returncode,
            stdout=stdout,
            stderr=stderr,
            left=self.left(),
        )

    def left(self) -> dict[str, Any]:
        """What of it is on the engine, among the processes and among temporary files; empty when it is all gone."""
        processes = processes_with(self.id)
        files = sorted(path.name for path in self.scratch.iterdir())
        return {
            **(left_on_engine(self.id) if self.has_engine else {}),
            **({"processes": processes} if processes else {}),
            **({"files": files} if files else {}),
        }

    def finished_cases(self) -> list[str]:
        """Ids of the cases that have a line in the evidence by now."""
        path = self.folder / "traces" / "attempts.jsonl"
        lines = path.read_text().splitlines(keepends=True) if path.is_file() else []
        return [json.loads(line)["caseId"] for line in lines if line.endswith("\n")]

    def agents_under_way(self) -> list[str]:
        """Cases whose agent of `small_suites.waiting_suite` waits now."""
        sign = f"waits {self.id} "
        commands = (command for command in processes_with(self.id).values() if sign in command)
        return sorted({command.rpartition(sign)[2] for command in commands})

    def runs_an_agent_of(self, case: str) -> bool:
        """Whether a process of this run has the case's LAB_CASE_ID=ID in its environment or arguments."""
        return bool(processes_with(self.id).keys() & processes_with(f"LAB_CASE_ID={case}").keys())

    def kill_fixture_api(self, backend: str) -> None:
        """End the world of the run."""
        if backend == "compose":
            docker("kill", *containers_of(self.id, service="fixture-api"))
            return
        tasks = Path(f"/proc/{self.process.pid}/task")
        children = [int(pid) for file in tasks.glob("*/children") for pid in file.read_text().split()]
        (fixture,) = (pid for pid in children if b"fixture_api" in Path(f"/proc/{pid}/cmdline").read_bytes())
        os.kill(fixture, signal.SIGKILL)

    def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds while the run is under way; its end before that fails the test."""
        until = time.monotonic() + RUN_S
        while not holds():
            if self.process.poll() is not None:
                said = self.process.communicate()
                raise AssertionError(f"the run ended with {self.process.returncode}: {said}")
            assert time.monotonic() < until, "waited too long"
            time.sleep(0.1)


@dataclass(frozen=True)
class FinishedRun:
    """What a `labctl run` left, and what it should not have left."""

    id: str
    folder: Path
    exit_code: int
    stdout: str
    stderr: str
    left: Mapping[str, Any]
    """See `LiveRun.left`, right after its end."""

    @property
    def is_sealed(self) -> bool:
        """There is a COMPLETE; whether it holds is for `labctl verify`."""
        return (self.folder / "COMPLETE").is_file()

    def read(self, name: str) -> Any:
        """A JSON file of the run directory."""
        return json.loads((self.folder / name).read_text())

    @functools.cached_property
    def attempts(self) -> dict[str, dict[str, Any]]:
        """Case id to its only attempt's line."""
        lines = [json.loads(line) for line in (self.folder / "traces" / "attempts.jsonl").read_text().splitlines()]
        by_case = {line["caseId"]: line for line in lines}
        assert len(by_case) == len(lines), "two attempts of one case"
        return by_case

    def verdict(self, case: str) -> tuple[str, str | None]:
        """Outcome and class of a case's only attempt."""
        attempt = self.attempts[case]
        return attempt["outcome"], attempt.get("class")

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The journal."""
        return [json.loads(line) for line in (self.folder / "journal.jsonl").read_text().splitlines()]

    def journals(self) -> dict[str, list[dict[str, Any]]]:
        """Case id to the rows of its attempt, in the order of the file."""
        found: dict[str, list[dict[str, Any]]] = {}
        for row in self.rows:
            found.setdefault(row["case"], []).append(row)
        return found


def told(run: FinishedRun) -> str:
    """Everything that a run said, for a failing test."""
    return f"exit {run.exit_code}\n{run.stdout}\n{run.stderr}"


@contextmanager
def _afterwards(clear_up: Callable[[], None]) -> Iterator[None]:
    """Clear up after the block; where both fail the block's exception is raised, with a note of the other."""
    try:
        yield
    except BaseException as failed:
        try:
            clear_up()
        except Exception as more:  # noqa: BLE001 - a timeout or what the engine refuses: told beside what failed before
            failed.add_note(f"and clearing up failed: {more}")
        raise
    clear_up()


def _end(process: subprocess.Popen[str]) -> None:
    """End a run that a failed test left, by its own teardown where that works."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            process.send_signal(number)
            try:
                process.communicate(timeout=60)
            except subprocess.TimeoutExpired:
                continue
    for stream in (process.stdout, process.stderr):
        if stream:
            stream.close()


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
