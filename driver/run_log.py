"""run.log: what the services said, line by line, redacted, from whatever thread it comes."""

from __future__ import annotations

import re
import threading
from contextlib import suppress
from dataclasses import dataclass, field

from contracts import evidence
from contracts.errors import LabError
from ledger.redaction import Redactor
from ledger.run_directory import RunDirectory

MAX_BYTES = 16 * 1024 * 1024
"""Of the whole log; what comes after it is counted, not kept."""

_KEY_BEGINS = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?!.*-----END )")
_KEY_GOES_ON = re.compile(r"\s*(?:[A-Za-z0-9+/=]+|[A-Za-z0-9-]+: [A-Za-z0-9,/-]+|-----END [A-Z0-9 -]*)?\s*")
_KEY_ENDS = "-----END "
_KEY = "shape:private-key"


@dataclass
class RunLog:
    """Appends lines; bounded."""

    run: RunDirectory
    redactor: Redactor
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _written_bytes: int = 0
    _in_key: set[str] = field(default_factory=set)
    """Services in the middle of a private key, which has a line of its own for each 48 bytes."""

    def __post_init__(self) -> None:
        self.redactor = self.redactor.writing(evidence.RUN_LOG, may_be_cut=True)

    def line(self, service: str, text: str) -> None:
        """Append one line of a service."""
        with self._lock, suppress(LabError):  # the run directory remembers: its next write, and the seal, raise
            line = f"{service} | {self._redacted(service, text)}"
            before, self._written_bytes = self._written_bytes, self._written_bytes + len(line.encode()) + 1
            if self._written_bytes <= MAX_BYTES:
                self.run.append(evidence.RUN_LOG, line)
            elif before <= MAX_BYTES:
                self.run.append(evidence.RUN_LOG, f"labctl | the log is cut here, at {MAX_BYTES} bytes")

    def _redacted(self, service: str, text: str) -> str:
        goes_on = service in self._in_key and _KEY_GOES_ON.fullmatch(text) is not None
        if _KEY_BEGINS.search(text):
            self._in_key.add(service)
        elif not goes_on or _KEY_ENDS in text:
            self._in_key.discard(service)
        if not goes_on:
            return self.redactor.redact_text(text)
        self.redactor.counts.add(evidence.RUN_LOG, _KEY)
        return f"[redacted:{_KEY}]"
