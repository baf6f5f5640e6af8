"""The rules of models/NAME.json."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from contracts.suite.broken import UNKNOWN, Broken
from contracts.suite.files import SuiteFiles
from contracts.suite.lint_patterns import re2_refusal
from contracts.suite.lint_routes import lint_sent_headers
from contracts.suite.problems import Place, Problem, nearest, unknown_name
from contracts.suite.rule_order import never_reached
from contracts.suite.scripted_model import ModelFile, Reply, When


@dataclass(frozen=True)
class _Known:
    """The names that a rule may refer to; None: no list of them."""

    cases: Collection[str] | None
    prompts: Collection[str] | None
    tools: Collection[str] | None


def lint_models(files: SuiteFiles, *, tools: Collection[str] | None) -> Iterator[Problem]:
    """Everything that is wrong with the scripted models; `tools` are the known ones, None where none are named."""
    cases = None
    has_cases = files.cases.document is not None or files.sessions.files
    if has_cases and any(_names_a_case(model) for model in files.model_files.values()):
        cases = files.cases.names("id")
        cases = None if cases is None else cases | files.sessions.ids
    known = _Known(cases=cases, prompts=files.table("prompts"), tools=tools)
    for name, model in files.model_files.items():
        yield from _lint_model(model, files.models[name].place("rules"), known, files.broken)


def _names_a_case(model: ModelFile) -> bool:
    return any(rule.when.case is not None for rule in model.rules)


def _lint_model(model: ModelFile, place: Place, known: _Known, broken: Broken) -> Iterator[Problem]:
    said: set[str] | None = {call.name for rule in model.rules for call in rule.reply.tool_calls}
    told = [index for index in range(len(model.rules)) if not broken.is_doubtful(place / index / "when")]
    if any(broken.is_doubtful(place / index / "reply" / "toolCalls") for index in range(len(model.rules))):
        said = None
    for index, rule in enumerate(model.rules):
        yield from _lint_when(rule.when, place / index / "when", known, said=said)
        yield from _lint_reply(rule.reply, place / index / "reply", known)
    for position, first in never_reached([model.rules[index] for index in told]):
        text = f"can never answer: rules/{told[first]} comes first and takes everything that this rule would"
        yield Problem(text, place / told[position], reads=())


def _lint_when(when: When, place: Place, known: _Known, *, said: Collection[str] | None) -> Iterator[Problem]:
    if when.case is not None and known.cases is not None and when.case not in known.cases:
        yield Problem(unknown_name("case", when.case, known.cases), place / "case")
    if when.prompt is not None and known.prompts is not None and when.prompt not in known.prompts:
        yield Problem(unknown_name("prompt", when.prompt, known.prompts), place / "prompt")
    tools = None if known.tools is None or said is None else {*known.tools, *said}
    if when.last_tool is not None and tools is not None and when.last_tool not in tools:
        yield Problem(unknown_name("tool", when.last_tool, known.tools or ()), place / "lastTool")
    if when.turn == 1 and (when.last_tool is not None or when.last_status is not None):
        # Turns are counted by what the model said, and people think of what the user said.
        yield Problem(
            "can never hold: a tool's result comes after the model's first turn; expected 2 or more", place / "turn"
        )
    if when.text is not None and (why := re2_refusal(when.text)):
        yield Problem(why, place / "text")


def _lint_reply(reply: Reply, place: Place, known: _Known) -> Iterator[Problem]:
    if reply.text is None and not reply.tool_calls and reply.error is None:
        reads = tuple(place / key for key in ("text", "toolCalls", "error", UNKNOWN))
        yield Problem("says nothing; expected text, toolCalls or error", place, reads=reads)
    if reply.error is not None:
        beside = {"text": reply.text is not None, "toolCalls": reply.tool_calls, "usage": reply.usage, "cut": reply.cut}
        if names := [name for name, is_there in beside.items() if is_there]:
            text = f"an error is answered alone; expected no {' and no '.join(names)} beside it"
            yield Problem(text, place, reads=())
        yield from lint_sent_headers(reply.error.headers, place / "error" / "headers")
    for index, call in enumerate(reply.tool_calls):
        # A model may ask for a tool that does not exist, and a suite may script that; but a near miss is a typo.
        if known.tools is not None and call.name not in known.tools and nearest(call.name, known.tools):
            yield Problem(unknown_name("tool", call.name, known.tools), place / "toolCalls" / index / "name")
