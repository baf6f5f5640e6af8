"""assertion: what must hold of the judged text, of the calls, or of the cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from contracts.attempt import Check, CheckType
from contracts.json_text import parse_json
from contracts.record import Json
from contracts.suite.case import Assertion, Case
from runner.checks.interface import Observed, short, verdict
from runner.checks.json_schemas import schema_trouble
from runner.checks.text_patterns import UnusableError, search

SPACE = "\t\n\v\f\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
"""What Unicode calls white space, which docker-agent leaves out around a text; Python's own idea of it has more."""


@dataclass(frozen=True)
class Finding:
    """Whether an assertion holds (None: could not be told), why, and what it was judged by."""

    holds: bool | None
    reason: str
    actual: Json = None


def check_assertions(case: Case, observed: Observed) -> Iterator[Check]:
    """One verdict for each assertion."""
    for assertion in case.expect.assertions:
        kind = assertion.type.lower()
        finding = _find(kind, assertion.value, observed)
        yield verdict(
            assertion.name or _default_name(kind, assertion),
            kind=CheckType.ASSERTION,
            holds=finding.holds,
            expected={"type": kind, "value": assertion.value},
            actual=finding.actual,
            reason=finding.reason,
        )


def _default_name(kind: str, assertion: Assertion) -> str:
    return kind if kind == "json_schema" else f"{kind} {short(str(assertion.value))}"


def _find(kind: str, value: Json, observed: Observed) -> Finding:
    judge = _JUDGES.get(kind)
    if judge is None:
        return Finding(holds=None, reason=f"there is no assertion type {kind}")
    try:
        return judge(value, observed)
    except UnusableError as trouble:
        return Finding(holds=None, reason=str(trouble))


def _about_text(test: Callable[[str, str], bool], *, does: str, does_not: str) -> Callable[[Json, Observed], Finding]:
    def judge(value: Json, observed: Observed) -> Finding:
        if not isinstance(value, str):
            raise UnusableError("the assertion's value is no text")
        holds = test(observed.text, value)
        return Finding(holds=holds, reason=f"the text {does if holds else does_not} it", actual=observed.text)

    return judge


def _not_contains(value: Json, observed: Observed) -> Finding:
    contains = _JUDGES["contains"](value, observed)
    return Finding(holds=not contains.holds, reason=contains.reason, actual=observed.text)


def _json_schema(value: Json, observed: Observed) -> Finding:
    try:
        document = parse_json(observed.text)
    except ValueError:
        return Finding(holds=False, reason="the text is not JSON", actual=observed.text)
    trouble = schema_trouble(document, schema=value)
    reason = "the JSON fits the schema" if trouble is None else f"the JSON does not fit the schema at {trouble}"
    return Finding(holds=trouble is None, reason=reason, actual=observed.text)


def _tool_called(value: Json, observed: Observed) -> Finding:
    names = [call.tool for call in observed.counted]
    holds = value in names
    return Finding(holds=holds, reason=f"{value} was {'called' if holds else 'not called'}", actual=names)


def _tool_not_called(value: Json, observed: Observed) -> Finding:
    # a call that was only claimed counts against the agent, as it does for never-tool
    names = [call.tool for call in observed.calls]
    holds = value not in names
    return Finding(holds=holds, reason=f"{value} was {'not called' if holds else 'called'}", actual=names)


def _cost_threshold(value: Json, observed: Observed) -> Finding:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UnusableError("the assertion's value is no number")
    cost = observed.usage.cost_usd
    if cost is None:
        return Finding(holds=None, reason="nothing measured the cost")
    holds = cost <= value
    return Finding(holds=holds, reason=f"the cost is {'within' if holds else 'over'} the threshold", actual=cost)


_JUDGES: dict[str, Callable[[Json, Observed], Finding]] = {
    "contains": _about_text(lambda text, value: value in text, does="contains", does_not="does not contain"),
    "not_contains": _not_contains,
    "equals": _about_text(
        lambda text, value: text.strip(SPACE) == value.strip(SPACE), does="equals", does_not="does not equal"
    ),
    "starts_with": _about_text(str.startswith, does="starts with", does_not="does not start with"),
    "ends_with": _about_text(
        # docker-agent trims the text only; a value that itself ends in white space is meant to be found there
        lambda text, value: text.endswith(value) or text.rstrip(SPACE).endswith(value),
        does="ends with",
        does_not="does not end with",
    ),
    "regex": _about_text(search, does="matches", does_not="does not match"),
    "json_schema": _json_schema,
    "tool_called": _tool_called,
    "tool_not_called": _tool_not_called,
    "cost_threshold": _cost_threshold,
}
