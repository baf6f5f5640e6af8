"""Controls of the seal: an untouched run is accepted, and each way of tampering is refused for what it is."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from contracts import evidence
from contracts.errors import ErrorCode, LabError
from driver.run_files import list_run_files
from driver.seal import seal_text
from driver.self_test.looked import Looked, judged
from driver.self_test.runs import Runs
from driver.verify import verify_run


@dataclass(frozen=True)
class _Tampering:
    """One way, and what `verify` has to say of it."""

    name: str
    do: Callable[[Path], None]
    code: ErrorCode
    file: str | None
    """That must be named."""


def look_at_seals(runs: Runs) -> Iterator[Looked]:
    """Of the runs themselves, which comes first, then of tampered copies of one."""
    said = [_said(run) for run in (runs.known, runs.worse)]
    refused = next((one for one in said if one is not None), None)
    yield judged("seal: untouched runs", is_so=refused is None, text=_told(refused), must="must be accepted")
    for number, tampering in enumerate(_TAMPERINGS):
        copy = runs.work / f"tampered-{number}"
        shutil.copytree(runs.worse, copy)
        tampering.do(copy)
        seen = _said(copy)
        named = {found.file for found in seen.found} if seen else set()
        yield judged(
            f"seal: {tampering.name}",
            is_so=seen is not None and seen.code is tampering.code and (tampering.file in named or not tampering.file),
            text=_told(seen),
            must=f"must be {tampering.code.code}" + (f", naming {tampering.file}" if tampering.file else ""),
        )


def _said(run: Path) -> LabError | None:
    try:
        verify_run(run)
    except LabError as error:
        return error
    return None


def _told(seen: LabError | None) -> str:
    if seen is None:
        return "accepted"
    files = sorted({found.file for found in seen.found if found.file})
    return f"refused: {seen.code.code}" + (f", {', '.join(files)}" if files else "")


def _change_a_byte(run: Path) -> None:
    """One bit in the middle of the attempts."""
    path = run / evidence.ATTEMPTS
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def _remove_the_journal(run: Path) -> None:
    (run / evidence.JOURNAL).unlink()


def _add_a_file(run: Path) -> None:
    (run / "more.txt").write_text("more\n", encoding="utf-8")


def _unseal(run: Path) -> None:
    (run / evidence.COMPLETE).unlink()


def _pass_everything_and_seal_again(run: Path) -> None:
    """A forger who knows how a seal is made, and turns each failed case into one that passed."""

    def forge(results: dict[str, Any]) -> None:
        for case in results["cases"]:
            case["outcome"] = "pass"

    _edit_and_seal_again(run, evidence.RESULTS, forge)


def _change_the_agent_and_seal_again(run: Path) -> None:
    """The same forger, who says that another agent was measured."""
    _edit_and_seal_again(run, evidence.ENVIRONMENT, lambda environment: environment["conditions"].update(agent="other"))


def _edit_and_seal_again(run: Path, name: str, edit: Callable[[dict[str, Any]], None]) -> None:
    path = run / name
    content = json.loads(path.read_bytes())
    edit(content)
    path.write_text(json.dumps(content), encoding="utf-8")
    (run / evidence.COMPLETE).write_bytes(seal_text(list_run_files(run).sha256, run_id=content["runId"]))


_TAMPERINGS = (
    _Tampering(
        "another agent written in and sealed again",
        _change_the_agent_and_seal_again,
        ErrorCode.RESULTS_DIVERGE,
        evidence.ENVIRONMENT,
    ),
    _Tampering("one bit of the attempts", _change_a_byte, ErrorCode.ALTERED, evidence.ATTEMPTS),
    _Tampering("a file removed", _remove_the_journal, ErrorCode.ALTERED, evidence.JOURNAL),
    _Tampering("a file added", _add_a_file, ErrorCode.ALTERED, "more.txt"),
    _Tampering("no seal", _unseal, ErrorCode.UNSEALED, None),
    _Tampering(
        "failures rewritten and sealed again",
        _pass_everything_and_seal_again,
        ErrorCode.RESULTS_DIVERGE,
        evidence.RESULTS,
    ),
)
