"""Reads a folder of docker-agent sessions: each JSON file of it becomes a case, or the problems that forbid it."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Collection
from dataclasses import dataclass, field

from contracts.record import Json
from contracts.suite.checking import checked_document
from contracts.suite.places import Path
from contracts.suite.problems import Document, Problem
from contracts.suite.reading import SuiteFolder, UnreadableError, read_json
from contracts.suite.session import SIZES, Session, SessionCase, SessionEvals, recorded_tools, user_messages

LARGEST_BYTES = 16 * 1024 * 1024
"""Of one session: as much as the evidence keeps of a whole suite."""
_SUFFIX = ".json"
_UNFIT = re.compile(r"[\x00-\x1f\x7f\\]")
"""What the seal's list of files cannot spell in one way."""


@dataclass(frozen=True)
class SessionSource:
    """A session that could be read, with stand-ins for what is broken in it."""

    file: str
    """Below the suite's folder."""
    document: Document
    session: Session
    case: SessionCase
    written: dict[str, Json]
    """The case as cases.json would write it."""


@dataclass
class SessionsRead:
    """What a folder of sessions holds."""

    sources: list[SessionSource] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    """All session files below the suite's folder, usable or not."""
    problems: list[Problem] = field(default_factory=list)
    """What cannot be read or has the wrong shape."""
    broken: list[tuple[Document, frozenset[Path]]] = field(default_factory=list)
    """The paths of the latter."""

    @property
    def ids(self) -> set[str]:
        """The case ids of all session files."""
        return {case_id_of(file) for file in self.files}


def case_id_of(file: str) -> str:
    """The id of a session: its file name without .json."""
    return posixpath.basename(file).removesuffix(_SUFFIX)


def read_sessions(folder: SuiteFolder, relative: str, *, own: Collection[str]) -> SessionsRead:
    """Every session of a folder of the suite ("" for the suite's own), sorted by name and not recursive.

    `own` are the normalized paths of the suite's other files, which are no sessions.
    """
    where = folder.root / relative
    names = sorted(path.name for path in where.iterdir() if path.name.endswith(_SUFFIX) and not path.is_dir())
    paths = [posixpath.normpath(posixpath.join(relative, name)) for name in names]
    read = SessionsRead(files=[path for path in paths if path not in own])
    for file in read.files:
        try:
            _read(folder, file, read)
        except UnreadableError as error:
            read.problems.append(error.problem)
    return read


def _read(folder: SuiteFolder, file: str, read: SessionsRead) -> None:
    case_id = case_id_of(file)
    if why := _id_refusal(case_id) or _size_refusal(folder, file):
        raise UnreadableError(Problem(why, file=folder.shown(file)))
    document, problems = read_json(folder, file)
    if not isinstance(document.value, dict):
        found = "a list" if isinstance(document.value, list) else "another value"
        text = f"no session: expected an object with the key messages, found {found}"
        raise UnreadableError(Problem(text, document.place()))
    # what docker-agent recorded beside it (schemas of tools, token counts) is not used: let it be as it is
    problems = [one for one in problems if _matters(one)]
    checked = checked_document(Session, document, was_refused=bool(problems))
    read.problems += [*problems, *checked.problems]
    read.broken += [(document, checked.broken)] if checked.broken else []
    if checked.record is not None:
        written = _case_written(case_id, checked.record)
        case = SessionCase.model_validate_json(json.dumps(written), by_alias=True, by_name=False)
        read.sources.append(SessionSource(file, document, checked.record, case, written))


def _id_refusal(case_id: str) -> str | None:
    try:
        case_id.encode()
    except UnicodeEncodeError:
        return "the file name, which is the case id, is not UTF-8"
    if not case_id:
        return "the file name, which is the case id, is empty before .json"
    if _UNFIT.search(case_id):
        return "the file name, which is the case id, holds a control character or a backslash"
    return None


def _size_refusal(folder: SuiteFolder, path: str) -> str | None:
    try:
        size = (folder.root / path).stat().st_size
    except OSError:
        return None  # reading says why
    if size > LARGEST_BYTES:
        return f"has {size} bytes; expected at most {LARGEST_BYTES} bytes ({LARGEST_BYTES >> 20} MiB) for a session"
    return None if size else "is empty; expected a session"


def _matters(problem: Problem) -> bool:
    path = problem.place.path if problem.place else ()
    return len(path) <= 1 or path[0] == "evals"


def _case_written(case_id: str, session: Session) -> dict[str, Json]:
    """The case as cases.json would write it; an empty text or list is as good as none, as for docker-agent."""
    evals = session.evals or SessionEvals()
    texts = [text for _, text in user_messages(session)] or [""]
    tools = list(recorded_tools(session))
    expect: dict[str, Json] = {
        "toolCalls": [{"name": name} for name in tools],
        "assertions": [_assertion(one.model_dump(mode="json", exclude_unset=True)) for one in evals.assertions or ()],
        "size": evals.size if evals.size in SIZES else None,
        "relevance": list(evals.relevance or ()),
    }
    case: dict[str, Json] = {
        "id": case_id,
        "title": session.title,
        "input": texts[0] if len(texts) == 1 else [{"role": "user", "content": text} for text in texts],
        "setup": evals.setup,
        "working_dir": evals.working_dir,
        "image": evals.image,
    }
    told = {key: value for key, value in expect.items() if value}
    given = {key: value for key, value in case.items() if value or key in {"id", "input"}}
    return given | {"expect": told | {"unmatchedRequests": "allow"}}


def _assertion(written: dict[str, Json]) -> dict[str, Json]:
    """The assertion with a threshold or schema that was written as text read from it; what is none stays as it is."""
    kind, value = str(written.get("type")).lower(), written.get("value")
    wanted = {"cost_threshold": (int, float), "json_schema": (dict, bool)}.get(kind)
    if wanted is None or not isinstance(value, str):
        return written
    try:
        read = json.loads(value)
    except (ValueError, RecursionError):
        return written
    return written | {"value": read} if isinstance(read, wanted) else written
