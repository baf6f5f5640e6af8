"""What `labctl show` prints: the summary of a run, the trajectory of one case, or a flat manifest."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

from pydantic_core import to_jsonable_python

from contracts import evidence
from contracts.attempt import AttemptRecord, TrajectoryCall
from contracts.errors import ErrorCode, Found, LabError
from contracts.manifest import CaseConditions
from contracts.record import Json
from driver.shown_run import ShownRun, planned_case, shown_run
from ledger.case_results import case_result
from ledger.check_text import check_lines, cut_for_screen
from ledger.fault_text import fault_sentence
from ledger.screen_text import PLAIN_SCREEN, Screen, screen_json, screen_text


def summary_text(run: Path, *, screen: Screen = PLAIN_SCREEN) -> str:
    """The table of a run, recomputed from its attempts; raises LabError as `shown_run` does."""
    from ledger.grading import grade_indexed  # noqa: PLC0415 - rich and junitparser are for the table alone
    from ledger.summary import summary_text as table_of  # noqa: PLC0415 - as above

    with shown_run(run) as shown:
        table = table_of(grade_indexed(shown.plan, shown.attempts), run=str(run), screen=screen)
        return "\n".join([*_note(shown), table.rstrip("\n")])


def case_text(run: Path, *, case_id: str, screen: Screen = PLAIN_SCREEN) -> str:
    """Every attempt of a case: calls, checks, texts as they were captured.

    Raises:
        LabError: UNKNOWN_CASE when the plan has no such case; as `shown_run` does.

    """
    with shown_run(run) as shown:
        planned = planned_case(shown, case_id)
        attempts = shown.attempts_of(case_id)
        merged = case_result(planned, attempts)
        flags = ", ".join(name for name, holds in (("protected", planned.protected), ("flaky", merged.flaky)) if holds)
        lines = [
            *_note(shown),
            f"{case_id}: {merged.outcome.value}" + (f" ({flags})" if flags else ""),
            planned.title,
        ]
        for attempt in sorted(attempts, key=lambda attempt: attempt.attempt):
            lines += ["", *_attempt_lines(attempt, ascii_only=screen.is_ascii)]
        if not attempts:
            lines += ["", "no attempt of it finished"]
        return "\n".join(screen_text(line, ascii_only=screen.is_ascii) for line in lines)


def manifest_text(run: Path, *, case_id: str | None) -> str:
    """The flat manifest as JSON: of a case its conditions, of the run environment.json with dotted keys, without cases.

    A run without environment.json is shown by its plan.

    Raises:
        LabError: UNKNOWN_CASE; ALTERED for a manifest that is no JSON object; as `shown_run` does.

    """
    with shown_run(run) as shown:
        if case_id is not None:
            told = CaseConditions.of(shown.plan.conditions, planned_case(shown, case_id))
            manifest: Json = to_jsonable_python(told, by_alias=True, exclude_none=True)
        else:
            path = shown.root / evidence.ENVIRONMENT
            whole = _manifest_of(path, run=run) if path.is_file() else shown.plan.to_json()
            manifest = dict(_flattened({key: value for key, value in whole.items() if key != "cases"}, ""))
        return json.dumps(manifest, ensure_ascii=False, indent=2)


def _manifest_of(path: Path, *, run: Path) -> dict[str, Json]:
    try:
        whole = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        whole = None
    if not isinstance(whole, dict):
        raise LabError(
            ErrorCode.ALTERED,
            f"{run} has no manifest that could be shown",
            found=[Found("is no JSON object", file=evidence.ENVIRONMENT)],
            next_step=f"labctl verify {shlex.quote(str(run))}",
        )
    return whole


def note_of(run: Path) -> str | None:
    """Says that a run is unsealed or altered, for stderr beside a manifest; raises as `shown_run` does."""
    with shown_run(run) as shown:
        return shown.note


def _note(shown: ShownRun) -> list[str]:
    return [] if shown.note is None else [shown.note, ""]


def _attempt_lines(record: AttemptRecord, *, ascii_only: bool) -> Iterator[str]:
    retry = f", retry of {record.retry_of}" if record.retry_of else ""
    verdict = record.outcome.value + (f" ({record.outcome_class})" if record.outcome_class else "")
    yield f"attempt {record.attempt}, repeat {record.repeat}{retry}: {verdict}, {record.duration_ms / 1000:.2f} s"
    if record.reason:
        yield f"  reason: {record.reason}"
    if record.agent_end is not None:
        end = record.agent_end
        how = f"exit code {end.exit_code}" if end.exit_code is not None else f"signal {end.signal}"
        yield f"  agent ended: {end.reason}, {how}, {end.strays} descendants left behind"
    for fault in record.faults or ():
        yield f"planned fault: {fault_sentence(fault)}"
    yield f"calls: {record.tool_calls} count" if record.trajectory else "calls: none"
    for number, call in enumerate(record.trajectory, start=1):
        yield from _call_lines(number, call, ascii_only=ascii_only)
    yield "checks:" if record.checks else "checks: none"
    for check in record.checks:
        yield from check_lines(check, ascii_only=ascii_only)
    for text in record.texts:
        yield f"text: {text}"
    if record.log:
        yield f"log: {cut_for_screen(record.log)}"
    usage = ", ".join(f"{name} {value}" for name, value in record.usage.to_json().items())
    yield f"usage: {usage or 'not measured'}"


def _call_lines(number: int, call: TrajectoryCall, *, ascii_only: bool) -> Iterator[str]:
    arguments = cut_for_screen(screen_json(call.arguments, ascii_only=ascii_only))
    seen = [name for name, holds in (("made", call.made), ("claimed", call.claimed)) if holds]
    seen += [] if call.counts else ["does not count"]
    status = "no status" if call.status is None else call.status
    yield f"  {number}. {call.tool} {arguments} -> {status} ({', '.join(seen)})"
    if call.result is not None:
        yield f"     result: {cut_for_screen(call.result)}"


def _flattened(value: Json, key: str) -> Iterator[tuple[str, Json]]:
    if isinstance(value, dict) and value:
        for name, item in value.items():
            yield from _flattened(item, f"{key}.{name}" if key else name)
    else:
        yield key, value
