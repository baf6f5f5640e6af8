"""A child of the driver is gone at its end, with whatever holds its pipes in another process group."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from driver.stacks.children import Child, child_env, ended
from tests.controls.lab_processes import ROOT

LEAVES_ONE = """
import subprocess, sys
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], process_group=0)
print("left", flush=True)
sys.stdin.read()
"""


def test_a_grandchild_in_a_group_of_its_own_that_holds_the_pipes_is_ended_too(tmp_path: Path) -> None:
    logged: list[str] = []
    child = Child.start(
        "one",
        [sys.executable, "-c", LEAVES_ONE],
        cwd=tmp_path,
        env=child_env(),
    )
    child.follow(lambda _service, line: logged.append(line))
    began = time.monotonic()
    with ended(child, grace_s=5.0):
        assert child.first_line(timeout_s=20) == "left\n"
    assert time.monotonic() - began < 30
    assert child.end_of_log(within_s=0.1)
    assert child.process.returncode is not None


def test_an_engine_that_never_answers_does_not_keep_the_command_from_ending() -> None:
    code = """
import time
from contracts.errors import LabError
from driver.stacks.engine import bounded
try:
    bounded("docker info", lambda: time.sleep(600), seconds=0.1)
except LabError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    assert "the engine did not answer `docker info` within 0.1 s" in done.stdout
