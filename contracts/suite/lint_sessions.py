"""The rules of docker-agent sessions: any tool may be named, and nothing at all may be expected."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from contracts.suite.files import SuiteFiles
from contracts.suite.lint_expect import lint_expect
from contracts.suite.lint_working_dirs import working_dir_refusal
from contracts.suite.problems import Problem, unknown_name
from contracts.suite.session import SIZES, user_messages
from contracts.suite.session_files import SessionSource


def lint_sessions(files: SuiteFiles, *, judges: bool) -> Iterator[Problem]:
    """Everything that is wrong with the sessions beyond their shape."""
    for source in files.sessions.sources:
        evals, case = source.document.place("evals"), source.case
        yield from _lint_said(source)
        size = source.session.evals.size if source.session.evals else None
        if size and size not in SIZES:
            yield Problem(unknown_name("size", size, SIZES), evals / "size")
        yield from lint_expect(case.expect, evals, tools=None, judges=judges, may_be_empty=True)
        if case.working_dir is not None:
            beside = posixpath.dirname(source.file)
            if why := working_dir_refusal(files.folder, case.working_dir, beside=beside):
                yield Problem(why, evals / "working_dir")


def _lint_said(source: SessionSource) -> Iterator[Problem]:
    document, said = source.document, list(user_messages(source.session))
    if not said:
        place = document.place("messages") if "messages" in document.value else document.place()
        text = "no user message: nothing could be asked of an agent"
        yield Problem(text, place, reads=(document.place("messages"),))
    for index, text in said:
        if not text:
            place = document.place("messages", index, "message", "message")
            yield Problem("a user message without any text", place)
