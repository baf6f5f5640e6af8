"""Whether the files of an unsealed run are such that it can be gone on with, and so what to do with it next."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from contracts import evidence
from contracts.errors import Found
from contracts.manifest import Begun, EnvironmentManifest
from driver.recorded import input_problems, recorded_inputs
from driver.run_files import name_run_files, read_run_files
from ledger.run_directory import PART_PREFIX

AGAIN = "run the suite again"
_NEEDED = (evidence.PLAN, *evidence.APPEND_ONLY)
_NEVER_FOLDERS = (*_NEEDED, evidence.BEGUN, evidence.ENVIRONMENT)


def file_problems(root: Path) -> list[Found]:
    """What no kill leaves: files that are gone, and what is no plain file; nothing is opened that could be a pipe."""
    named = name_run_files(root)
    told = {problem.file for problem in named.problems}
    folders = [name for name in _NEVER_FOLDERS if name not in named.sha256 and (root / name).is_dir()]
    missing = [name for name in _NEEDED if name not in named.sha256 and name not in told and name not in folders]
    return [
        *named.problems,
        *(Found("is a folder", file=name) for name in folders),
        *(Found("is missing", file=name) for name in missing),
    ]


def changed_inputs(root: Path, inputs: Mapping[str, str]) -> list[Found]:
    """Each file of the run's suite/ and agent/, and its plan, that is another one than when the run began."""
    named = name_run_files(root)
    for name in [name for name in named.sha256 if name.rpartition("/")[2].startswith(PART_PREFIX)]:
        del named.sha256[name]  # an unfinished write, which goes when the run goes on
    listed = read_run_files(root, named, only=named.sha256.keys()) if inputs else named
    return [*listed.problems, *input_problems(inputs, listed.sha256)]


def is_resumable(root: Path) -> bool:
    """Whether the files of an unsealed run let `labctl resume` go on with it; whether it may is for it to say."""
    if file_problems(root) or not (root / evidence.SUITE_FOLDER).is_dir():
        return False
    return not changed_inputs(root, _inputs_of(root))


def next_step_of(root: Path) -> str:
    """One command for a person whose run is unsealed."""
    return f"labctl resume {shlex.quote(str(root))}" if is_resumable(root) else AGAIN


def kept_unsealed(root: Path) -> str:
    """What a person is told that is there."""
    return f"{root} (unsealed: it is never graded)"


def _inputs_of(root: Path) -> Mapping[str, str]:
    try:
        if (root / evidence.BEGUN).is_file():
            return Begun.model_validate_json((root / evidence.BEGUN).read_bytes()).inputs
        if (root / evidence.ENVIRONMENT).is_file():
            return recorded_inputs(EnvironmentManifest.model_validate_json((root / evidence.ENVIRONMENT).read_bytes()))
    except (OSError, ValidationError):
        pass  # then nothing is known of them; `labctl resume` says what is wrong with the file
    return {}
