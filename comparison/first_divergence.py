"""Where the trajectories of two attempts part first: tool, argument, status, claim, text, or how they ended."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from comparison.shown_values import shown_pair
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
    baseline: dict[int, DecidingAttempt],
    candidate: dict[int, DecidingAttempt],
    *,
    is_whole: bool,
    same_adapter: bool = True,
) -> Divergence | None:
    """The first one in the first repeat that has one; None: the attempts did the same.

    Args:
        baseline: by repeat the attempts that decide it.
        candidate: likewise.
        is_whole: both runs keep bodies, so that values may be told whole.
        same_adapter: both agents are run alike; else whether they speak of the calls that they made is their adapter's
            doing, and parts nothing.

    """
    for repeat in sorted(baseline.keys() | candidate.keys()):
        was, now = baseline.get(repeat), candidate.get(repeat)
        if was is None or now is None:
            if 1 in baseline and 1 in candidate:
                continue  # one side simply has more repeats
            parting: _Parting | None = _Parting("not-run", None, None, None, *_started(was, now))
        else:
            parting = next(_partings(was.record, now.record, same_adapter=same_adapter), None)
        if parting is not None:
            return _divergence(repeat, parting, was, now, is_whole=is_whole)
    return None


def _started(was: DecidingAttempt | None, now: DecidingAttempt | None) -> tuple[str, str]:
    said = {True: "never started", False: "started"}
    return said[was is None], said[now is None]


def _divergence(
    repeat: int, parting: _Parting, was: DecidingAttempt | None, now: DecidingAttempt | None, *, is_whole: bool
) -> Divergence:
    baseline, candidate = shown_pair(parting.baseline, parting.candidate, is_whole=is_whole)
    return Divergence(
        repeat=repeat,
        kind=parting.kind,
        turn=parting.turn,
        tool=parting.tool,
        pointer=parting.pointer,
        baseline=baseline,
        candidate=candidate,
        file=evidence.ATTEMPTS,
        baseline_line=was.place.attempt_line if was else None,
        candidate_line=now.place.attempt_line if now else None,
    )


def _partings(was: AttemptRecord, now: AttemptRecord, *, same_adapter: bool) -> Iterator[_Parting]:
    """Every way in which the attempts differ, in the order of what happened as far as it is known; what was done first.

    What an agent merely says of calls that it made comes last: it would hide what it did otherwise.
    """
    said: list[_Parting] = []
    for turn, (one, other) in enumerate(_paired(was.trajectory, now.trajectory), start=1):
        if one is None or other is None:
            yield _one_sided(turn, one, other, was, now)
            continue
        yield from _call_partings(turn, one, other)
        if one.claimed != other.claimed and same_adapter:
            said.append(_Parting("claim", turn, other.tool, None, _claim(one), _claim(other)))
    if was.trajectory_digest != now.trajectory_digest:  # a value that redaction or a cut took away
        yield _Parting("argument", None, None, None, was.trajectory_digest, now.trajectory_digest)
    yield from _text_partings(was, now)
    if (ended := end_of(was)) != (ends := end_of(now)):
        yield _Parting("end", None, None, None, ended, ends)
    if was.outcome_class is not now.outcome_class:
        yield _Parting("end", None, None, None, was.outcome_class, now.outcome_class)
    yield from said


def _paired(
    were: Sequence[TrajectoryCall], are: Sequence[TrajectoryCall]
) -> Iterator[tuple[TrajectoryCall | None, TrajectoryCall | None]]:
    """The calls one by one; one that is only claimed stands alone, unless the other side has the same one there."""
    before, after = deque(were), deque(are)
    while before and after:
        one, other = before[0], after[0]
        if one.counts is other.counts or _is_same_call(one, other):
            yield before.popleft(), after.popleft()
        elif one.counts:
            yield None, after.popleft()
        else:
            yield before.popleft(), None
    yield from ((one, None) for one in before)
    yield from ((None, other) for other in after)


def _is_same_call(one: TrajectoryCall, other: TrajectoryCall) -> bool:
    return one.tool == other.tool and next(json_differences(one.arguments, other.arguments), None) is None


def _claim(call: TrajectoryCall) -> Json:
    return {"made": call.made, "claimed": call.claimed, "counts": call.counts}


def _told(call: TrajectoryCall) -> Json:
    told: dict[str, Json] = {"tool": call.tool, "arguments": call.arguments}
    return told if call.counts else told | {"made": False}


def _one_sided(
    turn: int, one: TrajectoryCall | None, other: TrajectoryCall | None, was: AttemptRecord, now: AttemptRecord
) -> _Parting:
    """A call that only one side made; where the other one had ended otherwise than it should, that is what differs."""
    if one is not None:
        end = end_of(now)
        return _Parting("missing-call" if end is None else "end", turn, one.tool, None, _told(one), end)
    assert other is not None  # noqa: S101 - one of the two is there
    end = end_of(was)
    return _Parting("extra-call" if end is None else "end", turn, other.tool, None, end, _told(other))


def _call_partings(turn: int, one: TrajectoryCall, other: TrajectoryCall) -> Iterator[_Parting]:
    if one.tool != other.tool:
        yield _Parting("tool", turn, other.tool, None, one.tool, other.tool)
    yield from (
        _Parting("argument", turn, other.tool, pointer, was, now)
        for pointer, was, now in json_differences(one.arguments, other.arguments)
    )
    if one.status != other.status:
        yield _Parting("status", turn, other.tool, None, one.status, other.status)
    if (one.made, one.counts) != (other.made, other.counts):
        yield _Parting("claim", turn, other.tool, None, _claim(one), _claim(other))


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
