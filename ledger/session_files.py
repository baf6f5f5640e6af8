"""sessions.json and sessions.db of a run over docker-agent sessions: written, and looked at again by `verify`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from contracts import evidence
from contracts.errors import ErrorCode, Found, LabError
from contracts.plan import Plan
from contracts.suite.files import read_session_cases
from ledger.attempts_file import AttemptIndex
from ledger.run_directory import RunDirectory
from ledger.session_records import SessionRun
from ledger.sessions_json import sessions_json_pieces

_PIECE_BYTES = 1 << 20
SESSION_FILES = (evidence.SESSIONS_JSON, evidence.SESSIONS_DB)

FileProblems = Callable[[Path, str, Iterable[bytes]], Iterator[Found]]
"""Compares a file below a folder with the pieces that it should be made of."""


def session_run(plan: Plan, index: AttemptIndex, *, suite: Path) -> SessionRun | None:
    """The run over sessions that a plan and its scanned attempts are; None where no planned case is a session.

    `suite` is the suite as it is kept with the run: the files follow from what stands beside them.
    """
    cases = read_session_cases(suite, (case.case_id for case in plan.cases))
    return SessionRun(plan=plan, index=index, cases=cases) if cases else None


def write_session_files(run: RunDirectory, plan: Plan, *, suite: Path, scratch: Path) -> bool:
    """Write both files of the attempts that the run holds; False where it is no run over sessions.

    Args:
        run: with its attempts.
        plan: as it was written.
        suite: the suite as it is kept, or, where none is, as it ran.
        scratch: an empty folder of our own.

    Raises:
        LabError: WRITE_FAILED.

    """
    index = AttemptIndex(run.path / evidence.ATTEMPTS)
    found = session_run(plan, index, suite=suite)
    if found is None:
        return False
    for _ in index.scan():
        pass
    run.write_whole(evidence.SESSIONS_JSON, sessions_json_pieces(found))
    store = scratch / evidence.SESSIONS_DB
    _write_store(found, store, kept=run.path)
    run.write_whole(evidence.SESSIONS_DB, _pieces(store))
    return True


def _write_store(run: SessionRun, store: Path, *, kept: Path) -> None:
    import sqlite3  # noqa: PLC0415 - most runs need none

    from ledger.sessions_db import write_sessions_db  # noqa: PLC0415 - as above

    try:
        write_sessions_db(run, store)
    except (sqlite3.Error, OSError) as error:
        raise LabError(
            ErrorCode.WRITE_FAILED,
            f"{evidence.SESSIONS_DB} could not be written; the run stays unsealed",
            cause=str(error),
            kept=str(kept),
        ) from error


def session_file_problems(plan: Plan, index: AttemptIndex, root: Path, *, compare: FileProblems) -> Iterator[Found]:
    """What of both files does not follow from plan, scanned attempts and the kept suite."""
    run = session_run(plan, index, suite=root / evidence.SUITE_FOLDER)
    there = [name for name in SESSION_FILES if os.path.lexists(root / name)]
    if run is None:
        yield from (Found("follows from nothing: no planned case is a session", name) for name in there)
        return
    yield from (
        Found("is missing; every run over sessions has it", name) for name in SESSION_FILES if name not in there
    )
    if evidence.SESSIONS_JSON in there:
        yield from compare(root, evidence.SESSIONS_JSON, sessions_json_pieces(run))
    if evidence.SESSIONS_DB in there:
        from ledger.sessions_db import store_difference  # noqa: PLC0415 - as above

        if difference := store_difference(run, (root / evidence.SESSIONS_DB).absolute()):
            yield Found(difference, evidence.SESSIONS_DB)


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        while piece := stream.read(_PIECE_BYTES):
            yield piece
