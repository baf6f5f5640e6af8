"""The rules of network faults: what toxiproxy itself takes without a word, or draws by a seed that it ignores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from contracts.suite.fault import Toxic
from contracts.suite.problems import Place, Problem, unknown_name
from contracts.suite.wording import describe

_DAY = 86_400_000
_MOST = 2**31 - 1


class _Attribute(NamedTuple):
    """The whole numbers that an attribute may be; toxiproxy takes 0 for one that is absent."""

    least: int
    most: int
    is_needed: bool = False


_NEVER = _Attribute(0, 0)
"""Draws at random, and toxiproxy ignores the seed that it is given: nobody could repeat the run."""
_ATTRIBUTES: dict[str, dict[str, _Attribute]] = {
    "latency": {"latency": _Attribute(1, _DAY, is_needed=True), "jitter": _NEVER},
    "bandwidth": {"rate": _Attribute(1, _MOST, is_needed=True)},
    "slow_close": {"delay": _Attribute(1, _DAY, is_needed=True)},
    "timeout": {"timeout": _Attribute(0, _DAY)},
    "reset_peer": {"timeout": _Attribute(0, _DAY)},
    "slicer": {
        "average_size": _Attribute(1, _MOST, is_needed=True),
        "delay": _Attribute(0, _MOST),
        "size_variation": _NEVER,
    },
    "limit_data": {"bytes": _Attribute(0, _MOST, is_needed=True)},
}

_CUTTING = frozenset({"timeout", "reset_peer", "limit_data"})
_WHOLLY = frozenset({"timeout", "reset_peer"})
"""They let nothing through, on any connection."""
_OF_BYTES = frozenset({"latency", "bandwidth", "slicer"})
"""They delay bytes, so what a toxic before them takes away they never see."""
_SEEN = ("type", "stream", "target")


def lint_toxics(toxics: Sequence[Toxic], place: Place) -> Iterator[Problem]:
    """Everything that is wrong with the toxics of a case, by themselves and together."""
    for index, toxic in enumerate(toxics):
        here = place / index
        yield from lint_toxic(toxic, here)
        for at, other in enumerate(toxics):
            if at != index and other.target == toxic.target and _hides(other, toxic, is_earlier=at < index):
                text = f"toxic {at} ({other.type} on {other.stream}) hides it: no attempt could tell whether it was met"
                reads = tuple(one / key for one in (place / at, here) for key in _SEEN)
                yield Problem(f"{text}; expected them in cases of their own", here, reads=reads)
                break


def _hides(other: Toxic, toxic: Toxic, *, is_earlier: bool) -> bool:
    """Whether the other toxic keeps from this one, of the same target, what it would be told by."""
    if other.stream == toxic.stream:
        return is_earlier and (
            {other.type, toxic.type} <= _CUTTING or (other.type in _WHOLLY and toxic.type in _OF_BYTES)
        )
    # where no request comes through there is no answer either
    return other.stream == "upstream" and other.type in _WHOLLY and toxic.type != "slow_close"


def lint_toxic(toxic: Toxic, place: Place) -> Iterator[Problem]:
    """Everything that is wrong with one toxic."""
    if toxic.toxicity != 1:
        yield Problem(_random("toxicity", 1, toxic.toxicity), place / "toxicity")
    known = _ATTRIBUTES[toxic.type]
    for name, value in toxic.attributes.items():
        here = place / "attributes" / name
        if name not in known:
            yield Problem(
                unknown_name(f"attribute of the type {toxic.type}", name, known), here, reads=(place / "type",)
            )
        elif why := _refusal(known[name], name, value):
            yield Problem(why, here, reads=(place / "type", here))
    if toxic.attributes.keys() - known.keys():
        return  # the one that is missing is most likely the one that was misspelt
    for name, attribute in known.items():
        if attribute.is_needed and name not in toxic.attributes:
            at = place / "attributes" if "attributes" in toxic.model_fields_set else place
            reads = (place / "type", place / "attributes" / name)
            yield Problem(f"a toxic of the type {toxic.type} needs the attribute {name}", at, reads=reads)


def _refusal(attribute: _Attribute, name: str, value: int) -> str | None:
    if attribute.least <= value <= attribute.most:
        return None
    if attribute is _NEVER:
        return _random(name, 0, value)
    return f"expected a whole number from {attribute.least} to {attribute.most}, found {describe(value)}"


def _random(name: str, only: int, found: float) -> str:
    return f"a random toxic (toxiproxy ignores its seed): expected {name} {only} or none, found {describe(found)}"
