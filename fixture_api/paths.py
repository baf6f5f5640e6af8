"""A table of values by method and path template: one dictionary look-up per shape of path, however many there are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter, itemgetter
from typing import Generic, NamedTuple, TypeVar

from contracts.suite.route_order import is_param, path_segments

V = TypeVar("V")


class PathTemplate(NamedTuple):
    """A path template, taken apart."""

    literals: tuple[tuple[int, str], ...]
    """Place and text of the segments that must be equal."""
    params: tuple[tuple[int, str], ...]
    """Place and name of the segments that may be anything but empty."""
    length: int


def parse_template(path: str) -> PathTemplate:
    """`/orders/{id}` as literals and parameters; a parameter is a whole segment."""
    segments = path_segments(path)
    params = tuple((place, text[1:-1]) for place, text in enumerate(segments) if is_param(text))
    literals = tuple((place, text) for place, text in enumerate(segments) if not is_param(text))
    return PathTemplate(literals=literals, params=params, length=len(segments))


class Entry(NamedTuple, Generic[V]):
    """A value with its rank: of two that both fit, the lower rank is asked first."""

    rank: int
    value: V
    template: PathTemplate


_BY_RANK = attrgetter("rank")


class _Shape(NamedTuple, Generic[V]):
    """All templates whose literals stand at the same places."""

    key_of: Callable[[Sequence[str]], object]
    entries: dict[object, list[Entry[V]]]


class PathTable(Generic[V]):
    """Finds the values whose template fits a path."""

    def __init__(self, rows: Iterable[tuple[str, str, V]]) -> None:
        """`rows` are method, path template and value, in order of preference."""
        self._shapes: dict[tuple[str, int], list[_Shape[V]]] = {}
        places: dict[tuple[str, int, tuple[int, ...]], _Shape[V]] = {}
        for rank, (method, path, value) in enumerate(rows):
            template = parse_template(path)
            at = tuple(place for place, _ in template.literals)
            shape = places.get((method, template.length, at))
            if shape is None:
                shape = places[method, template.length, at] = _Shape(_key_maker(at), {})
                self._shapes.setdefault((method, template.length), []).append(shape)
            key = shape.key_of(path_segments(path))
            shape.entries.setdefault(key, []).append(Entry(rank, value, template))

    def fitting(self, method: str, segments: Sequence[str]) -> list[Entry[V]]:
        """The entries whose template fits, most preferred first; an empty parameter fits nothing."""
        shapes = self._shapes.get((method, len(segments)))
        if shapes is None:
            return []
        entries: list[Entry[V]] = []
        for shape in shapes:
            hit = shape.entries.get(shape.key_of(segments))
            if hit:
                entries = hit if not entries else sorted([*entries, *hit], key=_BY_RANK)
        return (
            entries if "" not in segments else [e for e in entries if all(segments[at] for at, _ in e.template.params)]
        )


def _key_maker(places: tuple[int, ...]) -> Callable[[Sequence[str]], object]:
    return itemgetter(*places) if places else lambda _segments: ()
