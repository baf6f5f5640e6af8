"""What a suite has become since a run kept it: named, and not used by whatever runs from the evidence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from contracts import evidence
from contracts.canonical import digest_of_file
from contracts.plan import Plan
from driver.staging import files_below


def changes_since(root: Path, plan: Plan) -> tuple[str, ...]:
    """One line for each file that differs from what the run below `root` kept, or for the whole suite that is gone."""
    suite = Path(plan.suite)
    if not suite.is_dir():
        return (f"{suite}: is not there",)
    return tuple(_changes(kept=root / evidence.SUITE_FOLDER, now=suite))


def _changes(*, kept: Path, now: Path) -> Iterator[str]:
    before, after = _digests(kept), _digests(now)
    for name in sorted(before.keys() | after.keys()):
        if name not in after:
            yield f"{now / name}: is gone"
        elif name not in before:
            yield f"{now / name}: is new, or was not kept"
        elif before[name] != after[name]:
            yield f"{now / name}: was changed"


def _digests(root: Path) -> dict[str, str]:
    return {path.relative_to(root).as_posix(): digest_of_file(path) for path in files_below(root) if path.is_file()}
