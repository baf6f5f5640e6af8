"""junit.xml from case results: fail is a failure, unknown an error, not-run skipped; one testcase for each case."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from junitparser import Error, Failure, Properties, Property, Skipped, TestCase

from contracts.attempt import Check
from contracts.outcome import Outcome
from contracts.results import AttemptResult, CaseResult, Results
from ledger.case_results import NO_ATTEMPT, is_not_run, last_tries
from ledger.fault_text import fault_sentence
from ledger.junit_text import CLOSING, SUITE_NAME, JUnitCounts, attribute, clean, content, junit_head
from ledger.record_text import check_title, json_text

_NEW_PROPERTIES: Any = Properties  # it has no annotations


def junit_of(results: Results) -> bytes:
    """junit.xml of results that are whole in memory."""
    counts = JUnitCounts()
    for case in results.cases:
        counts.add(case)
    return b"".join(junit_pieces(counts, (testcase_piece(case) for case in results.cases), run_id=results.run_id))


def junit_pieces(counts: JUnitCounts, testcases: Iterable[bytes], *, run_id: str) -> Iterator[bytes]:
    """junit.xml in pieces: the head, one line for each testcase, the end."""
    yield junit_head(counts, run_id=run_id)
    yield from testcases
    yield CLOSING


def testcase_piece(case: CaseResult) -> bytes:
    """One case as its line of junit.xml, with the line's end."""
    testcase = TestCase(clean(case.case_id), SUITE_NAME, _duration_ms(case) / 1000)
    properties: Any = _NEW_PROPERTIES()
    for name, value in _properties(case):
        properties.add_property(Property(name, clean(value)))
    _append(testcase, properties)
    if case.outcome is not Outcome.PASS:
        _append(testcase, _result(case))
    return _serialized(testcase._elem).encode() + b"\n"  # noqa: SLF001 - see _serialized


def _result(case: CaseResult) -> Failure | Error | Skipped:
    attempt = next(attempt for attempt in last_tries(case.attempts) if attempt.outcome is case.outcome)
    checks = [check for check in attempt.checks if check.outcome is not Outcome.PASS]
    kind = attempt.outcome_class or (checks[0].type if checks else None)
    named = [check_title(check) for check in checks]
    message = "; ".join(part for part in (attempt.reason, *named) if part) or attempt.outcome.value
    result_type = Skipped if is_not_run(case) else Failure if case.outcome is Outcome.FAIL else Error
    result = result_type(clean(message), kind.value if kind else None)
    if checks:
        result.text = clean("\n".join(_check_text(check) for check in checks))
    return result


def _check_text(check: Check) -> str:
    lines = [f"{check_title(check)}: {check.outcome}"]
    lines += [f"  expected: {json_text(check.expected)}"] if check.expected is not None else []
    lines += [f"  actual: {json_text(check.actual)}"] if check.actual is not None else []
    lines += [f"  reason: {check.reason}"] if check.reason else []
    return "\n".join(lines)


def _properties(case: CaseResult) -> Iterator[tuple[str, str]]:
    yield "title", case.title
    yield "protected", json.dumps(case.protected)
    yield "flaky", json.dumps(case.flaky)
    for attempt in case.attempts:
        if attempt.attempt != NO_ATTEMPT:
            yield f"attempt.{attempt.attempt}", _attempt_text(attempt)
        for fault in attempt.faults or ():
            yield f"attempt.{attempt.attempt}.fault.{fault.kind}.{fault.index}", fault_sentence(fault)


def _attempt_text(attempt: AttemptResult) -> str:
    verdict = attempt.outcome.value + (f"/{attempt.outcome_class}" if attempt.outcome_class else "")
    retry = f", retry of {attempt.retry_of}" if attempt.retry_of else ""
    return f"repeat {attempt.repeat}{retry}: {verdict}, {attempt.tool_calls} tool calls, {attempt.duration_ms} ms"


def _append(parent: Any, child: Any) -> None:
    parent.append(child)  # has no annotations


def _duration_ms(case: CaseResult) -> int:
    return sum(attempt.duration_ms for attempt in case.attempts)


def _serialized(element: Any) -> str:
    """An element tree as text.

    junitparser writes with lxml where that is installed and with the standard library elsewhere; the two spell the
    same document differently, and `verify` compares bytes on whatever machine it runs.
    """
    attributes = "".join([f' {name}="{attribute(value)}"' for name, value in element.attrib.items()])
    inner = "".join([content(element.text or ""), *map(_serialized, element)])
    return f"<{element.tag}{attributes}>{inner}</{element.tag}>"
