"""Names that two things share, or that differ only by case or Unicode form."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping

from contracts.record import Json
from contracts.suite.problems import Place, Problem

_NEW = "\0"
"""No name of anything."""


def shared_names(
    kind: str, named: Iterable[tuple[str, Place]], *, taken: Mapping[str, str] | None = None
) -> Iterator[Problem]:
    """A problem for each name that an earlier one, or a taken one, already is; `taken` as `by_form` makes it."""
    # Names are read as they are written, so no rule about them depends on what is broken beside them.
    seen = dict(taken or {})
    for name, place in named:
        first = seen.setdefault(_form(name), _NEW)
        if first is _NEW:
            seen[_form(name)] = name
        elif first == name:
            yield Problem(f'the {kind} "{name}" is there twice', place, reads=())
        else:
            text = f'the {kind} "{name}" differs from "{first}" only by case or Unicode form'
            yield Problem(text, place, reads=())


def by_form(names: Iterable[str]) -> dict[str, str]:
    """The names by what is equal for all that differ only by case or Unicode form."""
    return {_form(name): name for name in names}


def names_written(items: Iterable[Json], *path: str) -> Iterator[tuple[int, str]]:
    """The index and name of every item that has a text at the path, usable or not."""
    for index, item in enumerate(items):
        value = item
        for part in path:
            value = value.get(part) if isinstance(value, dict) else None
        if isinstance(value, str):
            yield index, value


def all_names(items: Collection[Json], *path: str) -> set[str] | None:
    """The names of all items; None where one has none that can be told, for then no name is surely unknown."""
    names = [name for _, name in names_written(items, *path)]
    return set(names) if len(names) == len(items) else None


def _form(name: str) -> str:
    return name if name.isascii() and name.islower() else unicodedata.normalize("NFC", name.casefold())
