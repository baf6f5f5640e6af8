"""The file of `--output`: refused before any work where it may not be written, then whole or as it was."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from contracts.errors import ErrorCode, Found, LabError
from driver.sealed_places import refuse_sealed


def require_output(path: Path, *, inputs: Iterable[Path]) -> None:
    """Raise SEALED_RUN for a file in a sealed run, BAD_USAGE for one that is no place for a text."""
    refuse_sealed(path, place="--output")
    real = Path(os.path.realpath(path))
    problem = None
    if str(path) == "-":
        problem = "is no file: without --output the text goes to stdout"
    elif real.is_dir():
        problem = "is a folder"
    elif os.path.lexists(real) and not real.is_file():
        problem = "is a special file"
    elif not real.parent.is_dir():
        problem = "its folder does not exist"
    elif any(real == Path(os.path.realpath(one)) for one in inputs):
        problem = "is one of the two runs"
    if problem:
        raise LabError(ErrorCode.BAD_USAGE, f"--output {path} {problem}", found=[Found(problem, place="--output")])


def write_output(path: Path, text: str) -> None:
    """Write the file under another name and rename it; raises LabError WRITE_FAILED."""
    part = path.with_name(f".{path.name}.labctl-part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise LabError(
            ErrorCode.WRITE_FAILED,
            f"{path} could not be written",
            found=[Found(f"{error.strerror} (errno {error.errno})", file=str(path))],
        ) from error
