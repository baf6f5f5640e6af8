"""One case of one attempt as it stands in results.json and junit.xml, straight from the attempt's line.

The same bytes as records of results would give, at a tenth of their time: what reads 100 000 cases twice cannot make
records of each. The tests hold the two beside each other.
"""

from __future__ import annotations

from json.encoder import encode_basestring as quoted

from pydantic import TypeAdapter
from pydantic_core import to_json

from contracts.attempt import AttemptRecord, Check, Usage
from contracts.outcome import Outcome
from contracts.results import AttemptResult, CaseResult
from ledger.junit_text import SUITE_NAME, clean_attribute
from ledger.plan_file import PlannedRow

_checks = TypeAdapter(tuple[Check, ...]).serializer
_PASS = Outcome.PASS
_WRITTEN_HERE = frozenset(
    {
        *("attempt", "repeat", "retry_of", "outcome", "outcome_class", "reason", "checks", "tool_calls"),
        *("duration_ms", "usage"),
    }
)
_WRITTEN_ELSEWHERE = tuple(AttemptResult.model_fields.keys() - _WRITTEN_HERE)
"""What only records of results know how to write; an attempt that has none of it needs none of them."""


def is_quick(record: AttemptRecord) -> bool:
    """Whether `quick_result` and `quick_testcase` know everything that the only attempt of a case says."""
    if record.outcome is not _PASS or record.outcome_class or record.reason is not None or record.retry_of:
        return False
    return not _WRITTEN_ELSEWHERE or all(getattr(record, name, None) is None for name in _WRITTEN_ELSEWHERE)


def quick_result(row: PlannedRow, record: AttemptRecord) -> bytes:
    """The case as an item of results.json, without indentation of its first line, for an attempt that is quick."""
    return (
        f'{{\n      "caseId": {quoted(row[0])},\n      "title": {quoted(row[1])},\n'
        f'      "protected": {"true" if row[2] else "false"},\n      "outcome": "pass",\n      "flaky": false,\n'
        f'      "attempts": [\n        {{\n          "attempt": {record.attempt},\n'
        f'          "repeat": {record.repeat},\n          "outcome": "pass",\n'
        f'          "checks": {_checks_text(record.checks)},\n'
        f'          "toolCalls": {record.tool_calls},\n          "durationMs": {record.duration_ms},\n'
        f'          "usage": {_usage_text(record.usage)}\n        }}\n      ]\n    }}'
    ).encode()


def quick_testcase(row: PlannedRow, record: AttemptRecord) -> bytes:
    """The case as its line of junit.xml without the line's end, for an attempt that is quick."""
    name, title = clean_attribute(row[0]), clean_attribute(row[1])
    return (
        f'<testcase name="{name}" classname="{SUITE_NAME}" time="{record.duration_ms / 1000}"><properties>'
        f'<property name="title" value="{title}"></property>'
        f'<property name="protected" value="{"true" if row[2] else "false"}"></property>'
        f'<property name="flaky" value="false"></property><property name="attempt.{record.attempt}" '
        f'value="repeat {record.repeat}: pass, {record.tool_calls} tool calls, {record.duration_ms} ms"></property>'
        f"</properties></testcase>"
    ).encode()


def whole_pieces(case: CaseResult) -> tuple[bytes, bytes]:
    """Both for a case of any attempts, from its record of results."""
    from ledger.junit import testcase_piece  # noqa: PLC0415 - its library is for what did not simply pass

    result = to_json(case, by_alias=True, exclude_none=True, indent=2).replace(b"\n", b"\n    ")
    return result, testcase_piece(case).rstrip(b"\n")


def _checks_text(checks: tuple[Check, ...]) -> str:
    if len(checks) == 1:
        (check,) = checks
        if type(check.expected) is str and type(check.actual) is str and check.score is None and check.reason is None:
            return (  # the most usual one: one text expected, one there was
                f'[\n            {{\n              "name": {quoted(check.name)},\n'
                f'              "type": "{check.type}",\n'
                f'              "outcome": "{check.outcome}",\n              "expected": {quoted(check.expected)},\n'
                f'              "actual": {quoted(check.actual)}\n            }}\n          ]'
            )
    return _indented(_checks.to_json(checks, indent=2, by_alias=True, exclude_none=True).decode())


def _usage_text(usage: Usage) -> str:
    if usage.cost_usd is not None:  # fractions are spelled in one way only
        return _indented(to_json(usage, indent=2, by_alias=True, exclude_none=True).decode())
    counts = []
    if usage.input_tokens is not None:
        counts.append(f'"inputTokens": {usage.input_tokens}')
    if usage.output_tokens is not None:
        counts.append(f'"outputTokens": {usage.output_tokens}')
    if usage.model_calls is not None:
        counts.append(f'"modelCalls": {usage.model_calls}')
    return "{\n            " + ",\n            ".join(counts) + "\n          }" if counts else "{}"


def _indented(text: str) -> str:
    return text.replace("\n", "\n          ")
