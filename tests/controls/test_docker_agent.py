"""labctl with a docker-agent agent, from the command line to the sealed run; only the program is a replaying one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from tests.controls.lab_processes import wait_until_gone
from tests.fakes.docker_agent_suites import AGENT, BOUND_CASES, CASES, with_program, write_agent_folder

ROOT = Path(__file__).parents[2]


def labctl(*arguments: str | Path, cwd: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    code = "from driver.cli.main import main; main()"
    lab_env = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200", **env}
    argv = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(argv, cwd=cwd, env=lab_env, capture_output=True, text=True, timeout=300, check=False)


@dataclass(frozen=True)
class Run:
    """A finished run."""

    done: subprocess.CompletedProcess[str]

    @cached_property
    def path(self) -> Path:
        assert self.done.returncode in {0, 1, 3}, self.done.stderr
        return Path(self.done.stdout.splitlines()[-1])

    @cached_property
    def attempts(self) -> dict[str, dict[str, Any]]:
        lines = (self.path / "traces" / "attempts.jsonl").read_text().splitlines()
        return {one["caseId"]: one for one in map(json.loads, lines)}

    def started(self, case: str) -> dict[str, Any]:
        """What the program said of its start, from the log."""
        line = next(one for one in self.attempts[case]["log"].splitlines() if "replay_started" in one)
        found: dict[str, Any] = json.loads(line)
        return found

    @cached_property
    def manifest(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.path / "environment.json").read_text())
        return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_agent_folder(tmp_path_factory.mktemp("agents") / "desk", CASES).parent


@pytest.fixture(scope="module")
def run(folder: Path) -> Run:
    (folder / ".env").write_text("SECRET=1\n")
    host = {"DOCKER_AGENT_MODELS_GATEWAY": "http://gateway:1", "OPENAI_API_KEY": "sk-a-secret-key", "GITHUB_TOKEN": "g"}
    flags: list[str | Path] = [
        "--backend",
        "process",
        "--evidence",
        folder.parent / "evidence",
        "--capture",
        "payloads",
        "-c",
        "4",
    ]
    return Run(labctl("run", "--agent", folder / "agent.yaml", *flags, cwd=folder, env=with_program(**host)))


AGENT_ERROR, PROVIDER, LIMIT = ("fail", "agent-error"), ("unknown", "provider"), ("fail", "limit")


@pytest.mark.parametrize(
    ("case", "expected", "reason"),
    [
        ("right", ("pass", None), None),
        ("wrong", ("fail", None), "does not hold"),
        ("two-turns", ("pass", None), None),
        ("unknown-tool", ("pass", None), None),
        ("denied", ("pass", None), None),
        ("let-through", ("fail", None), "denied shell"),
        ("exits-1-after-a-full-answer", AGENT_ERROR, "it exited with 1"),
        ("killed-after-a-full-answer", AGENT_ERROR, "SIGKILL"),
        ("no-events", AGENT_ERROR, "protocol broken, it wrote no event at all"),
        ("broken-event", AGENT_ERROR, "protocol broken, output line"),
        ("provider-401", PROVIDER, "refused the credentials (HTTP 401)"),
        ("provider-500", PROVIDER, "failed (HTTP 500)"),
        ("provider-network", PROVIDER, "refused the connection"),
        ("bad-request", AGENT_ERROR, "it exited with 1"),
        ("killed-at-its-provider", AGENT_ERROR, "SIGKILL"),
        ("hangs", LIMIT, "5 s"),
        ("floods", LIMIT, "bytes of output"),
        ("too-many-calls", LIMIT, "1 tool calls"),
        ("too-dear", LIMIT, "0.1 USD"),
        ("too-long-for-the-kernel", ("unknown", "suite"), "has 200000 bytes"),
        ("long-message", ("pass", None), None),
    ],
)
def test_every_end_has_its_row_of_the_outcome_table(
    run: Run, case: str, expected: tuple[str, str | None], reason: str | None
) -> None:
    attempt = run.attempts[case]

    assert (attempt["outcome"], attempt.get("class")) == expected, attempt.get("reason")
    assert reason is None or reason in attempt["reason"]


def test_every_case_has_an_expected_row(run: Run) -> None:
    assert run.attempts.keys() == CASES.keys()
    assert run.done.returncode == 1


def test_a_hanging_agent_leaves_no_descendant(run: Run) -> None:
    (line,) = (one for one in run.attempts["hangs"]["log"].splitlines() if "replay_child" in one)
    wait_until_gone(json.loads(line)["pid"])


def test_the_program_gets_file_and_messages_as_arguments_and_approves_its_calls(run: Run) -> None:
    argv = run.started("right")["argv"]
    assert argv[:4] == ["run", "--exec", "--json", "--yolo"]
    assert (Path(argv[4]).name, argv[5:]) == ("agent.yaml", ["go"])
    two = run.started("two-turns")["argv"]
    assert (two[4], two[6:]) == ("--", ["one", "-two"])


def test_a_message_that_is_too_long_for_an_argument_goes_over_standard_input(run: Run) -> None:
    started = run.started("long-message")
    assert (started["argv"][-1], started["stdin"]) == ("-", "x" * 9)
    assert run.started("right")["stdin"] == ""


def test_the_environment_is_fresh_quiet_and_has_the_gateway(run: Run) -> None:
    env = run.started("right")["env"]
    assert env["HOME"] != os.environ.get("HOME")
    assert env["TELEMETRY_ENABLED"] == "false"
    assert env["DOCKER_AGENT_MODELS_GATEWAY"] == "http://gateway:1"
    assert env["OPENAI_API_KEY"] == "[redacted:OPENAI_API_KEY]"
    assert env["GITHUB_TOKEN"] is None


def test_the_agents_folder_is_staged_without_evals_and_secrets_and_kept(run: Run, folder: Path) -> None:
    assert sorted(run.started("right")["beside"]) == ["agent.yaml", "notes.md", "streams"]
    kept = {path.relative_to(run.path / "agent").as_posix() for path in (run.path / "agent").rglob("*.*")}
    assert {"agent.yaml", "notes.md", "streams/right.json"} <= kept
    assert not any("evals" in name or ".env" in name for name in kept)
    assert (run.path / "agent" / "agent.yaml").read_text() == AGENT
    assert "not kept of the agent: .env" in (run.path / "run.log").read_text()


def test_what_ran_is_recorded(run: Run) -> None:
    conditions = run.manifest["conditions"]
    assert (conditions["provider"], conditions["model"]) == ("mock", "mock/scripted")
    assert (conditions["agent"], conditions["adapter"], conditions["tools"]) == ("agent.yaml", "docker-agent", "live")
    assert (conditions["temperature"], conditions["maxOutputTokens"]) == (0.5, 200)
    assert conditions["agentEnv"]["DOCKER_AGENT_MODELS_GATEWAY"].startswith("sha256:")
    digests = {conditions[key] for key in ("promptDigest", "modelDigest", "toolSchemaDigest", "agentDigest")}
    assert len(digests) == 4
    program = run.manifest["dependencies"]["programs"]["docker-agent"]
    assert program["version"] == "docker-agent version v0.0.0-replay"
    assert program["digest"].startswith("sha256:")


def test_the_run_verifies_and_usage_is_summed(run: Run) -> None:
    done = labctl("verify", run.path, cwd=ROOT, env={})
    assert done.returncode == 0, done.stderr
    assert run.attempts["right"]["usage"]["costUsd"] == 0.25


BOUND_SETTINGS = """
default_agent = "desk"
[agents.desk]
adapter = "docker-agent"
file = "../agent.yaml"
args = ["--safety", "strict"]
fixture_tools = true
"""


@pytest.fixture(scope="module")
def bound(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = write_agent_folder(tmp_path_factory.mktemp("agents") / "bound", BOUND_CASES, settings=BOUND_SETTINGS)
    flags: list[str | Path] = [
        "--backend",
        "process",
        "--evidence",
        folder.parent.parent / "evidence",
        "--capture",
        "payloads",
    ]
    return Run(labctl("run", folder.parent / "evals", *flags, cwd=folder.parent, env=with_program()))


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("made", ("pass", None)),
        ("claimed-only", ("fail", None)),
        ("denied-bound", ("pass", None)),
        ("suite-effect", ("unknown", "suite")),
    ],
)
def test_with_fixture_tools_the_journal_says_what_happened(
    bound: Run, case: str, expected: tuple[str, str | None]
) -> None:
    attempt = bound.attempts[case]
    assert (attempt["outcome"], attempt.get("class")) == expected, attempt


def test_with_fixture_tools_the_agent_file_is_its_own_and_the_manifest_says_bound(bound: Run) -> None:
    started = bound.started("made")
    assert bound.manifest["conditions"]["tools"] == "bound"
    assert started["argv"][3:5] == ["--safety", "strict"]
    assert "--yolo" not in started["argv"]
    assert sorted(started["beside"]) == ["agent.yaml", "notes.md", "streams"]
    assert started["stdin"] == ""
    assert (bound.path / "agent" / "agent.yaml").read_text() == AGENT


def refused(*arguments: str | Path, cwd: Path, env: dict[str, str]) -> str:
    done = labctl("run", *arguments, "--backend", "process", cwd=cwd, env=env)
    assert done.stdout == ""
    return f"{done.returncode}\n{done.stderr}"


def test_without_the_program_the_run_is_refused_before_it_starts(folder: Path) -> None:
    path = os.pathsep.join(
        one for one in os.environ["PATH"].split(os.pathsep) if not Path(one, "docker-agent").exists()
    )
    said = refused("--agent", "agent.yaml", cwd=folder, env={"PATH": path})
    assert said.startswith("4\nlabctl: docker-agent-missing")
    assert "next:" in said


def test_a_provider_whose_key_would_not_reach_the_agent_is_refused_by_name(tmp_path: Path) -> None:
    file = write_agent_folder(tmp_path / "a", {"right": CASES["right"]})
    file.write_text("agents:\n  root:\n    model: openai/gpt-5\n    instruction: x\n")
    bare = with_program(OPENAI_API_KEY="", DOCKER_AGENT_MODELS_GATEWAY="")
    said = refused("--agent", file, cwd=tmp_path, env=bare)
    assert said.startswith("4\nlabctl: key-missing")
    assert "next: -e OPENAI_API_KEY" in said
    assert not (tmp_path / "evidence").exists()
    done = labctl(
        "run", "--agent", file, "--backend", "process", "-e", "OPENAI_API_KEY=k-123456", cwd=tmp_path, env=bare
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (None, "agent.yaml --agent: is not there"),
        ("a: [", "agent.yaml line 1: is no YAML"),
        ("version: 8\n", "agent.yaml agents: there are no agents"),
        ("agents: {root: {instruction: [1]}}\n", "agents.root.instruction: is not text"),
    ],
)
def test_an_agent_file_that_cannot_be_used_is_refused_by_file_and_key(
    tmp_path: Path, content: str | None, found: str
) -> None:
    file = write_agent_folder(tmp_path / "a", {"right": CASES["right"]})
    file.unlink() if content is None else file.write_text(content)
    said = refused("--agent", file, cwd=tmp_path, env=with_program())
    assert said.startswith("2\nlabctl: agent-file-invalid")
    assert found in said


def test_a_reference_that_no_registry_resolves_is_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "docker").write_text("#!/bin/sh\necho 'ERROR: no such host' >&2\nexit 1\n")
    (tmp_path / "docker").chmod(0o755)
    env = with_program()
    env["PATH"] = f"{tmp_path}{os.pathsep}{env['PATH']}"
    said = refused("evals", "--agent", "team/agent:1", cwd=folder, env=env)
    assert said.startswith("4\nlabctl: agent-unresolved")
    assert "cause: exit status 1: ERROR: no such host" in said
    assert refused("--agent", "team/agent:1", cwd=folder, env=env).startswith("2\nlabctl: bad-usage")
