"""tool-calls: the calls that count against the expected ones, by one of five measures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from contracts.attempt import Check, CheckType, TrajectoryCall
from contracts.record import Json
from contracts.suite.case import Case, ExpectedCall
from runner.checks.interface import Observed, shown_name, verdict
from runner.json_values import equal_json, first_difference

NAME = "tool-calls"
_SHOWN = 10


def check_tool_calls(case: Case, observed: Observed) -> Iterator[Check]:
    """One verdict when the case expects tool calls."""
    expected = case.expect.tool_calls
    if expected is None:
        return
    if case.expect.tool_match == "names":
        yield _by_names(expected, observed.counted, min_f1=case.expect.min_f1)
        return
    trouble = _trouble(case.expect.tool_match, expected, observed.counted)
    yield verdict(
        NAME,
        kind=CheckType.TOOL_CALLS,
        holds=trouble is None,
        expected=[call.to_json() for call in expected],
        actual=[{"name": call.tool, "arguments": call.arguments} for call in observed.counted],
        reason=f"{case.expect.tool_match}: {trouble or 'all calls fit'}",
    )


def _by_names(expected: Sequence[ExpectedCall], actual: Sequence[TrajectoryCall], *, min_f1: float) -> Check:
    wanted, got = Counter(call.name for call in expected), Counter(call.tool for call in actual)
    score = f1(wanted, got)
    parts = [f"F1 {score:.4g} of at least {min_f1:g}"]
    if (first := _first_other(expected, actual)) is not None:
        parts.append(f"first divergence at call {first + 1}")
    parts += [
        f"{word} {_listed(names)}" for word, names in (("missing", wanted - got), ("extra", got - wanted)) if names
    ]
    return verdict(
        NAME,
        kind=CheckType.TOOL_CALLS,
        holds=score >= min_f1,
        score=score,
        expected=[call.name for call in expected],
        actual=[call.tool for call in actual],
        reason="; ".join(parts),
    )


def _first_other(expected: Sequence[ExpectedCall], actual: Sequence[TrajectoryCall]) -> int | None:
    """The index of the first call that no expected one is left for, in whatever order; None: there is none."""
    left = Counter(call.name for call in expected)
    for index, call in enumerate(actual):
        left[call.tool] -= 1
        if left[call.tool] < 0:
            return index
    return None


def _listed(names: Counter[str]) -> str:
    shown = [(shown_name(name), count) for name, count in sorted(names.items())]
    words = [name if count == 1 else f"{name} ({count} times)" for name, count in shown]
    more = [f"{len(words) - _SHOWN} more"] if len(words) > _SHOWN else []
    return ", ".join(words[:_SHOWN] + more)


def f1(wanted: Counter[str], got: Counter[str]) -> float:
    """F1 over two multisets of names: 1 when both are empty, 0 when one is."""
    if not wanted and not got:
        return 1.0
    return 2 * (wanted & got).total() / (wanted.total() + got.total())


def _trouble(match: str, expected: Sequence[ExpectedCall], actual: Sequence[TrajectoryCall]) -> str | None:
    if match == "strict":
        return _first_divergence(expected, actual)
    missing, extra = _left_over(expected, actual)
    # subset: no call may be extra; superset: none may be missing
    if missing and match != "subset":
        wanted = expected[missing[0]]
        near = next((index for index in extra if actual[index].tool == wanted.name), None)
        differs = "" if near is None else f"; call {near + 1} differs at {_place(wanted, actual[near])}"
        return f"missing: expected call {missing[0] + 1}, {wanted.name}{differs}"
    if extra and match != "superset":
        got = actual[extra[0]]
        like = next((one for one in expected if one.name == got.tool and one.arguments is not None), None)
        differs = "" if like is None or _fits(like, got) else f", which differs at {_place(like, got)}"
        return f"not expected: call {extra[0] + 1}, {shown_name(got.tool)}{differs}"
    return None


def _place(wanted: ExpectedCall, got: TrajectoryCall) -> str:
    """The JSON pointer of the first argument that differs; a key of the agent's own making is not quoted at length."""
    return shown_name(first_difference(wanted.arguments, got.arguments) or "(whole)")


def _first_divergence(expected: Sequence[ExpectedCall], actual: Sequence[TrajectoryCall]) -> str | None:
    for number, (wanted, got) in enumerate(zip(expected, actual, strict=False), start=1):
        if wanted.name != got.tool:
            return f"call {number} is {shown_name(got.tool)} instead of {wanted.name}"
        if wanted.arguments is not None and not equal_json(wanted.arguments, got.arguments):
            return f"call {number}, {got.tool}: the arguments differ at {_place(wanted, got)}"
    if len(actual) > len(expected):
        return f"call {len(expected) + 1}, {shown_name(actual[len(expected)].tool)}, is one too many"
    if len(actual) < len(expected):
        return f"call {len(actual) + 1}, {expected[len(actual)].name}, was not made"
    return None


def _left_over(expected: Sequence[ExpectedCall], actual: Sequence[TrajectoryCall]) -> tuple[list[int], list[int]]:
    """The indices of expected and of actual calls that have no partner."""
    free = list(range(len(actual)))
    missing: list[int] = []
    # those with arguments choose first: the others are content with whatever is left
    for index in sorted(range(len(expected)), key=lambda index: expected[index].arguments is None):
        partner = next((other for other in free if _fits(expected[index], actual[other])), None)
        if partner is None:
            missing.append(index)
        else:
            free.remove(partner)
    return sorted(missing), free


def _fits(wanted: ExpectedCall, got: TrajectoryCall) -> bool:
    arguments: Json = wanted.arguments
    return wanted.name == got.tool and (arguments is None or equal_json(arguments, got.arguments))
