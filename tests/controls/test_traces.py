"""`labctl run --profile observe` on the process backend: every span is there, and none says what it must not."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from driver.otlp_lines import Span, parse_line, spans_of
from tests.controls.lab_processes import PATIENCE_S, ROOT, SAMPLE
from tests.fakes.suite_folder import SuiteFolder

SECRET = "s3cret-value-of-this-test"
PLANTED = ("planted-prompt", "planted-policy", "planted-question", "planted-argument", "planted-result",
           "planted-error", "planted-answer", "planted-header", "planted-log")  # fmt: skip
AGENT = """
import json, os, sys, urllib.request
task = json.load(sys.stdin)
def call(path, **headers):
    request = urllib.request.Request(task["fixtureUrl"] + path, headers=headers)
    try:
        return urllib.request.urlopen(request).read()
    except OSError as error:
        return b""
call("/orders/planted-argument", **{"x-note": "planted-header", "authorization": os.environ["TOKEN"]})
call("/orders/broken")
print("planted-log", os.environ["TOKEN"], file=sys.stderr)
for event in (
    {"type": "tool_call", "name": "think", "arguments": {"about": "planted-argument " + os.environ["TOKEN"]}},
    {"type": "message", "text": "planted-answer"},
    {"type": "message", "text": os.environ.get("TRACEPARENT", "none")},
):
    print(json.dumps(event), flush=True)
"""
ROUTES = [
    {
        "id": "broken",
        "method": "GET",
        "path": "/orders/broken",
        "responses": [{"status": 500, "json": {"why": "planted-error"}}],
    },
    {
        "id": "order",
        "method": "GET",
        "path": "/orders/{order_id}",
        "responses": [{"json": {"note": "planted-result"}, "headers": {"x-back": "planted-header"}}],
    },
]
SCRIPT = [
    {"when": {"lastTool": "lookup_order"}, "reply": {"text": "planted-answer"}},
    {"reply": {"toolCalls": [{"name": "lookup_order", "arguments": {"order_id": "planted-argument"}}]}},
]


def labctl(suite: Path, *flags: str, evidence: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from driver.cli.main import main; main()", "run", str(suite)]
    options = ["--backend", "process", "--evidence", str(evidence), "--run-id", "run", *flags]
    return subprocess.run(
        [*command, *options], cwd=ROOT, capture_output=True, text=True, check=False, timeout=PATIENCE_S * 3
    )


def spans_in(run: Path) -> list[Span]:
    lines = (run / "traces" / "otlp.jsonl").read_bytes().splitlines()
    return [span for line in lines for span in spans_of(parse_line(line))]


def telemetry_of(run: Path) -> dict[str, Any]:
    telemetry: dict[str, Any] = json.loads((run / "environment.json").read_text())["telemetry"]
    return telemetry


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    folder = SuiteFolder(
        tmp_path / "suite",
        cases=[
            {
                "id": "tells",
                "input": "planted-question",
                "expect": {"assertions": [{"type": "contains", "value": "answer"}]},
            }
        ],
        routes=ROUTES,
        rules=SCRIPT,
        texts={
            "agents/desk.py": AGENT,
            "prompts/polite.md": "planted-prompt",
            "policies/policy.md": "planted-policy",
        },
    )
    return folder.write()


def test_every_span_of_the_sample_suite_is_in_the_evidence_and_hangs_together(tmp_path: Path) -> None:
    done = labctl(SAMPLE, "--profile", "observe", "--repeat", "2", evidence=tmp_path)

    assert done.returncode == 0, done.stderr
    run, spans = tmp_path / "run", spans_in(tmp_path / "run")
    telemetry = telemetry_of(run)
    assert telemetry["spansMade"] == telemetry["spansWritten"] == len(spans) == len({span.span_id for span in spans})
    assert (telemetry["spansLost"], telemetry["sink"]) == (0, "json-lines")
    kinds = Counter(span.attributes["labctl.kind"] for span in spans)
    planned = len(json.loads((run / "plan.json").read_text())["cases"])
    assert (kinds["run"], kinds["case"], kinds["attempt"]) == (1, planned, 2 * planned)
    attempts = [json.loads(line) for line in (run / "traces" / "attempts.jsonl").read_text().splitlines()]
    assert kinds["tool call"] == sum(attempt["toolCalls"] for attempt in attempts)
    assert kinds["model request"] == sum(attempt["usage"]["modelCalls"] for attempt in attempts)
    assert kinds["check"] == sum(len(attempt["checks"]) for attempt in attempts)
    by_id = {span.span_id: span for span in spans}
    parents = {"case": "run", "attempt": "case", "tool call": "attempt", "model request": "attempt", "check": "attempt"}
    for span in spans:
        if span.parent_id is not None:
            parent = by_id[span.parent_id]
            assert parent.attributes["labctl.kind"] == parents[span.attributes["labctl.kind"]]
            assert parent.began_at_ns <= span.began_at_ns <= span.ended_at_ns <= parent.ended_at_ns
    assert [span.name for span in spans if span.parent_id is None] == ["run"]
    assert "spans" not in done.stderr


@pytest.mark.parametrize("agent", ["support", "desk"])
def test_at_metadata_no_body_and_no_secret_is_in_any_span(planted: Path, tmp_path: Path, agent: str) -> None:
    flags = ["--profile", "observe", "--agent", agent, "-e", f"TOKEN={SECRET}"]
    done = labctl(planted, *flags, evidence=tmp_path / "evidence")

    assert done.returncode in (0, 1), done.stderr
    run = tmp_path / "evidence" / "run"
    text = (run / "traces" / "otlp.jsonl").read_text()
    assert [word for word in (*PLANTED, SECRET) if word in text] == []
    assert not re.search(r"~[0-9a-f]{32}", text)
    names = {span.name for span in spans_in(run)}
    assert {"execute_tool lookup_order", f"invoke_agent {agent}", "case tells", "check contains answer"} <= names


@pytest.mark.parametrize("agent", ["support", "desk"])
def test_with_payloads_bodies_are_there_and_secrets_are_not(planted: Path, tmp_path: Path, agent: str) -> None:
    flags = ["--profile", "observe", "--agent", agent, "-e", f"TOKEN={SECRET}", "--capture", "payloads"]
    done = labctl(planted, *flags, evidence=tmp_path / "evidence")

    assert done.returncode in (0, 1), done.stderr
    text = (tmp_path / "evidence" / "run" / "traces" / "otlp.jsonl").read_text()
    assert "planted-question" in text
    assert "planted-argument" in text
    assert "planted-result" in text
    assert SECRET not in text
    assert not re.search(r"~[0-9a-f]{32}", text)


def test_an_agents_traceparent_is_the_place_of_its_attempt(planted: Path, tmp_path: Path) -> None:
    flags = ["--agent", "desk", "-e", f"TOKEN={SECRET}", "--capture", "payloads"]
    done = labctl(planted, "--profile", "observe", *flags, evidence=tmp_path / "evidence")

    assert done.returncode in (0, 1), done.stderr
    run = tmp_path / "evidence" / "run"
    attempt = json.loads((run / "traces" / "attempts.jsonl").read_text())
    (span,) = [one for one in spans_in(run) if one.attributes["labctl.kind"] == "attempt"]
    version, _, parent, _ = attempt["texts"][-1].split("-")
    assert (version, parent) == ("00", span.span_id)


def test_without_the_profile_nothing_is_traced_and_no_agent_is_told_of_a_trace(planted: Path, tmp_path: Path) -> None:
    flags = ["--agent", "desk", "-e", f"TOKEN={SECRET}", "--capture", "payloads"]
    done = labctl(planted, *flags, evidence=tmp_path / "evidence")

    assert done.returncode in (0, 1), done.stderr
    run = tmp_path / "evidence" / "run"
    assert not (run / "traces" / "otlp.jsonl").exists()
    assert "telemetry" not in json.loads((run / "environment.json").read_text())
    assert json.loads((run / "traces" / "attempts.jsonl").read_text())["texts"][-1] == "none"


def test_verdicts_and_journal_are_the_same_with_and_without_a_trace(tmp_path: Path) -> None:
    for name, flags in (("clean", ()), ("observed", ("--profile", "observe"))):
        done = labctl(SAMPLE, "-c", "1", *flags, evidence=tmp_path / name)
        assert done.returncode == 0, done.stderr
    journals = [(tmp_path / name / "run" / "journal.jsonl").read_text() for name in ("clean", "observed")]
    assert journals[0] == journals[1]


def test_a_run_that_is_not_traced_loads_none_of_the_library() -> None:
    program = (
        "import sys, runner.execution, runner.serving, runner.agents.chat, runner.agents.command, driver.pipeline;"
        "sys.exit(any(name.startswith('opentelemetry') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False).returncode == 0
