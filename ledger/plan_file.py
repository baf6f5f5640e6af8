"""plan.json read case by case: a plan of 100 000 cases is never held as records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pydantic import TypeAdapter
from pydantic_core import from_json

from contracts.plan import Plan, PlannedCase
from contracts.record import Json

_CASES = b'\n  "cases": ['
_END = b"\n  ]\n}\n"
_BETWEEN = b"\n    },\n    {\n"
_BATCH_BYTES = 1 << 19
_KEYS, _TYPES = ("caseId", "title", "protected", "caseDigest", "repeats"), (str, str, bool, str, int)
_planned = TypeAdapter(tuple[PlannedCase, ...])


class PlannedRow(NamedTuple):
    """What `contracts.plan.PlannedCase` says of one case."""

    case_id: str
    title: str
    protected: bool
    case_digest: str
    repeats: int


@dataclass(frozen=True)
class PlanFile:
    """A plan whose cases stand beside it."""

    head: Plan
    """Everything but the cases, of which it has none."""
    cases: tuple[PlannedRow, ...]


def read_plan(path: Path) -> PlanFile:
    """The plan of a run.

    Raises:
        pydantic.ValidationError: it is no plan.
        OSError: as reading does.

    """
    content = path.read_bytes()
    start = content.find(_CASES)
    if start < 0 or not content.endswith(_END):  # of no case, or spelled by somebody else
        return _whole(content)
    head = Plan.model_validate_json(content[:start] + _CASES + b"]\n}\n")
    return PlanFile(head=head, cases=tuple(_rows(content, start + len(_CASES), len(content) - len(_END))))


def _whole(content: bytes) -> PlanFile:
    plan = Plan.model_validate_json(content)
    return PlanFile(head=plan.model_copy(update={"cases": ()}), cases=tuple(map(_row, plan.cases)))


def _rows(content: bytes, begin: int, last: int) -> Iterator[PlannedRow]:
    """The cases between two places of the file, validated a batch at a time."""
    while begin < last:
        cut = content.find(_BETWEEN, min(begin + _BATCH_BYTES, last), last)
        end = last if cut < 0 else cut + len(b"\n    }")
        yield from _batch(b"[" + content[begin:end] + b"]")
        begin = end + 1  # over the comma


def _batch(text: bytes) -> list[PlannedRow]:
    """The cases of a list; what is not spelled as labctl writes it is for the records to judge."""
    try:
        cases = from_json(text)
    except ValueError:
        cases = [{}]
    if all(isinstance(case, dict) and _is_as_written(case) for case in cases):
        return [PlannedRow(*case.values()) for case in cases]
    return [_row(case) for case in _planned.validate_json(text)]


def _is_as_written(case: dict[str, Json]) -> bool:
    return tuple(case) == _KEYS and tuple(map(type, case.values())) == _TYPES


def _row(case: PlannedCase) -> PlannedRow:
    return PlannedRow(case.case_id, case.title, case.protected, case.case_digest, case.repeats)
