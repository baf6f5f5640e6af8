"""The command line as a user meets it: texts, exit codes, and what goes to which stream."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

RUN = ("run", "fixtures", "--backend", "process")
HELP = """\
Usage: labctl [OPTIONS] COMMAND [ARGS]...

  An evaluation lab for agents: a controlled world, sealed evidence, and an
  answer to what changed.

  Exit codes: 0 yes, 1 no, 2 usage, 3 cannot tell, 4 environment, 5 evidence,
  70 bug, 130/143 interrupted.

Options:
  --version   Show the version and exit.
  --debug     Show a traceback for errors.
  -h, --help  Show this message and exit.

Commands:
  run      Run a suite once; the last line of stdout is the run directory.
  replay   Run one case of a run again from its own evidence: reproduced,
           diverged, or cannot tell.
  resume   Finish a run that was killed or interrupted, from its own evidence,
           and seal it.
  compare  Which behaviour changed between two sealed runs?
  verify   Is a run sealed, whole, unchanged, and does results.json follow
           from the attempts?
  show     Show a run's summary, one trajectory, or its manifest.
  cases    List the cases of a suite; `cases lint` reports every problem of it
           at once.
  jobs     The named profile combinations of a suite; --json feeds a CI
           matrix.
  images   What would run, with digests.
  doctor   Report every environment problem at once, each with its next step.
  clean    Remove what dead runs left behind, never what a live run owns.
"""


def labctl(*arguments: str, cwd: Path = ROOT, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    code = "from driver.cli.main import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80", **(env or {})},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_help_names_every_command_and_no_other() -> None:
    done = labctl("--help")
    assert (done.returncode, done.stdout) == (0, HELP)


def test_without_a_command_the_help_is_said_where_errors_are() -> None:
    done = labctl()
    assert (done.returncode, done.stdout, done.stderr) == (2, "", HELP)


def test_help_imports_no_work() -> None:
    code = "import sys; from driver.cli.main import cli; cli(['--help'], standalone_mode=False); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    modules = set(done.stdout.split())
    assert not modules & {"pydantic", "rich", "python_on_whales", "fastapi"}


@pytest.mark.parametrize(
    "command", ["run", "replay", "resume", "compare", "verify", "show", "cases", "jobs", "images", "doctor", "clean"]
)
def test_every_command_has_help(command: str) -> None:
    done = labctl(command, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith("Usage: labctl")


@pytest.mark.parametrize(
    ("arguments", "exit_code", "first_words"),
    [
        (["no-such-command"], 2, "labctl: bad-usage: "),
        (["run", "fixtures", "--timeout", "nan"], 2, "labctl: bad-usage: "),
        (["run", "fixtures", "--timeout", "inf"], 2, "labctl: bad-usage: "),
        (["run", "fixtures", "--agent", ""], 2, "labctl: bad-usage: "),
        (["run", "fixtures", "--backend", "process", "-e", "A B=x"], 2, "labctl: bad-usage: "),
        (["run", "no-such-suite", "--backend", "process"], 2, "labctl: suite-missing: "),
        (["run", "fixtures", "--backend", "process", "--only", "nothing-like-this"], 2, "labctl: no-cases: "),
        (["run", "fixtures", "--backend", "process", "--case", "unknown-ordr"], 2, "labctl: unknown-case: "),
        (["run", "fixtures", "--backend", "process", "--agent", "suport"], 2, "labctl: unknown-agent: "),
        (["run", "fixtures", "--backend", "process", "--prompt", "refund-v9"], 2, "labctl: unknown-prompt: "),
        (["run", "fixtures", "--backend", "process", "-e", "NO_SUCH_VARIABLE"], 2, "labctl: unset-variable: "),
        (["run", "fixtures", "--backend", "process", "--run-id", "../x"], 2, "labctl: bad-usage: "),
        (["run", "fixtures", "--backend", "process", "--profile", "desk"], 2, "labctl: unknown-profile: "),
        (["run", "fixtures", "--profile", ""], 2, "labctl: bad-usage: "),
        (["run", "fixtures", "--suite-timeout", "0"], 2, "labctl: bad-usage: "),
        (["run", "fixtures", "--suite-timeout", "nan"], 2, "labctl: bad-usage: "),
        (["run", "fixtures", "--backend", "process", "--isolation", "container"], 2, "labctl: bad-usage: "),
        (["run", "fixtures", "--backend", "process", "--agent", "desk", "--setup-root"], 2, "labctl: bad-usage: "),
        (
            ["run", "fixtures", "--backend", "process", "--agent", "desk", "--isolation", "container"],
            4,
            "labctl: isolation-missing: ",
        ),
        (["verify", "no-such-run"], 2, "labctl: no-run: "),
        (["verify", "latest:no-such-job"], 2, "labctl: no-run: "),
        (["compare", "no-such-run", "no-such-run"], 2, "labctl: no-run: "),
        (["compare", "README.md", "README.md"], 2, "labctl: no-run: "),
        (["compare", "a", "b", "--regression-tolerance", "NaN"], 2, "labctl: bad-tolerance: "),
        (["compare", "a", "b", "--regression-tolerance", "-1"], 2, "labctl: bad-tolerance: "),
        (["compare", "a", "b", "--regression-tolerance", "2"], 2, "labctl: bad-tolerance: "),
        (["compare", "a", "b", "--regression-tolerance", "1e-400"], 2, "labctl: bad-tolerance: "),
        (["compare", "a", "b", "--allow-drift", "prompt"], 2, "labctl: unknown-drift: "),
        (["compare", "a", "b", "--format", "xml"], 2, "labctl: bad-usage: "),
        (["compare", "a"], 2, "labctl: bad-usage: "),
        ([*RUN, "--baseline", "no-such-run"], 2, "labctl: no-run: "),
        ([*RUN, "--baseline", "latest:no-such-job"], 2, "labctl: no-run: "),
        ([*RUN, "--baseline", "README.md"], 2, "labctl: no-run: "),
        ([*RUN, "--baseline", "fixtures", "--regression-tolerance", "nan"], 2, "labctl: bad-tolerance: "),
        ([*RUN, "--baseline", "fixtures", "--allow-drift", "zeed"], 2, "labctl: unknown-drift: "),
        ([*RUN, "--regression-tolerance", "0.1"], 2, "labctl: bad-usage: "),
        ([*RUN, "--allow-removed"], 2, "labctl: bad-usage: "),
        (["show", "no-such-run"], 2, "labctl: no-run: "),
        (["show", "no-such-run", "--timeline"], 2, "labctl: bad-usage: --timeline goes with --case ID"),
        (["show", "no-such-run", "--timeline", "--case", "a", "--manifest"], 2, "labctl: bad-usage: --timeline goes"),
        (["cases", "lint", "no-such-suite"], 2, "labctl: suite-missing: "),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_bad_input_is_refused_with_its_code_and_nothing_is_made(
    tmp_path: Path, arguments: list[str], exit_code: int, first_words: str
) -> None:
    evidence = ["--evidence", str(tmp_path / "evidence")] if arguments[0] == "run" else []
    done = labctl(*arguments, *evidence)
    assert done.returncode == exit_code
    assert done.stderr.startswith(first_words)
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "evidence").exists()


def test_a_run_says_its_directory_last_and_talks_on_stderr(tmp_path: Path) -> None:
    done = labctl("run", "fixtures", "--backend", "process", "--case", "unknown-order", "--evidence", str(tmp_path))
    assert done.returncode == 0
    path = Path(done.stdout.splitlines()[-1])
    assert (path / "COMPLETE").is_file()
    assert labctl("verify", str(path)).returncode == 0
    assert labctl("show", str(path), "--case", "unknown-order").returncode == 0
    timeline = labctl("show", str(path), "--case", "unknown-order", "--timeline")
    assert (timeline.returncode, timeline.stdout) == (2, "")
    assert timeline.stderr.startswith("labctl: no-trace: ")


def test_a_bug_is_told_in_one_line_and_with_debug_in_full(tmp_path: Path) -> None:
    broken = "import driver.cli.main as m; import driver.verify; driver.verify.verify_run = None; m.main()"
    quiet, loud = (
        subprocess.run(
            [sys.executable, "-c", broken, *flags, "verify", str(tmp_path)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        for flags in ([], ["--debug"])
    )
    assert (quiet.returncode, loud.returncode) == (70, 70)
    assert quiet.stderr.startswith("labctl: internal-error: ")
    assert "Traceback" not in quiet.stderr
    assert "Traceback" in loud.stderr


def test_a_reader_that_went_away_does_not_change_the_answer(tmp_path: Path) -> None:
    code = "from driver.cli.main import main; main()"
    arguments = ["run", "fixtures", "--backend", "process", "--case", "unknown-order", "--evidence", str(tmp_path)]
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([sys.executable, "-c", code, *arguments], cwd=ROOT, stdout=writing, timeout=60, check=False)
    os.close(writing)
    assert done.returncode == 0


def test_without_a_stdout_the_answer_is_the_exit_status(tmp_path: Path) -> None:
    command = f"{sys.executable} -c 'from driver.cli.main import main; main()' cases fixtures >&-"
    assert subprocess.run(["sh", "-c", command], cwd=ROOT, timeout=60, check=False).returncode == 0


def test_all_flags_that_cannot_be_used_are_told_at_once(tmp_path: Path) -> None:
    flags = ["--agent", "nope", "--case", "nope", "-e", "NO_SUCH_VARIABLE", "--run-id", "../x"]
    done = labctl("run", "fixtures", "--backend", "process", "--evidence", str(tmp_path / "e"), *flags)
    assert done.returncode == 2
    assert all(word in done.stderr for word in ("--case", "unknown-agent", "unset-variable", "--run-id"))
