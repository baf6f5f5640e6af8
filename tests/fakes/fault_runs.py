"""A finished run, as tests of faults look at it."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class FaultRun:
    """What a `labctl run` left."""

    folder: Path
    exit_code: int
    stdout: str
    stderr: str

    @functools.cached_property
    def attempts(self) -> dict[str, dict[str, Any]]:
        """Case id to its last attempt's line."""
        return {line["caseId"]: line for line in self.lines()}

    def lines(self) -> list[dict[str, Any]]:
        """Every attempt."""
        return [json.loads(line) for line in (self.folder / "traces" / "attempts.jsonl").read_text().splitlines()]

    def rows(self) -> list[dict[str, Any]]:
        """The journal."""
        return [json.loads(line) for line in (self.folder / "journal.jsonl").read_text().splitlines()]

    def read(self, name: str) -> Any:
        """A JSON file of the run directory."""
        return json.loads((self.folder / name).read_text())

    def verdict(self, case: str) -> tuple[str, str | None]:
        """Outcome and class of a case's last attempt."""
        return self.attempts[case]["outcome"], self.attempts[case].get("class")

    def met(self, case: str) -> list[tuple[str, bool]]:
        """Each planned fault of a case, and whether it was met."""
        return [(fault["type"], fault["met"]) for fault in self.attempts[case].get("faults") or ()]

    def told(self) -> str:
        """Everything that it said, for a failing test."""
        return f"exit {self.exit_code}\n{self.stdout}\n{self.stderr}"
