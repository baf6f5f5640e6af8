"""environment.json without its cases: they repeat the conditions once for each case, and are compared, not held."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic_core import to_json

from contracts.manifest import SHARING, CaseConditions, EnvironmentManifest
from contracts.plan import Conditions, Plan, PlannedCase
from contracts.telemetry import OBSERVE_PROFILE
from ledger.plan_file import PlannedRow
from ledger.record_file import record_file

_CASES = b'\n  "cases": {\n'
_END = b"\n  }\n}\n"
_BATCH = 2000
_ID, _DIGEST = "case-id-of-a-template", "case-digest-of-a-template"


@dataclass(frozen=True)
class ManifestFile:
    """A manifest whose cases stand beside it."""

    head: EnvironmentManifest
    """Without cases."""
    cases: bytes | None
    """The file's text of them, without the outer braces; None: not spelled as labctl writes it."""


def read_manifest(path: Path) -> ManifestFile:
    """The manifest of a run.

    Raises:
        pydantic.ValidationError: it is no manifest.
        OSError: as reading does.

    """
    content = path.read_bytes()
    start = content.find(_CASES)
    if start < 0 or not content.endswith(_END):
        manifest = EnvironmentManifest.model_validate_json(content)
        return ManifestFile(head=manifest.model_copy(update={"cases": {}}), cases=None)
    head_text = content[:start] + b'\n  "cases": {}\n}\n'
    head = EnvironmentManifest.model_validate_json(head_text)
    is_as_written = record_file(head) == head_text
    return ManifestFile(head=head, cases=content[start + len(_CASES) : -len(_END)] if is_as_written else None)


def manifest_contradictions(manifest: EnvironmentManifest, plan: Plan) -> Iterator[str]:
    """The keys of a manifest, without its cases, that are not what the plan makes of them."""
    same = {
        "runId": manifest.run_id == plan.run_id,
        "command": manifest.command == plan.command,
        "startedAt": manifest.started_at == plan.planned_at,
        "sharing": manifest.sharing == (SHARING if plan.capture == "payloads" else None),
        "conditions": manifest.conditions == plan.conditions,
        "images": manifest.images == plan.images,
        "dependencies.programs": manifest.dependencies.programs == plan.programs,
        "telemetry": (manifest.telemetry is not None) == (OBSERVE_PROFILE in plan.conditions.profiles),
    }
    yield from (key for key, is_same in same.items() if not is_same)


def cases_follow(manifest: ManifestFile, cases: Iterable[PlannedRow]) -> bool:
    """Whether the manifest's cases are what its conditions and the planned cases make of them, byte by byte."""
    if manifest.cases is None:
        return False
    at, text = 0, manifest.cases
    for piece in _batches(manifest.head.conditions, cases):
        if not text.startswith(piece, at):
            return False
        at += len(piece)
    return at == len(text)


def _batches(conditions: Conditions, cases: Iterable[PlannedRow]) -> Iterator[bytes]:
    before, between, after = _template(conditions)
    pieces: list[str] = []
    separator = ""
    for case in cases:
        name, digest = (json.dumps(text, ensure_ascii=False) for text in (case.case_id, case.case_digest))
        pieces += (separator, "    ", name, ": ", before, name, between, digest, after)
        separator = ",\n"
        if len(pieces) > _BATCH:
            yield "".join(pieces).encode()
            pieces.clear()
    yield "".join(pieces).encode()


def _template(conditions: Conditions) -> tuple[str, str, str]:
    """The text of one case's conditions before its id, between id and digest, and after the digest."""
    case = PlannedCase(case_id=_ID, title="", protected=False, case_digest=_DIGEST)
    text = to_json(CaseConditions.of(conditions, case), by_alias=True, exclude_none=True, indent=2).decode()
    before, _, rest = text.replace("\n", "\n    ").partition(json.dumps(_ID))
    between, _, after = rest.partition(json.dumps(_DIGEST))
    return before, between, after
