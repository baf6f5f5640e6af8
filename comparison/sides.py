"""The two runs of a comparison, and what the user allows to differ."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from contracts.manifest import EnvironmentManifest
from contracts.plan import Plan
from ledger.run_rows import RunRows


@dataclass(frozen=True)
class Side:
    """One run; its seal was checked, or it is the run that is about to be sealed."""

    root: Path
    """The run directory."""
    plan: Plan
    """Without its cases, which are in the rows."""
    manifest: EnvironmentManifest
    """Likewise."""
    rows: RunRows


@dataclass(frozen=True)
class Allowance:
    """What gates less than it would."""

    tolerance: Decimal = Decimal(0)
    """In [0, 1]: by how much a rate may get worse."""
    drift: frozenset[str] = frozenset()
    """KEYs of `comparison.keys` of the kind drift."""
    removed: bool = False
    """Removed cases do not gate, but for protected ones."""
