"""Killed runs of every kind of agent, finished by `labctl resume`: as one that nobody killed, but for times."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.cut_back import cut_back, told
from tests.fakes.docker_agent_suites import CASES, with_program, write_agent_folder
from tests.fakes.judged_suite import ANSWERS, judged_case, scripted_judge
from tests.fakes.session_folder import said, session, write_sessions
from tests.fakes.sixty_cases import sixty_cases
from tests.fakes.suite_folder import SETTINGS, SuiteFolder

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 120.0
SCRIPT = """\
import json, os, sys
order = json.load(sys.stdin)
print(json.dumps({"type": "tool_call", "name": "read", "arguments": {}}))
print(json.dumps({"type": "message", "text": "hello " + os.environ.get("TOKEN", "nobody")}))
"""
TELLTALE = """\
import json, os, sys
order, secret = json.load(sys.stdin), os.environ["TOKEN"]
print(json.dumps({"type": "message", "text": "hello " + secret}))
if os.environ["LAB_CASE_ID"] != "case-2":
    print(json.dumps({"type": "message", "text": "hello " + secret + " which is more than is kept" * 9}))
    print("log: " + secret + " ghp_" + "a1" * 18)
"""
COMMAND = """\
[agents.it]
adapter = "command"
command = ["{suite}/agent.py"]

[agents.broken]
adapter = "command"
command = ["{suite}/broken"]

[limits]
infrastructure_retries = 1
"""


def labctl(*arguments: str | Path, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    with started(*arguments, cwd=cwd, **env) as process:
        stdout, stderr = process.communicate(timeout=PATIENCE_S)
        return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)


def started(*arguments: str | Path, cwd: Path, **env: str) -> subprocess.Popen[str]:
    argv = [sys.executable, "-c", "from driver.cli.main import main; main()", *map(str, arguments)]
    seen = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "120", **env}
    pipe = subprocess.PIPE
    return subprocess.Popen(argv, cwd=cwd, env=seen, stdout=pipe, stderr=pipe, text=True, start_new_session=True)


def ran(*arguments: str | Path, cwd: Path, **env: str) -> Path:
    done = labctl("run", *arguments, "--backend", "process", "-c", "1", cwd=cwd, **env)
    assert done.stdout, done.stderr
    return cwd / done.stdout.splitlines()[-1]


def is_as_nobody_killed_it(run: Path, *flags: str, attempts: int, **env: str) -> str:
    """Cuts a sealed run back, resumes it and compares; what resume said on stderr."""
    before, after, stderr = resumed(run, *flags, attempts=attempts, **env)
    assert after == before
    return stderr


def resumed(run: Path, *flags: str, attempts: int, **env: str) -> tuple[dict[str, Any], dict[str, Any], str]:
    """What the run told before it was cut back and after it was resumed; and what resume said on stderr."""
    whole, lines = told(run), (run / "traces" / "attempts.jsonl").read_bytes().splitlines()
    cut_back(run, attempts=attempts)
    done = labctl("resume", run, *flags, cwd=run.parent.parent, **env)
    assert done.stdout.splitlines()[-1:] == [str(run)], done.stderr
    again = (run / "traces" / "attempts.jsonl").read_bytes().splitlines()
    assert (again[:attempts], len(again)) == (lines[:attempts], len(lines))
    verified = labctl("verify", run, cwd=run.parent.parent)
    assert verified.returncode == 0, verified.stderr
    return whole, told(run), done.stderr


def command_suite(root: Path, *, cases: int = 3) -> Path:
    """An agent that is a program by its mode alone."""
    root.mkdir()
    (root / "agent.py").write_text(f"#!{sys.executable}\n{SCRIPT}")
    (root / "agent.py").chmod(0o755)
    broken = root.parent / "broken"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o755)
    (root / "suite.toml").write_text(COMMAND.replace("{suite}/broken", str(broken)))
    expect = {"assertions": [{"type": "contains", "value": "hello"}]}
    written = [{"id": f"case-{number}", "input": "?", "expect": expect} for number in range(cases)]
    (root / "cases.json").write_text(json.dumps({"cases": written}))
    return root


def test_a_run_that_is_killed_in_the_middle_is_finished_and_compares_as_equal(tmp_path: Path) -> None:
    suite = sixty_cases(tmp_path / "suite", cases=8, delay_ms=400)
    whole = ran(suite, "--run-id", "whole", cwd=tmp_path)
    run = tmp_path / "evidence" / "killed"
    attempts = run / "traces" / "attempts.jsonl"
    with started("run", suite, "--backend", "process", "-c", "1", "--run-id", run.name, cwd=tmp_path) as process:
        until = time.monotonic() + PATIENCE_S
        while not attempts.exists() or attempts.read_bytes().count(b"\n") < 2:
            assert time.monotonic() < until
            time.sleep(0.005)
        os.killpg(process.pid, signal.SIGSTOP)  # on a busy machine it would be sealed before it is looked at
        live = labctl("resume", run, cwd=tmp_path)
        os.killpg(process.pid, signal.SIGKILL)
    assert (live.returncode, live.stdout) == (3, "")
    assert live.stderr.startswith(
        f"labctl: not-resumable: {run} is live: a process of labctl writes it\nfound: process"
    )
    (suite / "routes.json").write_text('{"routes": []}')
    done = labctl("resume", run, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert f"labctl: changed since, and not used: {suite}/routes.json: was changed" in done.stderr.splitlines()
    assert told(run) == told(whole)
    compared = labctl("compare", whole, run, cwd=tmp_path)
    assert compared.returncode == 0
    assert "drift: none\nsubject: none\n" in compared.stdout
    again = labctl("resume", run, cwd=tmp_path)
    assert (again.returncode, again.stdout) == (2, "")
    assert again.stderr.startswith(f"labctl: sealed-run: {run} is sealed")


def test_repeats_of_a_program_with_a_value_of_e_go_on(tmp_path: Path) -> None:
    suite = command_suite(tmp_path / "suite")
    run = ran(suite, "--agent", "it", "--repeat", "3", "-e", "TOKEN=a-secret-value", cwd=tmp_path)
    cut_back(run, attempts=4)
    refused = labctl("resume", run, cwd=tmp_path)
    assert (refused.returncode, refused.stdout) == (3, "")
    assert refused.stderr.splitlines()[-1] == f"next: labctl resume {run} -e TOKEN"
    done = labctl("resume", run, "-e", "TOKEN", cwd=tmp_path, TOKEN="a-secret-value")
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in (run / "traces" / "attempts.jsonl").read_text().splitlines()]
    assert [(one["caseId"], one["attempt"]) for one in lines] == [(f"case-{n}", a) for n in range(3) for a in (1, 2, 3)]
    assert "a-secret-value" not in "".join(path.read_text() for path in run.rglob("*") if path.is_file())
    is_as_nobody_killed_it(run, "-e", "TOKEN", attempts=5, TOKEN="a-secret-value")


def test_the_readme_counts_what_was_taken_out_of_the_kept_part_too(tmp_path: Path) -> None:
    suite, secret = command_suite(tmp_path / "suite"), "a-secret-value"
    (suite / "agent.py").write_text(f"#!{sys.executable}\n{TELLTALE}")
    cases = json.loads((suite / "cases.json").read_text())
    cases["cases"][0]["title"] = f"of {secret}"
    (suite / "cases.json").write_text(json.dumps(cases))
    (suite / f"{secret}.txt").write_text(f"{secret} {secret}\n")
    flags = ("-e", f"TOKEN={secret}")
    run = ran(suite, "--agent", "it", *flags, cwd=tmp_path)
    assert b"a-secret-value" not in b"".join(path.read_bytes() for path in run.rglob("*") if path.is_file())
    said = told(run)["taken out"]
    assert "  - `traces/attempts.jsonl`: TOKEN 13, shape:github 2\n" in said
    assert "  - `suite/ (names of files)`: TOKEN 1\n  - `suite/[redacted:TOKEN].txt`: TOKEN 2\n" in said
    assert "  - `plan.json`: TOKEN 1\n" in said
    for attempts in (2, 1):
        is_as_nobody_killed_it(run, *flags, attempts=attempts)
    lines = (run / "traces" / "attempts.jsonl").read_text().splitlines()
    assert [json.loads(line).get("redacted") for line in lines[:2]] == [
        {"TOKEN": count, "shape:github": 1} for count in (6, 5)
    ]


def test_a_try_that_died_of_infrastructure_goes_on_with_the_next_one(tmp_path: Path) -> None:
    suite = command_suite(tmp_path / "suite", cases=2)
    run = ran(suite, "--agent", "broken", "--repeat", "2", cwd=tmp_path)
    numbers = [json.loads(line)["attempt"] for line in (run / "traces" / "attempts.jsonl").read_text().splitlines()]
    assert numbers == [1, 3, 2, 4] * 2
    is_as_nobody_killed_it(run, attempts=1)
    is_as_nobody_killed_it(run, attempts=6)


@pytest.mark.parametrize("is_script", [False, True])
def test_a_program_outside_of_the_suite_is_told_by_resume_compare_and_replay(tmp_path: Path, is_script: bool) -> None:
    suite, program = command_suite(tmp_path / "suite"), tmp_path / "bin" / "desk"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\n{SCRIPT}")
    program.chmod(0o755)
    word = str(program) if is_script else program.name
    command = f'["python3", "{word}"]' if is_script else f'["{word}"]'
    (suite / "suite.toml").write_text(f'[agents.it]\nadapter = "command"\ncommand = {command}\n')
    env = {"PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"}
    one, two, killed = (ran(suite, "--run-id", name, cwd=tmp_path, **env) for name in ("one", "two", "killed"))
    same = labctl("compare", one, two, cwd=tmp_path)
    assert (same.returncode, "drift: none\nsubject: none\n" in same.stdout) == (0, True), same.stdout
    is_as_nobody_killed_it(killed, attempts=1, **env)
    cut_back(killed, attempts=1)
    with program.open("a") as code:
        code.write("# another build\n")
    refused = labctl("resume", killed, cwd=tmp_path, **env)
    assert (refused.returncode, refused.stdout) == (3, "")
    assert f"found: plan.json agent.{'script' if is_script else 'binary'}.digest: sha256:" in refused.stderr
    other = ran(suite, "--run-id", "other", cwd=tmp_path, **env)
    told_apart = labctl("compare", one, other, cwd=tmp_path)
    assert told_apart.returncode == 0
    said = " ".join(told_apart.stdout.split())  # long lines are wrapped
    assert f'drift: none subject: agentImage {{"agent:{word}": ' in said
    again = labctl("replay", one, "--case", "case-0", "--evidence", tmp_path / "again", cwd=tmp_path, **env)
    assert "not restored: agentImage " in " ".join(again.stdout.split()), again.stderr


def test_an_agent_of_the_sample_suite_goes_on_with_its_tool_calls(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "fixtures", tmp_path / "fixtures")
    run = ran("fixtures", "--agent", "desk", "--only", "refund*", cwd=tmp_path)
    shutil.rmtree(tmp_path / "fixtures")
    is_as_nobody_killed_it(run, attempts=1)


def test_a_judged_run_asks_the_judge_again_for_what_it_had_not_told(tmp_path: Path) -> None:
    replies = {statement: ANSWERS[statement][0] for statement in ("holds", "does not hold")}
    cases = [judged_case(f"case-{number}", *replies) for number in range(3)]
    with scripted_judge(tmp_path / "house", replies) as url:
        settings = f'judge_model = "openai/judge"\njudge_url = "{url}"\n{SETTINGS}'
        suite = SuiteFolder(tmp_path / "suite", settings=settings, cases=cases).write()
        run = ran(suite, cwd=tmp_path)
        assert json.loads((run / "results.json").read_text())["summary"]["failed"] == 3
        is_as_nobody_killed_it(run, attempts=1)


def test_sessions_go_on_and_their_formats_are_written_of_all_of_them(tmp_path: Path) -> None:
    asked = session(said("user", "read"), said("assistant", "", tools=("read",)), title="Of a-secret-value")
    files = {
        "agent.py": SCRIPT,
        "suite.toml": COMMAND.partition("[agents.broken]")[0].replace('["{suite}', '["python3", "{suite}'),
    }
    suite = write_sessions(tmp_path / "evals", {"one": asked, "zwei ü": asked, "three": asked}, files=files)
    token = {"TOKEN": "a-secret-value"}
    run = ran(suite, "--agent", "it", "-e", "TOKEN", cwd=tmp_path, **token)
    assert len(json.loads((run / "sessions.json").read_text())["sessions"]) == 3
    before, after, _ = resumed(run, "-e", "TOKEN", attempts=2, **token)
    # the suite itself tells the secret, so what follows meets its mark and takes out fewer (docs/redaction.md)
    assert all("TOKEN" in said.pop("taken out") for said in (before, after))
    assert after == before


def test_an_agent_file_runs_from_the_evidence_and_another_program_of_it_is_refused(tmp_path: Path) -> None:
    cases = {name: CASES[name] for name in ("right", "wrong", "two-turns")}
    agent = write_agent_folder(tmp_path / "desk", cases)
    env = with_program()
    run = ran("--agent", agent, cwd=tmp_path, **env)
    agent.write_text("not the agent any more")
    is_as_nobody_killed_it(run, attempts=1, **env)
    cut_back(run, attempts=1)
    notes = run / "agent" / "notes.md"
    notes.write_text("other notes\n")
    refused = labctl("resume", run, cwd=tmp_path, **env)
    assert (refused.returncode, refused.stdout) == (3, "")
    assert "found: plan.json conditions.agentDigest: sha256:" in refused.stderr
    notes.write_text("notes\n")
    other = tmp_path / "bin"
    shutil.copytree(Path(env["PATH"].partition(os.pathsep)[0]), other)
    with (other / "docker-agent").open("a") as program:
        program.write("# another build\n")
    refused = labctl("resume", run, cwd=tmp_path, PATH=f"{other}{os.pathsep}{os.environ['PATH']}")
    assert refused.returncode == 3
    assert "found: plan.json agent.binary.digest: sha256:" in refused.stderr


@pytest.mark.parametrize("profile", [(), ("--profile", "observe")])
def test_the_manifest_says_what_is_another_of_a_resumed_run(tmp_path: Path, profile: tuple[str, ...]) -> None:
    suite = command_suite(tmp_path / "suite")
    run = ran(suite, "--agent", "it", *profile, cwd=tmp_path)
    before: dict[str, Any] = json.loads((run / "environment.json").read_text())
    stderr = is_as_nobody_killed_it(run, attempts=1)
    after = json.loads((run / "environment.json").read_text())
    resumed = after.pop("resumed")
    assert (resumed["keptAttempts"], resumed["ranAttempts"], len(resumed["parts"])) == (1, 2, 1)
    telemetry = after.pop("telemetry", None)
    assert ("the trace may be incomplete" in stderr) == (telemetry is not None)
    assert telemetry is None or ("spansMade" not in telemetry and telemetry["spansWritten"] > 0)
    for manifest in (before, after):  # times, and the digests of files that hold some
        del manifest["finishedAt"], manifest["recorded"]
    before.pop("telemetry", None)
    assert after == before
