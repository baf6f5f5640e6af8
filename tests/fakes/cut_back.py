"""Makes of a sealed run what a kill would have left of it: so many finished attempts, and what came after cut off."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

_DERIVED = ("COMPLETE", "results.json", "junit.xml", "README.md", "sessions.json", "sessions.db", "comparison.json")
_TIMES = re.compile(
    r'(?:"durationMs": |time="|timestamp="|"(?:startedAt|finishedAt)": "|durationMs" value=")[^",\n]*|\d+ ms(?=[",;])'
)


def cut_back(run: Path, *, attempts: int) -> None:
    """Leave so many attempts, half of the next one's rows, the beginnings of lines, an unfinished write and abort.json.

    environment.json stays, which says how the run began; a process that is killed earlier leaves begun.json instead.
    """
    for name in _DERIVED:
        (run / name).unlink(missing_ok=True)
    path, journal = run / "traces" / "attempts.jsonl", run / "journal.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    rows = journal.read_bytes().splitlines(keepends=True)
    kept = sum(json.loads(line)["journalRows"] for line in lines[:attempts])
    lost = [json.loads(line)["journalRows"] for line in lines[attempts : attempts + 1]]
    next_rows = rows[kept : kept + sum(lost)]
    path.write_bytes(b"".join(lines[:attempts]) + b"".join(lines[attempts : attempts + 1])[:40])
    journal.write_bytes(b"".join(rows[:kept] + next_rows[:-1]) + b"".join(next_rows[-1:])[:30])
    (run / ".labctl-part-1-1").write_bytes(b'{"half')
    (run / "abort.json").write_text("{}\n")


def told(run: Path) -> dict[str, Any]:
    """What results.json, junit.xml and, of what was taken out, README.md say, but for times and ids; names of files."""
    texts = {name: (run / name).read_text() for name in ("results.json", "junit.xml")}
    files = sorted(path.relative_to(run).as_posix() for path in run.rglob("*") if path.is_file())
    taken_out = (run / "README.md").read_text().partition("## What was taken out\n")[2].partition("\n## ")[0]
    return {
        "files": files,
        "taken out": taken_out,
        **{name: _TIMES.sub("", text.replace(run.name, "RUN")) for name, text in texts.items()},
    }
