"""Makes a suite of cases.json out of a folder of docker-agent sessions: the same questions, judged the same."""

from __future__ import annotations

import json
import os
import posixpath
import re
import shutil
import tempfile
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from contracts.errors import ErrorCode, Found, LabError
from contracts.suite.case import Case
from contracts.suite.files import SETTINGS_FILE
from contracts.suite.links import leads_inside
from contracts.suite.loading import load_suite
from contracts.suite.suite import WORKING_DIRS_FOLDER, Suite
from driver.sealed_places import refuse_sealed
from driver.staging import files_below

_LONGEST_ID = 100
_NOT_IN_IDS = re.compile(r"[^a-z0-9._-]+")
_NATIVE_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
_SESSIONS_KEY = re.compile(r"^[ \t]*(?:sessions|\"sessions\"|'sessions')[ \t]*=[^\n]*\n?", re.MULTILINE)
_FIRST_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)
_NEW_SETTINGS = """\
# Made of docker-agent sessions by `labctl cases import`. Add [agents.NAME] and [limits] here; each key that is absent
# has its default.
cases = "cases.json"
"""


@dataclass(frozen=True)
class Imported:
    """What an import wrote."""

    cases: int
    renamed: tuple[tuple[str, str], ...]
    """Session names that are no ids of cases.json, each with the id that it got."""
    left_out: tuple[str, ...]
    """What has no place in such a suite, each with the reason."""


def import_sessions(source: Path, target: Path) -> Imported:
    """Write the suite to a folder that is not there or empty; it is complete or not there at all.

    Raises:
        LabError: what `load_suite` raises for the source; bad-usage when the suite has other cases too, when something
            is at the target, or when that cannot be written; no-cases when no session expects anything; suite-invalid
            when the cases do not fit the files beside them.

    """
    target = target.absolute()
    _refuse_taken(target)
    suite = load_suite(source)
    _refuse_other_suites(suite)
    kept = [case for case in suite.cases if not case.expect.is_empty]
    if not kept:
        raise LabError(ErrorCode.NO_CASES, f"no session of {source} expects anything; cases.json takes none such")
    ids = native_ids([case.id for case in kept])
    try:
        left_out = _write(suite, kept, ids, target)
    except OSError as error:
        raise LabError(
            ErrorCode.BAD_USAGE, f"{target} cannot be written", cause=f"{error.strerror}: {error.filename}"
        ) from error
    idle = [f"{case.id}: expects nothing, and a case of cases.json must" for case in suite.cases if case not in kept]
    renamed = tuple((case.id, name) for case, name in zip(kept, ids, strict=True) if case.id != name)
    return Imported(cases=len(kept), renamed=renamed, left_out=(*idle, *left_out))


def native_ids(names: Sequence[str]) -> list[str]:
    """An id of cases.json for each name, all different; names that are ids already stay."""
    taken = {name for name in names if _NATIVE_ID.fullmatch(name)}
    ids = []
    for name in names:
        if name in taken and _NATIVE_ID.fullmatch(name):
            ids.append(name)
            continue
        base = _slug(name)
        tries = (base[: _LONGEST_ID - len(end)] + end for end in _endings())
        ids.append(next(one for one in tries if one not in taken))
        taken.add(ids[-1])
    return ids


def _endings() -> Iterator[str]:
    yield ""
    number = 2
    while True:
        yield f"-{number}"
        number += 1


def _slug(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name.casefold()).encode("ascii", "ignore").decode()
    return _NOT_IN_IDS.sub("-", plain).strip("._-")[:_LONGEST_ID] or "session"


def _refuse_other_suites(suite: Suite) -> None:
    if len(suite.sessions) != len(suite.cases):
        raise LabError(
            ErrorCode.BAD_USAGE,
            f"{suite.root} has a {suite.settings.cases}: it is no folder of docker-agent sessions alone",
            expected="a folder whose cases are all sessions",
        )


def _refuse_taken(target: Path) -> None:
    refuse_sealed(target, place="--to")
    if os.path.lexists(target) and (target.is_symlink() or not target.is_dir() or any(target.iterdir())):
        raise LabError(
            ErrorCode.BAD_USAGE,
            f"something is at {target} already; nothing was changed",
            found=[Found("is no empty folder", file=str(target), place="--to")],
            next_step="name a folder that is not there yet",
        )


def _write(suite: Suite, cases: Sequence[Case], ids: Sequence[str], target: Path) -> list[str]:
    """Builds the suite beside the target and moves it there; returns what was left out."""
    sources = list(files_below(suite.root))
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".labctl-import-", dir=target.parent) as beside:
        root = Path(beside, target.name)
        root.mkdir()
        left_out = _copy_files(suite, sources, root)
        settings = suite.root / SETTINGS_FILE
        text = _without_sessions(settings.read_text("utf-8")) if settings.exists() else _NEW_SETTINGS
        (root / SETTINGS_FILE).write_text(text, "utf-8")
        written = [_written(case, name) for case, name in zip(cases, ids, strict=True)]
        text = json.dumps({"cases": written}, indent=2, ensure_ascii=False) + "\n"
        (root / suite.settings.cases).write_text(text, "utf-8")
        for case in cases:
            if case.working_dir is not None:  # also an empty one, of which no file was copied
                (root / WORKING_DIRS_FOLDER / case.working_dir).mkdir(parents=True, exist_ok=True)
        _refuse_what_does_not_fit(root, target)
        root.rename(target)
    return left_out


def _copy_files(suite: Suite, sources: Sequence[Path], root: Path) -> list[str]:
    """Everything but the sessions; their working directories come to where those of cases.json are."""
    sessions = set(suite.sessions.values())
    folder = posixpath.join(posixpath.normpath(suite.settings.sessions or "."), WORKING_DIRS_FOLDER)
    left_out = []
    for path in sources:
        relative = path.relative_to(suite.root).as_posix()
        if relative in sessions or relative == SETTINGS_FILE:
            continue
        if not leads_inside(path, suite.root):
            left_out.append(f"{relative}: a link to a folder, out of the suite, or nowhere")
            continue
        in_working_dirs = relative.startswith(f"{posixpath.normpath(folder)}/")
        to = posixpath.join(WORKING_DIRS_FOLDER, posixpath.relpath(relative, folder)) if in_working_dirs else relative
        (root / to).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, root / to)
    return left_out


def _without_sessions(settings: str) -> str:
    """suite.toml without its key `sessions`, which stands before the first table."""
    table = _FIRST_TABLE.search(settings)
    end = table.start() if table else len(settings)
    return _SESSIONS_KEY.sub("", settings[:end]) + settings[end:]


def _written(case: Case, case_id: str) -> dict[str, object]:
    title = {} if case.title or case.id == case_id else {"title": case.id}
    return {**case.model_dump(mode="json", by_alias=True, exclude_unset=True), "id": case_id, **title}


def _refuse_what_does_not_fit(root: Path, target: Path) -> None:
    try:
        load_suite(root)
    except LabError as error:
        raise LabError(
            error.code,
            f"{target} would be no suite; nothing was written",
            found=error.found,
            expected="files beside the sessions that cases.json can be with",
        ) from error
