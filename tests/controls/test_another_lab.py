"""Runs that one copy of labctl made and another one looks at: equal code is the same, edited code is not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from driver.checkout import LOCKS, OF_THE_DRIVER, ROOT, SERVICES
from tests.fakes.cut_back import cut_back
from tests.fakes.sixty_cases import sixty_cases

PATIENCE_S = 120.0


def copy_of_labctl(to: Path) -> Path:
    for part in (*SERVICES, *OF_THE_DRIVER):
        shutil.copytree(ROOT / part, to / part, ignore=shutil.ignore_patterns("__pycache__"))
    for name in (*LOCKS, "compose.yaml", "images.env"):
        shutil.copyfile(ROOT / name, to / name)
    return to


def labctl(lab: Path, *arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-c", "from driver.cli.main import main; main()", *map(str, arguments)]
    env = {**os.environ, "PYTHONPATH": str(lab), "COLUMNS": "120"}
    return subprocess.run(argv, cwd=cwd, env=env, capture_output=True, text=True, timeout=PATIENCE_S, check=False)


def test_a_copy_of_equal_code_is_no_difference_and_an_edit_of_the_judges_code_is_refused(tmp_path: Path) -> None:
    suite = sixty_cases(tmp_path / "suite", cases=2, delay_ms=0)
    copy = copy_of_labctl(tmp_path / "copy")
    for lab, name in ((ROOT, "one"), (copy, "two")):
        done = labctl(lab, "run", suite, "--backend", "process", "--run-id", name, cwd=tmp_path)
        assert done.stdout, done.stderr
    runs = [tmp_path / "evidence" / name for name in ("one", "two")]
    compared = labctl(ROOT, "compare", *runs, cwd=tmp_path)
    assert compared.returncode == 0, compared.stdout
    assert "drift: none\nsubject: none\n" in compared.stdout
    for run in runs:
        cut_back(run, attempts=1)
    with (copy / "driver" / "judging" / "deciding.py").open("a") as code:
        code.write("\n# decides otherwise\n")
    refused = labctl(copy, "resume", runs[0], cwd=tmp_path)
    assert (refused.returncode, refused.stdout) == (3, ""), refused.stderr
    assert [line.partition(": sha256:")[0] for line in refused.stderr.splitlines() if line.startswith("found:")] == [
        "found: begun.json dependencies.labCode.driver"
    ]
    assert labctl(ROOT, "resume", runs[1], cwd=tmp_path).returncode == 0, "a copy's run is gone on with by equal code"
