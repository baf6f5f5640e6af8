"""Nothing is written into a sealed run: a file more, and it is no longer what was sealed."""

from __future__ import annotations

import os
from pathlib import Path

from contracts.errors import ErrorCode, Found, LabError
from contracts.evidence import COMPLETE, PLAN


def refuse_sealed(path: Path, *, place: str) -> None:
    """Raise SEALED_RUN where what is written there would lie in a sealed run; `place` is the flag that names it."""
    real = Path(os.path.realpath(path))
    for folder in (real, *real.parents):
        if os.path.lexists(folder / COMPLETE) and os.path.lexists(folder / PLAN):
            raise LabError(
                ErrorCode.SEALED_RUN,
                f"{place} {path} lies in a sealed run",
                found=[Found("is sealed", file=str(folder))],
                next_step="name a place outside of it",
            )
