"""Writes sessions.json and sessions.db into a run over docker-agent sessions, before it is sealed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

from contracts import evidence
from contracts.errors import ErrorCode, LabError
from contracts.plan import Plan
from contracts.suite.case import Case
from driver.scratch import scratch_folder
from ledger.attempts_file import AttemptIndex
from ledger.run_directory import RunDirectory
from ledger.session_records import SessionRun
from ledger.sessions_db import write_sessions_db
from ledger.sessions_json import sessions_json_pieces

_PIECE_BYTES = 1 << 20


def write_session_files(run: RunDirectory, plan: Plan, *, sessions: Iterable[Case]) -> None:
    """Both files, of the attempts that the run holds, from a redacted plan and redacted sessions.

    Raises:
        LabError: WRITE_FAILED.

    """
    index = AttemptIndex(run.path / evidence.ATTEMPTS)
    for _ in index.scan():
        pass
    session_run = SessionRun(plan=plan, index=index, cases={case.id: case for case in sessions})
    run.write_whole(evidence.SESSIONS_JSON, sessions_json_pieces(session_run))
    with scratch_folder() as scratch:
        store = scratch / evidence.SESSIONS_DB
        try:
            write_sessions_db(session_run, store)
        except (sqlite3.Error, OSError) as error:
            raise LabError(
                ErrorCode.WRITE_FAILED,
                f"{evidence.SESSIONS_DB} could not be written; the run stays unsealed",
                cause=str(error),
                kept=str(run.path),
            ) from error
        run.write_whole(evidence.SESSIONS_DB, _pieces(store))


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        while piece := stream.read(_PIECE_BYTES):
            yield piece
