"""One changed case as lines for people: what flipped, and where the trajectories part first."""

from __future__ import annotations

import json
from collections.abc import Iterator

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


def _check_lines(check: FlippedCheck) -> Iterator[str]:
    title = check_title(Check(name=check.name, type=check.type, outcome=check.now or check.was or Outcome.UNKNOWN))
    was, now = (_NOT_THERE if outcome is None else outcome.value for outcome in (check.was, check.now))
    yield f"{title}: {was} {ARROW} {now}"
    yield from _value_line("expected", check.expected)
    yield from _value_line("was", check.baseline_actual)
    if check.now is Outcome.PASS and check.reason is not None:  # then it says why the check did not hold before
        yield f"  because:  {_cut(check.reason)}"
    yield from _value_line("actual", check.actual)
    if check.now is not Outcome.PASS and check.reason is not None:
        yield f"  reason:   {_cut(check.reason)}"


def _value_line(name: str, value: Json) -> Iterator[str]:
    if value is not None:
        yield f"  {name + ':':<9} {_cut(_json(value))}"


def _divergence_lines(divergence: Divergence) -> Iterator[str]:
    at = [f"repeat {divergence.repeat}"] if divergence.repeat > 1 else []
    if divergence.turn is not None:
        at.append(f"{'text' if divergence.kind == 'text' else 'call'} {divergence.turn}")
    at += [divergence.tool] if divergence.tool and divergence.kind != "tool" else []
    what = divergence.kind + (f" {divergence.pointer}" if divergence.pointer else "")
    yield f"first divergence: {', '.join([*at, what])}"
    yield f"  baseline:  {_cut(_json(divergence.baseline))}{_line(divergence, divergence.baseline_line)}"
    yield f"  candidate: {_cut(_json(divergence.candidate))}{_line(divergence, divergence.candidate_line)}"


def _line(divergence: Divergence, number: int | None) -> str:
    return "" if number is None else f"  ({divergence.file} line {number})"


def _json(value: Json) -> str:
    return "nothing" if value is None else json.dumps(value, ensure_ascii=False)


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_CHARS else f"{text[:_MOST_CHARS]}... ({len(text)} characters)"
