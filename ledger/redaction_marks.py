"""What was taken out of the files that an unsealed run has, by the marks in them: who goes on with it counts on."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from contracts import evidence
from ledger.redaction_counts import RedactionCounts

_BEGIN = b"[redacted:"
_MARK = re.compile(rb"\[redacted:([^\[\]\s]+)\]")
_APPENDED = (evidence.JOURNAL, evidence.RUN_LOG, evidence.OTLP)
"""Beside the attempts, whose lines say themselves what was taken out of them: capture hides most of their marks."""
_INPUTS = (evidence.SUITE_FOLDER, evidence.AGENT_FOLDER)


def count_kept_marks(root: Path, counts: RedactionCounts, *, of_attempts: Mapping[str, int]) -> None:
    """Add to `counts` what was taken out of the files below `root` that stay as they are.

    Files that are written anew at the end count themselves then. A mark counts as one value that was taken out.

    Args:
        root: the run directory, without what the kill left of attempts that were not finished.
        counts: of the whole run.
        of_attempts: name -> how often, as the lines of the attempts say.

    Raises:
        OSError: as reading does.

    """
    for name, times in of_attempts.items():
        counts.add(evidence.ATTEMPTS, name, times=times)
    for file, path in _files(root):
        for name, times in _marks_of(path).items():
            counts.add(file, name, times=times)
    for folder in _INPUTS:
        for path in (root / folder).rglob("*"):
            if path.is_file():
                for name, times in _marks(path.relative_to(root / folder).as_posix().encode()).items():
                    counts.add(names_of_files(folder), name, times=times)


def names_of_files(folder: str) -> str:
    """What the names of the files of suite/ or agent/ are counted as."""
    return f"{folder}/ (names of files)"


def _files(root: Path) -> Iterator[tuple[str, Path]]:
    for file in (evidence.PLAN, *_APPENDED):
        if (root / file).is_file():
            yield file, root / file
    for folder in _INPUTS:
        yield from ((one.relative_to(root).as_posix(), one) for one in (root / folder).rglob("*") if one.is_file())


def _marks_of(path: Path) -> Counter[str]:
    """No mark has a line end in it, and a line at a time is what a journal of any size costs in memory."""
    found: Counter[str] = Counter()
    with path.open("rb") as stream:
        for line in stream:
            if _BEGIN in line:
                found += _marks(line)
    return found


def _marks(text: bytes) -> Counter[str]:
    return Counter(match[1].decode("utf-8", "replace") for match in _MARK.finditer(text))
