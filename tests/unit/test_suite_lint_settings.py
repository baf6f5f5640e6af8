"""Every rule of suite.toml: a bad suite that breaks this rule and no other, with file, place and words."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.suite_changes import AGENT, BrokenRule, Change, below, both, file, settings, top
from tests.fakes.suite_problems import assert_exact_problem

SETTINGS: list[BrokenRule] = [
    (
        "an infinite limit that may not be 0",
        below("[limits]\nsetup_seconds = inf"),
        "suite.toml limits.setup_seconds (line 19)",
        "inf cannot be used",
    ),
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
    ("a negative seed", top("seed = -1"), "suite.toml seed (line 1)", "expected at least 0, found the number -1"),
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
        "suite.toml default_agent (line 3)",
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
        "suite.toml agents.support.prompt (line 12)",
        'did you mean "polite"?',
    ),
    (
        "an unknown model",
        settings("scripted/support", "scripted/suport"),
        "suite.toml agents.support.model (line 11)",
        "no file models/suport.json",
    ),
    (
        "a model without provider",
        settings("scripted/support", "support"),
        "suite.toml agents.support.model (line 11)",
        "provider/model",
    ),
    (
        "a command without command",
        below(AGENT + 'adapter = "command"'),
        "suite.toml agents.extra (line 18)",
        "needs the key command",
    ),
    (
        "a chat with a command",
        below(AGENT + 'adapter = "chat"\ncommand = ["a"]'),
        "suite.toml agents.extra.command (line 20)",
        "has no command",
    ),
    (
        "a url for a command",
        below(AGENT + 'adapter = "chat"\nurl = "http://a"'),
        "suite.toml agents.extra.url (line 20)",
        "has no url; http has",
    ),
    ("http without url", below(AGENT + 'adapter = "http"'), "suite.toml agents.extra (line 18)", "needs the key url"),
    (
        "docker-agent without file",
        below(AGENT + 'adapter = "docker-agent"'),
        "suite.toml agents.extra (line 18)",
        "needs the key file",
    ),
    (
        "a secret that is no name",
        below(AGENT + 'adapter = "chat"\nsecret = ["A=b"]'),
        "suite.toml agents.extra.secret.0 (line 20)",
        "no name of a variable",
    ),
    (
        "a command's file that is not there",
        settings("desk.py", "dusk.py"),
        "suite.toml agents.desk.command (line 16)",
        'no file "agents/dusk.py"',
    ),
    (
        "a command that reads the expectations",
        settings("agents/desk.py", "cases.json"),
        "suite.toml agents.desk.command (line 16)",
        "no agent reads",
    ),
    (
        "a glob that matches nothing",
        below(AGENT + 'adapter = "chat"\nfiles = ["x/*"]'),
        "suite.toml agents.extra.files.0 (line 20)",
        "matches no file",
    ),
    (
        "a glob that matches a name that is not UTF-8",
        both(file("more/\udcff.py", ""), below(AGENT + 'adapter = "chat"\nfiles = ["more"]')),
        "suite.toml agents.extra.files.0 (line 20)",
        "has a name that is not UTF-8",
    ),
    (
        "a glob outside",
        below(AGENT + 'adapter = "chat"\nfiles = ["../*"]'),
        "suite.toml agents.extra.files.0 (line 20)",
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
        "suite.toml prompts.polité (line 20)",
        "only by case or Unicode form",
    ),
    (
        "a prompt file that is not there",
        settings("prompts/polite.md", "prompts/a.md"),
        "suite.toml prompts.polite.file (line 7)",
        "no file",
    ),
    (
        "a policy file outside",
        settings("policies/policy.md", "../policy.md"),
        "suite.toml policy.file (line 4)",
        "leads outside the suite",
    ),
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
        "an unknown profile",
        below('[jobs.a]\nprofiles = ["falt"]'),
        "suite.toml jobs.a.profiles.0 (line 19)",
        'unknown profile "falt"; did you mean "fault"?',
    ),
    (
        "an unknown key of a job",
        below("[jobs.a]\nprofile = []"),
        "suite.toml jobs.a.profile (line 19)",
        'did you mean "profiles"?',
    ),
    ("jobs that differ by case", below("[jobs.a]\n[jobs.A]"), "suite.toml jobs.A (line 19)", "only by case"),
    (
        "a judge without provider",
        top('judge_model = "judge"'),
        "suite.toml judge_model (line 1)",
        'expected provider/model, found the text "judge"',
    ),
    (
        "a judge's url that is none",
        top('judge_url = "localhost:80"'),
        "suite.toml judge_url (line 1)",
        '"localhost:80" is no URL',
    ),
    (
        "an agent's url that is none",
        below(AGENT + 'adapter = "http"\nurl = "agent:80"'),
        "suite.toml agents.extra.url (line 20)",
        "is no URL",
    ),
    (
        "a model url with a password",
        below(AGENT + 'adapter = "chat"\nmodel_url = "http://a:b@c/v1"'),
        "suite.toml agents.extra.model_url (line 20)",
        "is no URL",
    ),
    (
        "a token's variable that is no name",
        below(AGENT + 'adapter = "chat"\nauth = "A-B"'),
        "suite.toml agents.extra.auth (line 20)",
        "no name of a variable",
    ),
    (
        "a served program elsewhere",
        below(AGENT + 'adapter = "http"\ncommand = ["a"]\nurl = "http://agent:{port}/"'),
        "suite.toml agents.extra.url (line 21)",
        "the lab starts this agent beside itself",
    ),
    (
        "fixture tools without a prefix",
        below(AGENT + 'adapter = "docker-agent"\nfile = "prompts/polite.md"\nselect = "header"\nfixture_tools = true'),
        "suite.toml agents.extra.select (line 21)",
        'select = "header" and fixture_tools = true',
    ),
    (
        "a glob of everything",
        below(AGENT + 'adapter = "chat"\nfiles = ["."]'),
        "suite.toml agents.extra.files.0 (line 20)",
        "is no glob",
    ),
    (
        "a limit that is too small",
        below("[limits]\npids = 1"),
        "suite.toml limits.pids (line 19)",
        "expected at least 8, found the number 1",
    ),
    (
        "a limit that is too large",
        below("[limits]\nseconds = 1e8"),
        "suite.toml limits.seconds (line 19)",
        "expected at most 10000000, found the number 1",
    ),
    (
        "a limit that is nothing",
        below("[limits]\ntool_seconds = 0"),
        "suite.toml limits.tool_seconds (line 19)",
        "expected more than 0, found the number 0",
    ),
    ("a prompt without file", below("[prompts.b]"), "suite.toml prompts.b (line 18)", 'the key "file" is missing'),
    (
        "a misspelt needed key of a prompt",
        below('[prompts.b]\nfiel = "prompts/polite.md"'),
        "suite.toml prompts.b.fiel (line 19)",
        'did you mean "file"?',
    ),
    (
        "a text for a table",
        top('limits = "none"'),
        "suite.toml limits (line 1)",
        'expected an object, found the text "none"',
    ),
    (
        "a number for text",
        top("tool_schema_revision = 3"),
        "suite.toml tool_schema_revision (line 1)",
        'found the number 3; put it in quotes: "3"',
    ),
    ("a path that is empty", top('sessions = ""'), "suite.toml sessions (line 1)", "no usable path"),
    (
        "a misspelt file",
        top('lock_files = ["agents/desk.pi"]'),
        "suite.toml lock_files.0 (line 1)",
        'did you mean "agents/desk.py"?',
    ),
    ("a misspelt folder", top('sessions = "agnts"'), "suite.toml sessions (line 1)", 'did you mean "agents"?'),
    (
        "a revision of its own",
        lambda folder: folder.texts.update(
            {"cases.json": '{"revision": "other", "cases": [{"id": "a", "input": "", "expect": {"size": "S"}}]}'}
        ),
        "cases.json /revision (line 1)",
        'the suite\'s is "fixtures-1"',
    ),
    (
        "a revision where the suite has none",
        both(
            settings('revision = "fixtures-1"\n', ""),
            file("cases.json", '{"revision": "r", "cases": [{"id": "a", "input": "", "expect": {"size": "S"}}]}'),
        ),
        "cases.json /revision (line 1)",
        "suite.toml names none",
    ),
]


@pytest.mark.parametrize(("change", "place", "words"), [pytest.param(*rest, id=name) for name, *rest in SETTINGS])
def test_a_broken_rule_is_the_only_problem_and_is_named(tmp_path: Path, change: Change, place: str, words: str) -> None:
    assert_exact_problem(tmp_path, change, place=place, words=words)
