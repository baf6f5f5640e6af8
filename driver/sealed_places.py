"""Nothing else is written into a run: a file more, and it is not what was sealed, or will be when it ends."""

from __future__ import annotations

import os
from pathlib import Path

from contracts.errors import ErrorCode, Found, LabError
from contracts.evidence import BEGUN, COMPLETE, PLAN, SUITE_FOLDER


def refuse_sealed(path: Path, *, place: str) -> None:
    """Raise SEALED_RUN where what is written there would lie in a run, sealed or not; `place` is the flag's name."""
    real = Path(os.path.realpath(path))
    for folder in (real, *real.parents):
        is_sealed = os.path.lexists(folder / COMPLETE)
        if os.path.lexists(folder / PLAN) and (is_sealed or _is_begun(folder)):
            raise LabError(
                ErrorCode.SEALED_RUN,
                f"{place} {path} lies in a {'sealed run' if is_sealed else 'run that is not sealed'}",
                found=[
                    Found("is sealed" if is_sealed else "is under way, or waits for `labctl resume`", file=str(folder))
                ],
                next_step="name a place outside of it",
            )


def _is_begun(folder: Path) -> bool:
    return any(os.path.lexists(folder / name) for name in (BEGUN, SUITE_FOLDER))
