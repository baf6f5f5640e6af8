"""What a user may name as a run: a directory, an archive of one, or `latest:JOB` in the evidence folder."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from contracts.errors import ErrorCode, Found, LabError
from contracts.evidence import COMPLETE, PLAN, SUITE_FOLDER
from contracts.record import Json
from driver.run_archive import directory_of, no_run
from ledger.run_lock import LockedError, NoLocksError, RunLock

EVIDENCE = Path("evidence")
"""Where `latest:JOB` looks unless a command has its own folder."""

_LATEST = "latest:"
_CASES = b'\n  "cases": ['
_JOB_FLAG = "--job"
_HEAD_BYTES = 1 << 16
_DOCKER_AGENT_KEYS = re.compile(rb'"(?:timestamp|config|summary|sessions|evals_dir|judge_model|eval_result)"\s*:')
_ENOUGH_KEYS = 3
_MOST_NAMED = 10


@contextmanager
def run_directory_of(path: Path, *, evidence: Path = EVIDENCE) -> Iterator[Path]:
    """The run directory that a path names; an archive is unpacked for as long as the context lasts.

    Raises:
        LabError: NO_RUN for what is no run, or where no sealed run of the job is; NO_BASELINE for a run that
            docker-agent wrote; ALTERED as `driver.run_archive` does.

    """
    if is_search(path):
        path = latest_run(path.name.removeprefix(_LATEST), evidence=evidence)
    _refuse_docker_agents(path)
    with directory_of(path) as root:
        yield root


def is_search(path: Path) -> bool:
    """Whether it is `latest:JOB`, which means another run as soon as there is a later one."""
    return path.name.startswith(_LATEST) and not os.path.lexists(path)


def shown_as(path: Path, root: Path) -> Path:
    """How a run is called towards the user: as it was named, but by its directory where it was searched for."""
    return root if is_search(path) else path


def latest_run(job: str, *, evidence: Path) -> Path:
    """The run of the job that was sealed and planned last.

    Raises:
        LabError: NO_RUN where there is none; ALTERED where a sealed folder does not say which job it is of.

    """
    jobs: dict[str, list[tuple[str, str, Path]]] = {}
    unreadable: list[Path] = []
    for folder in sorted(evidence.iterdir()) if evidence.is_dir() else ():
        if os.path.lexists(folder / COMPLETE):
            plan = _plan_head(folder / PLAN)
            if plan is None:
                unreadable.append(folder)
            elif (name := _job_of(plan)) is not None:
                jobs.setdefault(name, []).append((str(plan.get("plannedAt")), folder.name, folder))
    if unreadable:
        raise LabError(
            ErrorCode.ALTERED,
            f'the latest run of the job "{job}" cannot be told: it may be one that has a seal and no readable plan',
            found=[Found("is missing, or no plan", file=str(folder / PLAN)) for folder in unreadable[:_MOST_NAMED]],
            next_step=f"labctl verify {shlex.quote(str(unreadable[0]))}, or name a run directory",
        )
    if job in jobs:
        return max(jobs[job])[2]
    known = ", ".join(sorted(jobs)) or "none"
    raise LabError(
        ErrorCode.NO_RUN,
        f'{evidence} has no sealed run of the job "{job}"',
        found=[Found(f"jobs with a sealed run: {known}", file=str(evidence))],
        next_step=f"labctl run --job {shlex.quote(job)}, or name a run directory" if job else "labctl jobs",
    )


def unfinished_runs(evidence: Path) -> Iterator[Path]:
    """The runs of `labctl` that have a plan and no seal, and that surely nobody writes at this moment, by name."""
    for folder in sorted(evidence.iterdir()) if evidence.is_dir() else ():
        # one that was made by hand has no suite of its own, and is never sealed
        if os.path.lexists(folder / COMPLETE) or not (folder / PLAN).is_file() or not (folder / SUITE_FOLDER).is_dir():
            continue
        try:
            RunLock.take(folder).release()
        except (LockedError, NoLocksError, OSError):
            continue  # it is live, or nobody can tell
        yield folder


def _plan_head(path: Path) -> dict[str, Json] | None:
    """What a plan says before its cases; None for no plan."""
    if not path.is_file():
        return None
    try:
        before, mark, _ = path.read_bytes().partition(_CASES)
        plan = json.loads(before.rstrip(b",\n ") + b"}" if mark else before)
    except (OSError, ValueError):
        return None
    return plan if isinstance(plan, dict) else None


def _job_of(plan: dict[str, Json]) -> str | None:
    if isinstance(plan.get("job"), str):
        return str(plan["job"])
    words = [word for word in plan.get("command", ()) if isinstance(word, str)]
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word == _JOB_FLAG:
            return following
        if word.startswith(f"{_JOB_FLAG}="):
            return word.removeprefix(f"{_JOB_FLAG}=")
    return None


def _refuse_docker_agents(path: Path) -> None:
    """Raise NO_BASELINE for a file that `docker agent eval` wrote: it has no seal, no world and no conditions."""
    if not path.is_file():
        return
    try:
        with path.open("rb") as stream:
            head = stream.read(_HEAD_BYTES)
    except OSError as error:
        raise no_run(path, f"cannot be read: {error.strerror}") from error
    keys = {match[0] for match in _DOCKER_AGENT_KEYS.finditer(head)}
    is_json = head.lstrip()[:1] in {b"{", b"["} and len(keys) >= _ENOUGH_KEYS
    if is_json or head.startswith(b"SQLite format 3\0"):
        raise LabError(
            ErrorCode.NO_BASELINE,
            f"{path} is a run of docker-agent, which says nothing of the world that it ran in",
            found=[Found("is no run directory", file=str(path))],
            expected="the directory of a sealed run, a .tar.gz or .zip of it, or latest:JOB",
            next_step="make a baseline of the same evals: labctl run --agent agent.yaml EVALS, then name its directory",
        )
