"""Suites whose agents are right, wrong, stuck, crashing, silent and lying: what the lab must be able to tell apart."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def agent_table(name: str, adapter: str, **keys: Any) -> str:
    """`[agents.NAME]` of a suite.toml; JSON's texts, numbers and lists are TOML's too."""
    lines = (f"{key} = {json.dumps(value)}" for key, value in {"adapter": adapter, **keys}.items())
    return "\n".join((f"[agents.{name}]", *lines, "", ""))


def settings_of(*tables: str, begin: str = "", **limits: Any) -> str:
    """A suite.toml with these agents and the limits of the controls, of which `limits` replaces some."""
    kept = {"seconds": 120, "tool_calls": 20, "model_calls": 5, "output_bytes": 1_000_000, **limits}
    start = f'revision = "controls-1"\nclock = "2026-09-01T12:00:00Z"\n{begin}\n'
    return "\n".join((start + "".join(tables) + "[limits]", *(f"{key} = {value}" for key, value in kept.items()), ""))


PROGRAM = ["python3", "{suite}/agents/controls.py"]
CONTROLS = agent_table("controls", "command", command=PROGRAM)
MISSING = agent_table("missing", "command", command=["/nowhere/agent"])
TALKER = agent_table("talker", "chat", model="scripted/talker")
SETTINGS = settings_of(CONTROLS, MISSING, TALKER, begin='default_agent = "controls"\n')

TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "lookup",
            "parameters": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
        },
        "http": {"method": "GET", "path": "/things/{id}"},
    },
    {
        "type": "function",
        "function": {"name": "pay", "parameters": {"type": "object", "properties": {"amount": {"type": "integer"}}}},
        "http": {"method": "POST", "path": "/payments"},
    },
]

THINK = {"type": "function", "function": {"name": "think", "parameters": {"type": "object"}}}

ROUTES = [
    {"id": "lookup", "method": "GET", "path": "/things/{id}", "responses": [{"json": {"id": "{id}"}}]},
    {"id": "slow", "method": "GET", "path": "/things/slow", "priority": 5, "responses": [{"json": {}, "delayMs": 700}]},
    {
        "id": "pay",
        "method": "POST",
        "path": "/payments",
        "responses": [{"status": 201, "json": {}}],
        "effects": [{"op": "add", "path": "/payments/-", "value": {"$request": "/json/amount"}}],
    },
    {
        "id": "broken",
        "method": "GET",
        "path": "/things/broken",
        "priority": 5,
        "responses": [{"json": {}}],
        "effects": [{"op": "remove", "path": "/not/there"}],
    },
]

AGENT = '''\
"""Does what its case is called."""
import json, os, signal, subprocess, sys, time, urllib.error, urllib.request

task = json.load(sys.stdin)


def say(**event):
    print(json.dumps(event), flush=True)


def done():
    say(type="message", text="done")


def request(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"content-type": "application/json"} if data else {}
    call = urllib.request.Request(task["fixtureUrl"] + path, data, headers, method=method)
    try:
        return urllib.request.urlopen(call, timeout=30).status
    except urllib.error.HTTPError as answer:
        return answer.code


def is_right():
    request("GET", "/things/1")
    say(type="tool_call", name="lookup", arguments={"id": "1"}, status=200)
    done()


def is_silent_about_its_calls():
    request("POST", "/payments", {"amount": 5})
    done()


def claims_a_call():
    say(type="tool_call", name="lookup", arguments={"id": "1"}, status=200)
    done()


def claims_a_forbidden_call():
    say(type="tool_call", name="pay", arguments={"amount": 5}, status=201)
    done()


def claims_an_approval():
    say(type="tool_call", name="lookup", arguments={"id": "1"}, status=200)
    request("POST", "/payments", {"amount": 5})
    done()


def crashes():
    done()
    raise SystemExit(3)


def dies_of_a_signal():
    done()
    os.kill(os.getpid(), signal.SIGKILL)


def reports_an_error():
    done()
    say(type="error", message="something private")


def blames_its_provider():
    say(type="error", message="429", **{"class": "provider"})
    raise SystemExit(1)


def breaks_the_protocol():
    say(type="message", words="done")


def says_nothing():
    pass


def hangs():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    done()
    print(f"pid {os.getpid()}", flush=True)
    while True:
        time.sleep(1)


def waits():
    # so that it can be seen from outside, whoever looks: arguments are for everybody
    who = ["LAB_CASE_ID=" + os.environ["LAB_CASE_ID"], os.environ.get("LABTEST_RUN", "")]
    subprocess.run([sys.executable, "-c", "import time; time.sleep(600)", *who])


def leaves_a_child():
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    print(f"pid {child.pid}", flush=True)
    done()


def floods():
    done()
    while True:
        sys.stdout.write("x" * 65536)


def is_noisy():
    sys.stdout.buffer.write(b"\\xff\\x00" * 150_000)
    sys.stdout.write("\\n")
    done()


def loops_on_tools():
    done()
    while True:
        request("GET", "/things/1")


def loops_on_the_model():
    done()
    while True:
        request("POST", "/v1/chat/completions", {"messages": [{"role": "user", "content": "talk"}]})


def asks_for_what_is_not_there():
    print(request("GET", "/thingz/1"))
    done()


def meets_a_broken_suite():
    request("GET", "/things/broken")
    done()


def spends_too_much():
    done()
    say(type="usage", inputTokens=1, outputTokens=1, costUsd=0.75)
    time.sleep(600)


def tells_the_secret():
    done()
    print("at", task["fixtureUrl"])
    print("at", os.environ["FIXTURE_URL"], file=sys.stderr)
    say(type="message", text=task["modelUrl"])
    request("POST", "/payments", {"amount": task["fixtureUrl"]})


def is_slow():
    request("GET", "/things/slow")
    done()


globals()[os.environ["LAB_CASE_ID"].rpartition(".")[2].replace("-", "_")]()
'''

SAYS_DONE = {"assertions": [{"type": "contains", "value": "done"}]}

LOOKUP_CALL = {"name": "lookup", "arguments": {"id": "1"}}

CASES: list[dict[str, Any]] = [
    {"id": "is-right", "expect": {**SAYS_DONE, "toolCalls": [LOOKUP_CALL], "toolMatch": "strict"}},
    {"id": "is-silent-about-its-calls", "expect": {**SAYS_DONE, "neverTools": ["pay"]}},
    {"id": "claims-a-call", "expect": {**SAYS_DONE, "toolCalls": [{"name": "lookup"}]}},
    {"id": "claims-a-forbidden-call", "expect": {**SAYS_DONE, "neverTools": ["pay"]}},
    {"id": "claims-an-approval", "expect": {**SAYS_DONE, "toolOrder": [["lookup", "pay"]]}},
    {"id": "crashes", "expect": SAYS_DONE},
    {"id": "dies-of-a-signal", "expect": SAYS_DONE},
    {"id": "reports-an-error", "expect": SAYS_DONE},
    {"id": "blames-its-provider", "expect": SAYS_DONE},
    {"id": "breaks-the-protocol", "expect": SAYS_DONE},
    {"id": "says-nothing", "expect": SAYS_DONE},
    {"id": "hangs", "expect": SAYS_DONE, "limits": {"seconds": 5}},
    {"id": "leaves-a-child", "expect": SAYS_DONE},
    {"id": "floods", "expect": SAYS_DONE},
    {"id": "is-noisy", "expect": SAYS_DONE},
    {"id": "loops-on-tools", "expect": SAYS_DONE},
    {"id": "asks-for-what-is-not-there", "expect": SAYS_DONE},
    {"id": "meets-a-broken-suite", "expect": SAYS_DONE},
    {"id": "spends-too-much", "expect": SAYS_DONE, "limits": {"cost_usd": 0.5}},
    {"id": "tells-the-secret", "expect": {"state": [{"pointer": "/payments", "equals": []}]}},
]  # fmt: skip

CHAT_CASES: list[dict[str, Any]] = [
    {"id": "talks", "input": "talk", "expect": SAYS_DONE},
    {"id": "has-no-rule", "input": "what now", "expect": SAYS_DONE},
    {"id": "model-fails", "input": "fail", "expect": SAYS_DONE},
    {"id": "loops", "input": "loop", "expect": SAYS_DONE},
    {"id": "calls-a-lot", "input": "call", "expect": SAYS_DONE, "limits": {"tool_calls": 2}},
    {"id": "invents-a-tool", "input": "invent", "expect": {**SAYS_DONE, "toolCalls": []}},
]

RULES: list[dict[str, Any]] = [
    {"when": {"text": "no such tool"}, "reply": {"text": "done"}},
    {"when": {"lastTool": "lookup"}, "reply": {"toolCalls": [LOOKUP_CALL]}},
    {"when": {"text": "loop"}, "reply": {"toolCalls": [LOOKUP_CALL]}},
    {"when": {"text": "talk"}, "reply": {"text": "done"}},
    {"when": {"text": "fail"}, "reply": {"error": {"status": 503}}},
    {"when": {"text": "call"}, "reply": {"toolCalls": [LOOKUP_CALL] * 5}},
    {"when": {"text": "invent"}, "reply": {"toolCalls": [{"name": "fly", "arguments": {}}]}},
]


def write_controls(
    root: Path,
    cases: list[dict[str, Any]],
    *,
    settings: str = SETTINGS,
    tools: Sequence[dict[str, Any]] = TOOLS,
    rules: Sequence[dict[str, Any]] = RULES,
) -> Path:
    """A suite of these cases below `root`, which it returns."""
    (root / "agents").mkdir(parents=True)
    (root / "models").mkdir()
    (root / "suite.toml").write_text(settings)
    (root / "agents" / "controls.py").write_text(AGENT)
    written = {
        "cases.json": {"cases": [{"input": "go", **case} for case in cases]},
        "routes.json": {"routes": ROUTES},
        "tools.json": {"tools": tools},
        "state.json": {"payments": []},
        "models/talker.json": {"rules": rules},
    }
    for name, content in written.items():
        (root / name).write_text(json.dumps(content))
    return root


def slow_cases(count: int) -> list[dict[str, Any]]:
    """Cases of which each takes 0.7 s of the fixture API's time."""
    return [{"id": f"case-{number}.is-slow", "input": "go", "expect": SAYS_DONE} for number in range(count)]
