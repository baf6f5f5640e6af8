"""Where a test finds the real toxiproxy: named, on the path, or left by make setup; never a fake."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAME = "toxiproxy-server"
NONE = f"no {NAME}: neither LABCTL_TOXIPROXY nor PATH nor .build/bin has it; next: make setup, with an engine"


def find_toxiproxy() -> str | None:
    """Its path; None where it is not there."""
    built = ROOT / ".build" / "bin" / NAME
    return os.environ.get("LABCTL_TOXIPROXY") or shutil.which(NAME) or (str(built) if built.is_file() else None)
