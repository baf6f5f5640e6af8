"""What one control found, and what all of them together say of this machine's lab."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contracts.errors import LabError
from contracts.exits import Exit

_WORST_FIRST = (Exit.ENVIRONMENT, Exit.NO, Exit.CANNOT_TELL)


@dataclass(frozen=True)
class Looked:
    """One control."""

    name: str
    text: str
    """What was seen, and where it is not what must be, that too."""
    exit_code: Exit = Exit.YES
    """YES: as it must be; NO: the lab said something untrue; CANNOT_TELL: it could not say; ENVIRONMENT: not run."""
    error: LabError | None = None
    """What the lab refused to do."""
    is_tried: bool = True
    """False for a control that this machine has not the means for, which says nothing of the others."""

    @property
    def mark(self) -> str:
        """One word for a table."""
        if not self.is_tried:
            return "skipped"
        return {Exit.YES: "ok", Exit.CANNOT_TELL: "unknown"}.get(self.exit_code, "problem")


def judged(name: str, *, is_so: bool, text: str, must: str) -> Looked:
    """A control that is as it must be, or not."""
    return Looked(name, text) if is_so else Looked(name, f"{text}; {must}", Exit.NO)


def verdict(looked: Sequence[Looked]) -> tuple[Exit, str]:
    """The exit status, and the sentence that says it; no control at all is none that held.

    A lab that could not be started comes first, since nothing was asked of it; then one that said something untrue.
    """
    tried = [one for one in looked if one.is_tried]
    status = next((code for code in _WORST_FIRST if any(one.exit_code is code for one in tried)), Exit.YES)
    if not tried or status is Exit.ENVIRONMENT:
        return Exit.ENVIRONMENT, "this machine's lab cannot be tried"
    bad = ", ".join(one.name for one in tried if one.exit_code is status)
    if status is Exit.NO:
        return status, f"this machine's lab cannot be believed: {bad}"
    if status is Exit.CANNOT_TELL:
        return status, f"cannot tell whether this machine's lab can be believed: {bad}"
    return status, f"this machine's lab can be believed: {len(tried)} of {len(tried)} controls held"
