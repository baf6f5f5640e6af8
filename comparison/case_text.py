"""One changed case as lines for people: what flipped, and where the trajectories part first."""

from __future__ import annotations

import json
from collections.abc import Iterator

from comparison.shown_values import cut_alike
from contracts.attempt import Check
from contracts.comparison import CaseChange, Divergence, FlippedCheck
from contracts.outcome import Outcome
from contracts.record import Json
from ledger.record_text import check_title

ARROW = "→"
_NOT_THERE = "not there"
_MOST_CHARS = 400


def case_head(change: CaseChange) -> str:
    """`id: pass → fail (protected)`."""
    marks = ", ".join([*(["protected"] if change.protected else []), *_said_of(change)])
    return f"{change.case_id}: {was_and_now(change)}" + (f" ({marks})" if marks else "")


def was_and_now(change: CaseChange) -> str:
    """`was → now`."""
    was, now = (_NOT_THERE if outcome is None else outcome.value for outcome in (change.was, change.now))
    return f"{was} {ARROW} {now}"


def case_lines(change: CaseChange) -> Iterator[str]:
    """What is known of the change, without indentation of the first level."""
    if change.kind in {"regressed", "unknown", "removed"}:
        yield f"why: {_cut(change.reason)}"
    for check in change.checks:
        yield from _check_lines(check)
    if change.divergence is not None:
        yield from _divergence_lines(change.divergence)


def _said_of(change: CaseChange) -> Iterator[str]:
    if change.kind == "changed":
        yield "the same outcome, other behaviour"
    if change.kind == "unknown" and change.was and change.now and Outcome.UNKNOWN not in (change.was, change.now):
        yield "cannot tell"


def _check_lines(check: FlippedCheck) -> Iterator[str]:
    title = check_title(Check(name=check.name, type=check.type, outcome=check.now or check.was or Outcome.UNKNOWN))
    was, now = (_NOT_THERE if outcome is None else outcome.value for outcome in (check.was, check.now))
    yield f"{title}: {was} {ARROW} {now}"
    was_actual, actual = _both(check.baseline_actual, check.actual)
    yield from _value_line("expected", None if check.expected is None else _cut(_json(check.expected)))
    yield from _value_line("was", None if check.baseline_actual is None else was_actual)
    if check.now is Outcome.PASS and check.reason is not None:  # then it says why the check did not hold before
        yield f"  because:  {_cut(check.reason)}"
    yield from _value_line("actual", None if check.actual is None else actual)
    if check.now is not Outcome.PASS and check.reason is not None:
        yield f"  reason:   {_cut(check.reason)}"


def _value_line(name: str, text: str | None) -> Iterator[str]:
    if text is not None:
        yield f"  {name + ':':<9} {text}"


def _divergence_lines(divergence: Divergence) -> Iterator[str]:
    at = [f"repeat {divergence.repeat}"] if divergence.repeat > 1 else []
    if divergence.turn is not None:
        at.append(f"{'text' if divergence.kind == 'text' else 'call'} {divergence.turn}")
    at += [divergence.tool] if divergence.tool and divergence.kind != "tool" else []
    what = divergence.kind + (f" {divergence.pointer}" if divergence.pointer else "")
    yield f"first divergence: {', '.join([*at, what])}"
    baseline, candidate = _both(divergence.baseline, divergence.candidate)
    yield f"  baseline:  {baseline}{_line(divergence, divergence.baseline_line)}"
    yield f"  candidate: {candidate}{_line(divergence, divergence.candidate_line)}"


def _line(divergence: Divergence, number: int | None) -> str:
    return "" if number is None else f"  ({divergence.file} line {number})"


def _json(value: Json) -> str:
    return "nothing" if value is None else json.dumps(value, ensure_ascii=False)


def _both(was: Json, now: Json) -> tuple[str, str]:
    return cut_alike(_json(was), _json(now), most=_MOST_CHARS)


def _cut(text: str) -> str:
    return cut_alike(text, text, most=_MOST_CHARS)[0]
