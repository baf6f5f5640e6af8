"""Where the trajectories of two attempts part first: tool, argument, status, claim, text, or how they ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from comparison.shown_values import shown
from contracts import evidence
from contracts.attempt import AttemptRecord, TrajectoryCall
from contracts.comparison import Divergence
from contracts.record import Json
from ledger.behaviour import comparable, end_of
from ledger.run_rows import DecidingAttempt


class _Parting(NamedTuple):
    """A divergence without its place in the evidence."""

    kind: Any
    turn: int | None
    tool: str | None
    pointer: str | None
    baseline: Json
    candidate: Json


def first_divergence(
    baseline: dict[int, DecidingAttempt], candidate: dict[int, DecidingAttempt], *, is_whole: bool
) -> Divergence | None:
    """The first one in the first repeat that has one; None: the attempts did the same.

    Args:
        baseline: by repeat the attempts that decide it.
        candidate: likewise.
        is_whole: both runs keep bodies, so that values may be told whole.

    """
    for repeat in sorted(baseline.keys() | candidate.keys()):
        was, now = baseline.get(repeat), candidate.get(repeat)
        if was is None or now is None:
            if 1 in baseline and 1 in candidate:
                continue  # one side simply has more repeats
            parting: _Parting | None = _Parting("not-run", None, None, None, *_started(was, now))
        else:
            parting = next(_partings(was.record, now.record), None)
        if parting is not None:
            return _divergence(repeat, parting, was, now, is_whole=is_whole)
    return None


def _started(was: DecidingAttempt | None, now: DecidingAttempt | None) -> tuple[str, str]:
    said = {True: "never started", False: "started"}
    return said[was is None], said[now is None]


def _divergence(
    repeat: int, parting: _Parting, was: DecidingAttempt | None, now: DecidingAttempt | None, *, is_whole: bool
) -> Divergence:
    values = {name: shown(getattr(parting, name), is_whole=is_whole) for name in ("baseline", "candidate")}
    return Divergence(
        repeat=repeat,
        kind=parting.kind,
        turn=parting.turn,
        tool=parting.tool,
        pointer=parting.pointer,
        file=evidence.ATTEMPTS,
        baseline_line=was.place.attempt_line if was else None,
        candidate_line=now.place.attempt_line if now else None,
        **values,
    )


def _partings(was: AttemptRecord, now: AttemptRecord) -> Iterator[_Parting]:
    """Every way in which the attempts differ, in the order of what happened as far as it is known."""
    calls = zip_longest(was.trajectory, now.trajectory)
    for turn, (one, other) in enumerate(calls, start=1):
        if one is None or other is None:
            yield _one_sided(turn, one, other, was, now)
        else:
            yield from _call_partings(turn, one, other)
    if was.trajectory_digest != now.trajectory_digest:  # a value that redaction or a cut took away
        yield _Parting("argument", None, None, None, was.trajectory_digest, now.trajectory_digest)
    yield from _text_partings(was, now)
    if (ended := end_of(was)) != (ends := end_of(now)):
        yield _Parting("end", None, None, None, ended, ends)
    if was.outcome_class is not now.outcome_class:
        yield _Parting("end", None, None, None, was.outcome_class, now.outcome_class)


def _one_sided(
    turn: int, one: TrajectoryCall | None, other: TrajectoryCall | None, was: AttemptRecord, now: AttemptRecord
) -> _Parting:
    """A call that only one side made; where the other one had ended otherwise than it should, that is what differs."""
    if one is not None:
        end = end_of(now)
        made = {"tool": one.tool, "arguments": one.arguments}
        return _Parting("missing-call" if end is None else "end", turn, one.tool, None, made, end)
    assert other is not None  # noqa: S101 - one of the two is there
    end = end_of(was)
    made = {"tool": other.tool, "arguments": other.arguments}
    return _Parting("extra-call" if end is None else "end", turn, other.tool, None, end, made)


def _call_partings(turn: int, one: TrajectoryCall, other: TrajectoryCall) -> Iterator[_Parting]:
    if one.tool != other.tool:
        yield _Parting("tool", turn, other.tool, None, one.tool, other.tool)
    yield from (
        _Parting("argument", turn, other.tool, pointer, was, now)
        for pointer, was, now in json_differences(one.arguments, other.arguments)
    )
    if one.status != other.status:
        yield _Parting("status", turn, other.tool, None, one.status, other.status)
    claims = [{"made": call.made, "claimed": call.claimed, "counts": call.counts} for call in (one, other)]
    if claims[0] != claims[1]:
        yield _Parting("claim", turn, other.tool, None, *claims)


def _text_partings(was: AttemptRecord, now: AttemptRecord) -> Iterator[_Parting]:
    for turn, (one, other) in enumerate(zip_longest(was.texts, now.texts), start=1):
        end = end_of(now if other is None else was)
        if (one is None or other is None) and end is not None:
            yield _Parting("end", turn, None, None, one if other is None else end, end if other is None else other)
        elif comparable(one) != comparable(other):
            yield _Parting("text", turn, None, None, one, other)


def json_differences(was: Json, now: Json, pointer: str = "") -> Iterator[tuple[str, Json, Json]]:
    """Each place where two captured JSON values differ: RFC 6901 pointer and both values, None for an absent one."""
    if isinstance(was, dict) and isinstance(now, dict):
        for name in [*was, *(name for name in now if name not in was)]:
            yield from json_differences(was.get(name), now.get(name), f"{pointer}/{_escaped(name)}")
    elif _is_list(was) and _is_list(now):
        for index, (one, other) in enumerate(zip_longest(was, now)):
            yield from json_differences(one, other, f"{pointer}/{index}")
    elif not _is_same(comparable(was), comparable(now)):
        yield pointer, was, now


def _is_list(value: Json) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _is_same(one: Json, other: Json) -> bool:
    """As JSON has it: true is no 1."""
    return one == other and isinstance(one, bool) is isinstance(other, bool)


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
