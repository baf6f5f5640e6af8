"""Reads a suite: every file parsed, every reference resolved, every problem named at once, every digest taken."""

from __future__ import annotations

from pathlib import Path

from contracts.canonical import digest_of_bytes, digest_of_json
from contracts.collector import without_collector
from contracts.errors import ErrorCode, Found, LabError
from contracts.suite.agent_files import agent_files
from contracts.suite.digests import agent_digest, case_digest, dataset_digest, digests_of_files
from contracts.suite.files import SuiteFiles, read_files
from contracts.suite.kept_cases import CaseDigests, KeptCases
from contracts.suite.linting import lint
from contracts.suite.problems import Problem
from contracts.suite.reading import SuiteFolder
from contracts.suite.settings import SuiteSettings
from contracts.suite.suite import WORKING_DIRS_FOLDER, Revision, Suite, Text

_OWN_DEFAULTS = ("revision", "tool_schema_revision")
"""Keys without a value of their own in the record: the digest is their documented default."""


def load_suite(root: Path, *, judges: bool = True) -> Suite:
    """The suite of a directory; nothing of it is read from disk again.

    `judges` False, for a process that judges nothing, leaves out whether the patterns and schemas of assertions can be
    used: only that needs libraries beside pydantic.

    Raises:
        LabError: suite-missing, no-cases, or one suite-invalid for all problems.

    """
    try:
        with without_collector():
            return _loaded(root, judges=judges)
    except OSError as error:
        raise LabError(
            ErrorCode.SUITE_MISSING, f"the suite {root} cannot be read", cause=f"{error.strerror}: {error.filename}"
        ) from error


def _loaded(root: Path, *, judges: bool) -> Suite:
    if not root.is_dir():
        raise LabError(
            ErrorCode.SUITE_MISSING,
            f"the suite directory {root} {'is no directory' if root.exists() else 'is not there'}",
            expected="a directory with cases.json, or with docker-agent sessions",
            next_step="labctl run SUITE, with the directory of a suite",
        )
    files = read_files(SuiteFolder(root))
    files.problems.add(lint(files, judges=judges))
    _refuse_without_cases(files)
    files.problems.refuse(str(root), files=files.in_order())
    return _assembled(files)


def _refuse_without_cases(files: SuiteFiles) -> None:
    """Raises LabError (no-cases) where that is all that is wrong; beside other problems it is one of them."""
    missing = _missing_cases(files)
    if missing is None:
        return
    if files.problems.listed:
        files.problems.add([missing])
        return
    root, document = files.folder.root, files.cases.document
    next_step = "labctl run SUITE, with the folder that holds them"
    if document is not None:
        next_step = f"write a case into {document.file}, then: labctl cases lint {root}"
    raise LabError(
        ErrorCode.NO_CASES,
        f"the suite {root} has no case",
        found=[Found(missing.text, missing.place.document.file, "/cases") if missing.place else Found(missing.text)],
        expected=None if document else "cases.json, or docker-agent sessions (*.json with user messages)",
        next_step=next_step,
    )


def _missing_cases(files: SuiteFiles) -> Problem | None:
    """That the suite has no case; None where it has some, or may have some that nobody can read."""
    cases, settings, named = files.cases, files.settings, files.setting("sessions")
    may_have = cases.is_unread or files.are_settings_unread or bool(cases.items or files.sessions.files)
    if may_have or (named is not None and files.broken.is_lost(named)):
        return None
    if cases.document is not None:
        return Problem("the list is empty", cases.document.place(cases.key))
    where = settings.sessions or "the folder"
    if settings.sessions is not None and files.folder.refusal(settings.sessions, folder=True):
        return None
    text = f"no {settings.cases}, and no session files in {where}"
    return Problem(text, file=files.folder.shown(settings.cases))


def _assembled(files: SuiteFiles) -> Suite:
    settings = files.settings
    state = files.state.value if files.state else {}
    dataset = dataset_digest(routes=[*files.routes.written()], state=state)
    tool_schema = digest_of_json(files.tools.document.value if files.tools.document else {"tools": []})
    made_of = {name: agent_files(files.folder, agent) for name, agent in settings.agents.items()}
    digests = {name: digests_of_files(files.folder.root, paths) for name, paths in made_of.items()}
    return Suite(
        root=files.folder.root,
        settings=settings,
        defaulted=_defaulted(settings),
        cases=_cases(files),
        case_digests=_case_digests(files),
        sessions={source.case.id: source.file for source in files.sessions.sources},
        routes=files.routes.records,
        state=state,
        tools=files.tools.records,
        models=files.model_files,
        model_digests={name: digest_of_json(document.value) for name, document in files.models.items()},
        prompts={name: _text(name, text) for name, text in files.prompts.items()},
        policy=_text(settings.policy.revision, files.policy) if settings.policy and files.policy is not None else None,
        dataset=Revision(label=settings.revision or dataset, digest=dataset),
        tool_schema=Revision(label=settings.tool_schema_revision or tool_schema, digest=tool_schema),
        agent_files=digests,
        agent_digests={
            name: agent_digest(declaration=files.declaration(name), files=digests[name]) for name in settings.agents
        },
    )


def _text(name: str, text: str) -> Text:
    return Text(name=name, text=text, digest=digest_of_bytes(text.encode()))


def _cases(files: SuiteFiles) -> KeptCases:
    sources = files.sessions.sources
    if files.cases_read is not None and not sources:
        return files.cases_read.cases
    return KeptCases.of((*files.cases.records, *(source.case for source in sources)))


def _case_digests(files: SuiteFiles) -> CaseDigests:
    """A session's is over the case that it stands for, so that it is that of the same case in cases.json."""
    root, written, read = files.folder.root, files.cases.written(), files.cases_read
    untold = files.cases.items if read is None else files.cases.having("working_dir")
    cases = [(case, written[index], root) for index, case in untold]
    cases += [(one.case, one.written, (root / one.file).parent) for one in files.sessions.sources]
    digests = {
        case.id: case_digest(told, working_dir=_working_dir(beside, case.working_dir)) for case, told, beside in cases
    }
    if read is None:
        return CaseDigests.of(digests)
    return CaseDigests.of({**read.digests, **digests}) if digests else read.digests


def _working_dir(beside: Path, name: str | None) -> dict[str, str] | None:
    if name is None:
        return None
    folder = beside / WORKING_DIRS_FOLDER / name
    return digests_of_files(folder, (path for path in folder.rglob("*") if path.is_file()))


def _defaulted(settings: SuiteSettings) -> tuple[str, ...]:
    """The absent keys that took a default: those of suite.toml and those of its limits."""
    fields, given = SuiteSettings.model_fields, settings.model_fields_set
    absent = [
        key
        for key, field in fields.items()
        if key not in given and (key in _OWN_DEFAULTS or isinstance(field.default, str | int))
    ]
    limits = settings.limits
    absent += [
        f"limits.{key}"
        for key, value in limits.model_dump(exclude_none=True).items()
        if key not in limits.model_fields_set and value is not None
    ]
    return tuple(absent)
