"""run.log: what the services said, line by line, redacted, from whatever thread it comes."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import dataclass, field

from contracts import evidence
from contracts.errors import LabError
from ledger.redaction import Redactor
from ledger.run_directory import RunDirectory

MAX_BYTES = 16 * 1024 * 1024
"""Of the whole log; what comes after it is counted, not kept."""


@dataclass
class RunLog:
    """Appends lines; bounded."""

    run: RunDirectory
    redactor: Redactor
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _written_bytes: int = 0

    def line(self, service: str, text: str) -> None:
        """Append one line of a service."""
        line = f"{service} | {self.redactor.redact_text(text)}"
        with self._lock, suppress(LabError):  # the run directory remembers: its next write, and the seal, raise
            before, self._written_bytes = self._written_bytes, self._written_bytes + len(line.encode()) + 1
            if self._written_bytes <= MAX_BYTES:
                self.run.append(evidence.RUN_LOG, line)
            elif before <= MAX_BYTES:
                self.run.append(evidence.RUN_LOG, f"labctl | the log is cut here, at {MAX_BYTES} bytes")
