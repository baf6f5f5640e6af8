"""Sealed runs of the process backend, one of every kind, made once and copied by whoever changes them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.fakes.docker_agent_streams import begins, called, ends, says
from tests.fakes.docker_agent_suites import replay, with_program, write_agent
from tests.fakes.session_folder import said, session, write_sessions
from tests.fakes.toxiproxies import find_toxiproxy

ROOT = Path(__file__).resolve().parents[2]
RUN_S = 300.0
LABCTL = (sys.executable, "-c", "from driver.cli.main import main; main()")
"""The program of this checkout, whatever is installed beside the interpreter."""
CASES = ("--case", "refund-approval-required", "--case", "refund-is-recorded")
_SETTINGS = "[limits]\nseconds = 60\n"


def labctl(*words: str, cwd: Path = ROOT, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[bytes]:
    """The command to its end; what it says stays bytes, for arguments need not be UTF-8."""
    return subprocess.run(
        [*LABCTL, *words],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=RUN_S,
    )


def make_runs(folder: Path) -> dict[str, Path]:
    """Run directories by kind: sample, observed (with payloads and a comparison), sessions; faulted with toxiproxy."""
    evidence = folder / "evidence"
    flags = ("--backend", "process", "--evidence", str(evidence), "--run-id")

    def run(name: str, *words: str, **of_call: Any) -> Path:
        done = labctl("run", *flags, name, *words, **of_call)
        path = evidence / name
        assert (path / "COMPLETE").is_file(), done.stderr.decode()
        return path

    sample = run("sample")
    runs = {
        "sample": sample,
        "observed": run("observed", "--profile", "observe", "--capture", "payloads", "--baseline", str(sample), *CASES),
        "sessions": run("sessions", "--agent", "agent.yaml", cwd=_agent_of_sessions(folder), env=with_program()),
    }
    if proxy := find_toxiproxy():
        runs["faulted"] = run("faulted", "--profile", "fault", *CASES, env={"LABCTL_TOXIPROXY": proxy})
    return runs


def _agent_of_sessions(folder: Path) -> Path:
    """A docker-agent file with sessions beside it; one of them fails."""
    root = folder / "team"
    say = [*begins("go"), *says("done"), *ends()]
    streams = {"right": replay(*called("read", {"path": "a"}), *say), "wrong": replay(*say), "Größe ✓": replay(*say)}
    write_agent(root, streams)
    asked = session(said("user", "read it"), said("assistant", "done", tools=("read",), agent="root"))
    sessions = {"right": asked, "wrong": asked, "Größe ✓": session(size="S")}
    write_sessions(root / "evals", sessions, files={"suite.toml": _SETTINGS})
    return root
