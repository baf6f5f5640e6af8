"""Where secrets could get out beside the evidence: stderr, tracebacks, command lines of processes; and what is none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes.secret_search import search_bytes, search_folder
from tests.fakes.suite_folder import SETTINGS, SuiteFolder

ROOT = Path(__file__).resolve().parents[2]
SECRET = 'pl4nted-sécret/"value"+0123'
AGENT = """\
import json, os, pathlib, sys

order = json.load(sys.stdin)
lines = []
for one in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
    try:
        lines.append(one.read_bytes().replace(b"\\0", b" ").decode(errors="replace"))
    except OSError:
        continue
if "PS_FILE" in os.environ:
    pathlib.Path(os.environ["PS_FILE"]).write_text("\\n".join(lines))
print("mode", os.environ.get("MODE"), os.environ.get("STAGE"))
print("my key is", "AKIA" + "IOSFODNN7EXAMPLE", "and", "ghp_" + "0123456789abcdefghij" * 2)
print(json.dumps({"type": "message", "text": "hello " + os.environ.get("TOKEN", "")}))
"""
PLAIN_SECRET = "abcdefGHIJ1234567890zyx"
TWO_STREAMS = """\
import json, os, sys, time

json.load(sys.stdin)
print(json.dumps({"type": "message", "text": "hello "}), flush=True)
secret = os.environ["TOKEN"]
sys.stderr.write("connecting with " + secret[:-1])
sys.stderr.flush()
time.sleep(0.2)
print("progress 10%", flush=True)
time.sleep(0.2)
sys.stderr.write(secret[-1] + " ok\\n")
"""


def labctl(*arguments: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
    code = "from driver.cli.main import main; main()"
    argv = [sys.executable, "-c", code, *map(str, arguments)]
    environment = {**os.environ, **env, "PYTHONPATH": str(ROOT)}
    return subprocess.run(argv, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> SuiteFolder:
    settings = SETTINGS + 'secret = ["STAGE"]\n'
    return SuiteFolder(tmp_path / "suite", settings=settings, texts={"agents/desk.py": AGENT})


def run(suite: Path, *flags: str | Path, **env: str) -> Path:
    evidence = suite.parent / "runs"
    options = ("--backend", "process", "--agent", "desk", "--capture", "payloads", "--evidence", evidence)
    done = labctl("run", suite, *options, "--run-id", "run", *flags, **env)
    assert done.returncode == 0, done.stderr
    assert search_bytes((done.stdout + done.stderr).encode(), {"TOKEN": SECRET}, where="said") == []
    assert labctl("verify", evidence / "run").returncode == 0
    return evidence / "run"


def test_no_process_has_a_value_in_its_command_line(folder: SuiteFolder, tmp_path: Path) -> None:
    listed = tmp_path / "ps.txt"
    path = run(folder.write(), "-e", "TOKEN", "-e", f"PS_FILE={listed}", TOKEN=SECRET)
    assert "-m runner" in listed.read_text()
    assert search_bytes(listed.read_bytes(), {"TOKEN": SECRET}, where="ps") == []
    assert search_folder(path, {"TOKEN": SECRET}) == []


def test_a_value_that_standard_error_writes_in_two_pieces_is_found_whatever_standard_output_says_between(
    folder: SuiteFolder,
) -> None:
    folder.texts["agents/desk.py"] = TWO_STREAMS
    path = run(folder.write(), "-e", "TOKEN", TOKEN=PLAIN_SECRET)
    log = json.loads((path / "traces" / "attempts.jsonl").read_text())["log"]
    assert log == "progress 10%\nconnecting with [redacted:TOKEN] ok\n"


def test_what_is_declared_is_secret_and_a_plain_setting_is_none(folder: SuiteFolder) -> None:
    path = run(folder.write(), "-e", "MODE=careful", "-e", "STAGE=rehearsal")
    log = json.loads((path / "traces" / "attempts.jsonl").read_text())["log"]
    assert "mode careful [redacted:STAGE]" in log
    recorded = json.loads((path / "environment.json").read_text())["conditions"]["agentEnv"]
    assert recorded["STAGE"] == "secret"
    assert recorded["MODE"].startswith("sha256:")


def test_keys_of_well_known_shapes_are_taken_out_unasked_and_counted(folder: SuiteFolder) -> None:
    path = run(folder.write())
    keys = {"aws": "AKIA" + "IOSFODNN7EXAMPLE", "github": "ghp_" + "0123456789abcdefghij" * 2}
    assert search_folder(path, keys) == []
    counted = "- `traces/attempts.jsonl`: shape:aws-access-key 1, shape:github 1\n"
    assert counted in (path / "README.md").read_text()


def test_a_file_of_values_that_lies_in_the_suite_is_kept_without_its_secrets(folder: SuiteFolder) -> None:
    folder.texts["keys.env"] = f"TOKEN={SECRET}\nNEVER_NAMED_KEY=another-value-0123\nLEVEL=debug\n"
    suite = folder.write()
    path = run(suite, "-e", "TOKEN", "--env-from-file", suite / "keys.env")
    kept = (path / "suite" / "keys.env").read_text()
    assert kept == "TOKEN=[redacted:TOKEN]\nNEVER_NAMED_KEY=[redacted:file:NEVER_NAMED_KEY]\nLEVEL=debug\n"


@pytest.mark.parametrize("debug", [(), ("--debug",)])
def test_an_error_that_quotes_what_is_there_quotes_no_secret(folder: SuiteFolder, debug: tuple[str, ...]) -> None:
    folder.cases[0][SECRET] = True
    folder.cases[0]["expect"] |= {"neverTools": [SECRET], "size": SECRET}
    refused = labctl(*debug, "run", folder.write(), "-e", f"TOKEN={SECRET}")
    assert refused.returncode == 2
    assert "[redacted:TOKEN]" in refused.stderr
    assert ("Traceback" in refused.stderr) == bool(debug)
    assert search_bytes((refused.stdout + refused.stderr).encode(), {"TOKEN": SECRET}, where="said") == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "suite", f"TOKEN={SECRET}", "x"),
        ("run", "-e", f"TOKEN={SECRET}", "--repeat", SECRET),
        ("run", "--env", f"TOKEN={SECRET}", "--agent", SECRET, "fixtures"),
        ("run", f"-eTOKEN={SECRET}", "--case", SECRET, "--profile", SECRET, "fixtures"),
        ("run", "-e", "TOKEN", "--run-id", SECRET, "fixtures"),
        ("show", SECRET),
    ],
)
def test_a_refused_command_line_is_quoted_without_its_secrets(arguments: tuple[str, ...]) -> None:
    env = {"MY_TOKEN" if arguments[0] == "show" else "TOKEN": SECRET}
    refused = labctl(*arguments, **env)
    assert refused.returncode == 2, refused.stderr
    assert search_bytes((refused.stdout + refused.stderr).encode(), {"TOKEN": SECRET}, where="said") == []
