"""What was taken out of which file of a run, counted by name; never a value."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field


@dataclass
class RedactionCounts:
    """Counts from whatever thread they come."""

    _by_file: dict[str, Counter[str]] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def add(self, file: str, name: str, *, times: int = 1) -> None:
        """So many more of that name in the file."""
        with self._lock:
            self._by_file.setdefault(file, Counter())[name] += times

    def of(self, file: str) -> Counter[str]:
        """Name -> how often, of one file by now."""
        with self._lock:
            return Counter(self._by_file.get(file, {}))

    def by_file(self) -> dict[str, dict[str, int]]:
        """File -> name -> how often, both sorted; only files from which something was taken."""
        with self._lock:
            return {file: dict(sorted(counts.items())) for file, counts in sorted(self._by_file.items())}
