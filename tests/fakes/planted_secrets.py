"""Suites whose agents, models, judge and files say secrets in every place that a run has, each in four forms."""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.fakes.judged_suite import judged_case, says
from tests.fakes.session_folder import said, session, write_sessions
from tests.fakes.suite_folder import SETTINGS, SuiteFolder

STATEMENT = "it is polite"

AT_THE_DESK = (
    *("STDOUT", "STDERR", "MESSAGE", "CLAIMED_ARGUMENT", "TOOL_NAME", "HEADER", "QUERY", "PATH", "BODY", "EXCEPTION"),
    *("FIXTURE_BODY", "STATE", "EXPECTATION", "TITLE", "PROMPT", "FILE", "FILE_NAME", "JUDGE_REASON", "TWO_LINES"),
    *("COLOURED", "ERROR_EVENT", "LONG_LOG", "WRAPPED_BASE64", "ENVIRONMENT", "PROVIDER_KEY", "COMMAND_LINE"),
)
IN_THE_CHAT = ("MODEL_REPLY", "MODEL_ARGUMENT", "MODEL_TOOL", "TOOL_RESULT", "INPUT")
IN_SESSIONS = ("SESSION_INPUT", "SESSION_ANSWER", "SESSION_TITLE", "SESSION_NAME", "SESSION_SAID", "SESSION_TOOL")
NAMES = {"PROVIDER_KEY": "OPENAI_API_KEY"}
"""Variables that have a name of their own."""
PLACES = (*AT_THE_DESK, *IN_THE_CHAT, *IN_SESSIONS)


def random_secrets(source: random.Random) -> dict[str, str]:
    """One for each place; with characters that every form has to escape."""
    hard = '/+=&"\\% <é€'
    secrets = {}
    for place in PLACES:
        letters = source.choices(string.ascii_letters + string.digits, k=source.randrange(20, 44))
        for _ in range(source.randrange(4)):
            letters.insert(source.randrange(3, len(letters) - 3), source.choice(hard))
        secrets[place] = "".join(letters)
    for place in ("FILE_NAME", "SESSION_NAME", "TOOL_NAME"):  # what any file system takes, and short in all forms
        secrets[place] = "".join(source.choices(string.ascii_letters + string.digits, k=20))
    return secrets


def forms_of(secret: str) -> dict[str, str]:
    """The four forms."""
    return {
        "plain": secret,
        "base64": base64.b64encode(f"user:{secret}".encode()).decode(),
        "url": quote(secret, safe=""),
        "json": "".join(f"\\u{ord(char):04x}" for char in secret),
    }


def all_forms(secret: str) -> str:
    """All of them in one text."""
    return " ".join(forms_of(secret).values())


_DESK = """\
import base64, json, os, sys, urllib.error, urllib.parse, urllib.request

order = json.load(sys.stdin)
forms = json.loads(os.environ["FORMS"])


def call(path, body=None, **headers):
    request = urllib.request.Request(order["fixtureUrl"] + path, data=body, headers=headers)
    try:
        urllib.request.urlopen(request).read()
    except urllib.error.HTTPError as error:
        print(error.read().decode(), flush=True)  # the problem names what was asked, at most so much of it


def tell(**event):
    print(json.dumps(event), flush=True)


def each(place):
    return (form.encode("ascii", "backslashreplace").decode() for form in forms[place].values())


if order["caseId"] == "crashes":
    raise RuntimeError(" ".join(forms["EXCEPTION"].values()))
if order["caseId"] == "says-error":
    tell(type="error", message=" ".join(forms["ERROR_EVENT"].values()))
    sys.exit(0)
print("log:", *forms["STDOUT"].values(), flush=True)
print("log:", *forms["STDERR"].values(), file=sys.stderr, flush=True)
for form in forms["TWO_LINES"].values():
    print(form[: len(form) // 3], form[len(form) // 3 :], sep="\\n", flush=True)
for form in forms["COLOURED"].values():
    print("\\x1b[1m" + form[:9] + "\\x1b[0m" + form[9:14] + "\\x1b[31m" + form[14:], flush=True)
print(base64.encodebytes(b"x" * 50 + forms["WRAPPED_BASE64"]["plain"].encode() + b"y" * 60).decode(), flush=True)
print({name: os.environ.get(name) for name in ("P_ENVIRONMENT", "OPENAI_API_KEY", "COMMAND_LINE")}, flush=True)
for form in each("HEADER"):
    call("/nowhere", **{"x-note": form, "authorization": "Bearer " + form})
    call("/guarded", **{"x-note": form})
for form in each("QUERY"):
    call("/orders/a-1?" + urllib.parse.urlencode({"q": form}))
for form in each("PATH"):
    call("/orders/" + urllib.parse.quote(form, safe=""))
call("/notes", json.dumps({"note": forms["BODY"]}).encode(), **{"content-type": "application/json"})
call("/orders/a-1")
call("/secret-note")
tell(type="tool_call", name="think", arguments=forms["CLAIMED_ARGUMENT"])
for form in forms["TOOL_NAME"].values():
    tell(type="tool_call", name=form, arguments={})
tell(type="message", text=" ".join(forms["MESSAGE"].values()))
long = " ".join(forms["LONG_LOG"].values())
for number in range(1200):
    print(str(number) + "." * (number % 97) + long, file=sys.stderr)
"""
_ASSISTED = """\
import json, os, sys

order = json.load(sys.stdin)
forms = json.loads(os.environ["FORMS"])
print(json.dumps({"type": "tool_call", "name": "look", "arguments": forms["SESSION_TOOL"]}))
print(json.dumps({"type": "message", "text": " ".join(forms["SESSION_SAID"].values())}))
"""


@dataclass(frozen=True)
class Planted:
    """A suite with what it is to be run with."""

    root: Path
    flags: tuple[str, ...]
    places: tuple[str, ...]


def environment_of(secrets: Mapping[str, str]) -> dict[str, str]:
    """Each secret under the name of its place, and FORMS, from which the agents read them."""
    forms = json.dumps({place: forms_of(secret) for place, secret in secrets.items()})
    named = {NAMES.get(place, f"P_{place}"): secret for place, secret in secrets.items() if place != "COMMAND_LINE"}
    return named | {"FORMS": forms}


def desk_suite(root: Path, secrets: Mapping[str, str], *, judge_url: str) -> Planted:
    """A command agent over the fixture API, with a judge."""
    told = {place: all_forms(secret) for place, secret in secrets.items()}
    unseen: dict[str, Any] = {"unmatchedRequests": "allow"}
    state = {"state": [{"pointer": "/note", "equals": told["EXPECTATION"]}], **unseen}
    cases = [
        judged_case("judged", STATEMENT),
        {"id": "tells", "title": told["TITLE"], "input": "hello", "expect": state},
        {"id": "crashes", "input": "hello", "expect": {"neverTools": ["write_note"]}},
        {"id": "says-error", "input": "hello", "expect": {"neverTools": ["write_note"]}},
    ]
    cases[0]["expect"] |= unseen
    routes = [
        {"id": "order", "method": "GET", "path": "/orders/a-1", "responses": [{"json": {"n": told["FIXTURE_BODY"]}}]},
        {"id": "note", "method": "GET", "path": "/secret-note", "responses": [{"json": {"$state": "/note"}}]},
        {"id": "guarded", "method": "GET", "path": "/guarded", "match": {"headers": {"x-note": "an open one"}},
         "responses": [{"text": "in"}]},
    ]  # fmt: skip
    tools = [_tool("read_order", "GET", "/orders/{id}"), _tool("read_note", "GET", "/secret-note")]
    tools += [_tool("write_note", "POST", "/notes")]
    folder = SuiteFolder(
        root,
        settings=f'judge_model = "openai/judge"\njudge_url = "{judge_url}"\n' + SETTINGS,
        cases=cases,
        routes=routes,
        tools=tools,
        state={"note": told["STATE"]},
        texts={
            "agents/desk.py": _DESK,
            "prompts/polite.md": told["PROMPT"],
            "notes/file.txt": told["FILE"],
            f"notes/{secrets['FILE_NAME']} {forms_of(secrets['FILE_NAME'])['base64']}.txt": "a file",
        },
    )
    return Planted(folder.write(), ("--agent", "desk", "--profile", "observe"), AT_THE_DESK)


def judge_replies(secrets: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """What the judge of that suite says."""
    return {STATEMENT: says("fail", all_forms(secrets["JUDGE_REASON"]))}


def chat_suite(root: Path, secrets: Mapping[str, str]) -> Planted:
    """The built-in loop with a scripted model."""
    told = {place: all_forms(secret) for place, secret in secrets.items()}
    order = {"name": "read_order", "arguments": {"id": told["MODEL_ARGUMENT"]}}
    rules = [
        {"when": {"case": "reads-badly"}, "reply": {"toolCalls": [{"name": told["MODEL_TOOL"], "arguments": {}}]}},
        {"when": {"lastTool": "read_order"}, "reply": {"text": told["MODEL_REPLY"]}},
        {"reply": {"toolCalls": [order]}},
    ]
    expect = {"assertions": [{"type": "contains", "value": "hello"}], "unmatchedRequests": "allow"}
    folder = SuiteFolder(
        root,
        cases=[{"id": one, "input": told["INPUT"], "expect": expect} for one in ("reads", "reads-badly")],
        routes=[{"id": "order", "method": "GET", "path": "/orders/{id}", "responses": [{"text": told["TOOL_RESULT"]}]}],
        tools=[_tool("read_order", "GET", "/orders/{id}")],
        rules=rules,
    )
    return Planted(folder.write(), ("--agent", "support", "--profile", "observe"), IN_THE_CHAT)


def session_suite(root: Path, secrets: Mapping[str, str]) -> Planted:
    """docker-agent sessions with a command agent: sessions.json and sessions.db."""
    told = {place: all_forms(secret) for place, secret in secrets.items()}
    asked = session(
        said("user", told["SESSION_INPUT"]),
        said("assistant", told["SESSION_ANSWER"], tools=("look",)),
        title=told["SESSION_TITLE"],
        size="S",
    )
    settings = '[agents.script]\nadapter = "command"\ncommand = ["python3", "{suite}/agent.py"]\n'
    files = {"suite.toml": settings, "agent.py": _ASSISTED}
    write_sessions(root, {"plain": asked, f"of {secrets['SESSION_NAME']}": asked}, files=files)
    return Planted(root, (), IN_SESSIONS)


def _tool(name: str, method: str, path: str) -> dict[str, Any]:
    names = ["id"] if "{id}" in path else []
    parameters = {"type": "object", "properties": {one: {"type": "string"} for one in names}}
    return {
        "type": "function",
        "function": {"name": name, "parameters": parameters},
        "http": {"method": method, "path": path},
    }
