"""`labctl run` with served agents on the process backend: any address, tokens, and what the evidence keeps of them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.controls.lab_processes import PATIENCE_S, ROOT
from tests.fakes.served_controls import CASES, write_served

TOKEN = "a-token-of-this-test-90c1"


def labctl(suite: Path, *flags: str, evidence: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from driver.cli.main import main; main()", "run", str(suite)]
    options = ["--backend", "process", "--evidence", str(evidence), "--run-id", "run", *flags]
    return subprocess.run(
        [*command, *options], cwd=ROOT, capture_output=True, text=True, check=False, timeout=PATIENCE_S * 3
    )


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return write_served(tmp_path / "suite", {name: CASES[name] for name in ("is-right", "tells-the-secret")})


def everything(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file() and "suite" not in path.parts)


@contextmanager
def served_elsewhere(suite: Path, work: Path) -> Iterator[str]:
    """The agent as somebody started it who knows no lab; its address."""
    server = work / "anywhere.py"
    server.write_text(
        (suite / "agents" / "served.py")
        .read_text()
        .replace(").serve_forever()", ")")
        .replace("Server((", "server = Server((")
        + "print(server.server_port, flush=True)\nserver.serve_forever()\n"
    )
    env = {**os.environ, "PORT": "0"}
    with subprocess.Popen([sys.executable, str(server)], stdout=subprocess.PIPE, text=True, env=env) as process:
        try:
            assert process.stdout
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/answer"
        finally:
            process.kill()


def test_a_url_leads_wherever_it_says(suite: Path, tmp_path: Path) -> None:
    with served_elsewhere(suite, tmp_path) as url:
        (suite / "suite.toml").write_text(f'[agents.elsewhere]\nadapter = "http"\nurl = "{url}"\n')
        done = labctl(suite, evidence=tmp_path / "evidence")

    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, str(tmp_path / "evidence" / "run")), done.stderr
    assert "one served agent answers all attempts" in done.stderr


def test_neither_prefix_nor_token_is_in_any_file_of_the_evidence(suite: Path, tmp_path: Path) -> None:
    flags = ["--agent", "guarded", "-e", f"DESK_TOKEN={TOKEN}", "--capture", "payloads"]
    done = labctl(suite, *flags, evidence=tmp_path / "evidence")

    assert done.returncode == 0, done.stderr
    kept = everything(tmp_path / "evidence" / "run")
    assert b"agent | at http://127.0.0.1:" in kept
    assert b"/~<prefix>" in kept
    assert not re.search(rb"/~[0-9a-f]{32}", kept)
    assert TOKEN.encode() not in kept


def test_what_it_prints_is_kept_as_digests_unless_payloads_are_asked_for(suite: Path, tmp_path: Path) -> None:
    done = labctl(suite, "--case", "tells-the-secret", evidence=tmp_path / "evidence")

    assert done.returncode == 0, done.stderr
    log = (tmp_path / "evidence" / "run" / "run.log").read_text()
    assert log, done.stderr
    assert re.search(r"agent \| <\d+ bytes sha256:[0-9a-f]{64}>|agent \| at http://127.0.0.1:\d+/~<prefix>", log)


def test_a_token_that_nobody_gave_is_refused_before_anything_starts(suite: Path, tmp_path: Path) -> None:
    done = labctl(suite, "--agent", "guarded", evidence=tmp_path / "evidence")

    assert done.returncode == 2
    assert done.stderr.startswith("labctl: unset-variable: ")
    assert "next: -e DESK_TOKEN, with a value" in done.stderr
    assert not (tmp_path / "evidence").exists()


def test_an_open_listener_is_exit_4_with_its_url(suite: Path, tmp_path: Path) -> None:
    flags = ["--agent", "guarded", "-e", f"DESK_TOKEN={TOKEN}", "-e", "GUARDS=no"]
    done = labctl(suite, *flags, evidence=tmp_path / "evidence")

    assert done.returncode == 4
    assert re.search(r"labctl: listener-open: the agent at http://127.0.0.1:\d+/answer answers", done.stderr)
