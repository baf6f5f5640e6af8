"""Every rule of suite.toml: a bad suite that breaks this rule and no other, with file, place and words."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.suite_changes import AGENT, BrokenRule, Change, below, settings, top
from tests.fakes.suite_problems import assert_only_problem

SETTINGS: list[BrokenRule] = [
    ("a clock without offset", settings("12:00:00Z", "12:00:00"), "suite.toml clock (line 2)", "no RFC 3339 instant"),
    ("a clock that is no instant", settings("09-01T", "02-30T"), "suite.toml clock (line 2)", "is no instant"),
    (
        "an unknown timezone",
        top('timezone = "Europe/Berln"'),
        "suite.toml timezone (line 1)",
        'did you mean "Europe/Berlin"?',
    ),
    ("a timezone that is a path", top('timezone = "../UTC"'), "suite.toml timezone (line 1)", "is no IANA timezone"),
    ("a locale with a space", top('locale = "C UTF-8"'), "suite.toml locale (line 1)", "is no locale"),
    ("an unknown key", top("sed = 3"), "suite.toml sed (line 1)", 'unknown key "sed"; did you mean "seed"?'),
    ("text for a seed", top('seed = "3"'), "suite.toml seed (line 1)", "expected a whole number"),
    ("a seed beyond canonical JSON", top("seed = 9007199254740993"), "suite.toml seed (line 1)", "cannot be used"),
    (
        "an infinite limit",
        below("[limits]\nseconds = inf"),
        "suite.toml limits.seconds (line 19)",
        "inf cannot be used",
    ),
    (
        "a profile that is a number",
        below("[jobs.a]\nprofiles = [1]"),
        "suite.toml jobs.a.profiles.0 (line 19)",
        "expected text",
    ),
    (
        "an unknown default agent",
        settings('"support"', '"suport"'),
        "suite.toml default_agent",
        'did you mean "support"?',
    ),
    (
        "an unknown adapter",
        below(AGENT + 'adapter = "chatt"'),
        "suite.toml agents.extra.adapter (line 19)",
        'did you mean "chat"?',
    ),
    (
        "an unknown prompt",
        settings('prompt = "polite"', 'prompt = "polit"'),
        "agents.support.prompt",
        'did you mean "polite"?',
    ),
    (
        "an unknown model",
        settings("scripted/support", "scripted/suport"),
        "agents.support.model (line 11)",
        "no file models/suport.json",
    ),
    ("a model without provider", settings("scripted/support", "support"), "agents.support.model", "provider/model"),
    (
        "a command without command",
        below(AGENT + 'adapter = "command"'),
        "suite.toml agents.extra (line 18)",
        "needs the key command",
    ),
    (
        "a chat with a command",
        below(AGENT + 'adapter = "chat"\ncommand = ["a"]'),
        "agents.extra.command",
        "has no command",
    ),
    (
        "a url for a command",
        below(AGENT + 'adapter = "chat"\nurl = "http://a"'),
        "agents.extra.url",
        "has no url; http has",
    ),
    ("http without url", below(AGENT + 'adapter = "http"'), "suite.toml agents.extra (line 18)", "needs the key url"),
    (
        "docker-agent without file",
        below(AGENT + 'adapter = "docker-agent"'),
        "agents.extra (line 18)",
        "needs the key file",
    ),
    (
        "a secret that is no name",
        below(AGENT + 'adapter = "chat"\nsecret = ["A=b"]'),
        "agents.extra.secret.0",
        "no name of a variable",
    ),
    (
        "a command's file that is not there",
        settings("desk.py", "dusk.py"),
        "agents.desk.command",
        'no file "agents/dusk.py"',
    ),
    (
        "a command that reads the expectations",
        settings("agents/desk.py", "cases.json"),
        "agents.desk.command",
        "no agent reads",
    ),
    (
        "a glob that matches nothing",
        below(AGENT + 'adapter = "chat"\nfiles = ["x/*"]'),
        "agents.extra.files.0",
        "matches no file",
    ),
    (
        "a glob outside",
        below(AGENT + 'adapter = "chat"\nfiles = ["../*"]'),
        "agents.extra.files.0",
        "leads outside the suite",
    ),
    (
        "agents that differ by case",
        below('[agents.Desk]\nadapter = "chat"'),
        "suite.toml agents.Desk (line 18)",
        "only by case",
    ),
    (
        "prompts that differ by form",
        below(
            '[prompts."polite\u0301"]\nfile = "prompts/polite.md"\n[prompts."polit\u00e9"]\nfile = "prompts/polite.md"'
        ),
        "suite.toml prompts.polit\u00e9 (line 20)",
        "only by case or Unicode form",
    ),
    (
        "a prompt file that is not there",
        settings("prompts/polite.md", "prompts/a.md"),
        "prompts.polite.file (line 7)",
        "no file",
    ),
    ("a policy file outside", settings("policies/policy.md", "../policy.md"), "policy.file", "leads outside the suite"),
    (
        "an absolute file",
        top('lock_files = ["/etc/passwd"]'),
        "suite.toml lock_files.0 (line 1)",
        "leads outside the suite",
    ),
    ("a folder for a file", top('compose_files = ["agents"]'), "suite.toml compose_files.0 (line 1)", "is a folder"),
    (
        "a named file that is not there",
        top('routes = "roots.json"'),
        "suite.toml routes (line 1)",
        'no file "roots.json"',
    ),
    (
        "a sessions folder that is not there",
        top('sessions = "evals"'),
        "suite.toml sessions (line 1)",
        'no folder "evals"',
    ),
    (
        "a revision of its own",
        lambda folder: folder.texts.update(
            {"cases.json": '{"revision": "other", "cases": [{"id": "a", "input": "", "expect": {"size": "S"}}]}'}
        ),
        "cases.json /revision (line 1)",
        'the suite\'s is "fixtures-1"',
    ),
]


@pytest.mark.parametrize(("change", "where", "words"), [pytest.param(*rest, id=name) for name, *rest in SETTINGS])
def test_a_broken_rule_is_the_only_problem_and_is_named(tmp_path: Path, change: Change, where: str, words: str) -> None:
    assert_only_problem(tmp_path, change, where=where, words=words)
