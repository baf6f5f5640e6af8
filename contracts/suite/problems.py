"""A problem of a suite, and how all of them become one error with file and place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from contracts.errors import ErrorCode, Found, LabError
from contracts.record import Json
from contracts.suite.places import Lines, Path, json_offsets, pointer_of, toml_lines


@dataclass(frozen=True, eq=False)
class Document:
    """One file of the suite as it was parsed."""

    file: str
    """As the user knows it, such as `fixtures/cases.json`."""
    text: str
    value: Json
    is_toml: bool = False

    def place(self, *path: str | int) -> Place:
        """The place of a path in this document."""
        return Place(document=self, path=path)


@dataclass(frozen=True)
class Place:
    """A value in a document."""

    document: Document
    path: Path = ()

    def __truediv__(self, part: str | int) -> Place:
        return Place(document=self.document, path=(*self.path, part))

    def value(self) -> Json:
        """What is written there; raises KeyError or IndexError when nothing is."""
        value = self.document.value
        for part in self.path:
            value = value[part]
        return value

    def below(self, path: Path) -> Place:
        """The place of a path below this one."""
        return Place(document=self.document, path=(*self.path, *path))


@dataclass(frozen=True)
class Problem:
    """What is wrong, and where: a place in a document, or a file with a line of its own."""

    text: str
    place: Place | None = None
    file: str | None = None
    line: str | None = None
    reads: tuple[Place | None, ...] | None = field(default=None, compare=False)
    """What the rule read beside names that are right by themselves; None: what stands at the place."""


@dataclass
class Problems:
    """Everything that is wrong with a suite, in the order in which it was found."""

    listed: list[Problem] = field(default_factory=list)

    def add(self, problems: Iterable[Problem]) -> None:
        """Takes over the problems."""
        self.listed.extend(problems)

    def refuse(self, suite: str, *, files: Sequence[str] = ()) -> None:
        """Raises one LabError (suite-invalid) for all problems, if there are any; `files` come first, in that order."""
        if not self.listed:
            return
        found = _found(self.listed, files)
        count = len(found)
        raise LabError(
            ErrorCode.SUITE_INVALID,
            f"the suite {suite} has {count} problem{'s' if count > 1 else ''}",
            found=found,
            next_step=f"edit what is named above, then: labctl cases lint {suite}",
        )


def nearest(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """The known name that looks most like the given one; None when none is as near as `cutoff` (0 to 1) asks."""
    import difflib  # noqa: PLC0415 - only an error needs it

    by_folded = {one.casefold(): one for one in known}
    near = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=cutoff)
    return by_folded[near[0]] if near else None


def unknown_name(kind: str, name: str, known: Iterable[str]) -> str:
    """`unknown KIND "name"`, with the nearest known name or else the known ones."""
    known = sorted(known)
    near = nearest(name, known)
    if near:
        return f'unknown {kind} "{name}"; did you mean "{near}"?'
    if not known:
        return f'unknown {kind} "{name}"; the suite declares none'
    listed = ", ".join(known[:20]) + (", …" if len(known) > 20 else "")  # noqa: PLR2004 - as many as a person reads
    return f'unknown {kind} "{name}"; known: {listed}'


class _Spot(NamedTuple):
    """Where a value stands in the text of its file."""

    offset: int
    line: int


def _found(problems: Iterable[Problem], files: Sequence[str]) -> list[Found]:
    """Each problem once, in the order of the files and of the places in them."""
    wanted: dict[Document, set[Path]] = defaultdict(set)
    for problem in problems:
        if problem.place:
            wanted[problem.place.document].add(problem.place.path)
    spots = {document: _spots(document, paths) for document, paths in wanted.items()}
    ranks = {file: rank for rank, file in enumerate(files)}

    def rank(problem: Problem) -> tuple[int, str, int]:
        file = (problem.place.document.file if problem.place else problem.file) or ""
        spot = spots[problem.place.document].get(problem.place.path) if problem.place else None
        return ranks.get(file, len(ranks)), file, spot.offset if spot else 0

    return [_one_found(problem, spots) for problem in sorted(dict.fromkeys(problems), key=rank)]


def _one_found(problem: Problem, spots: dict[Document, dict[Path, _Spot]]) -> Found:
    if not problem.place:
        return Found(text=problem.text, file=problem.file, place=problem.line)
    document, path = problem.place.document, problem.place.path
    spot = spots[document].get(path)
    name = ".".join(str(part) for part in path) if document.is_toml else pointer_of(path)
    place = " ".join(part for part in (name, f"(line {spot.line})" if spot else "") if part)
    return Found(text=problem.text, file=document.file, place=place or None)


def _spots(document: Document, paths: set[Path]) -> dict[Path, _Spot]:
    """The spot of each path, or of what is nearest above it in the text."""
    above = {path: [path[:length] for length in range(len(path), -1, -1)] for path in paths}
    if document.is_toml:
        known = {path: _Spot(line, line) for path, line in toml_lines(document.text).items()}
    else:
        lines = Lines(document.text)
        offsets = json_offsets(document.text, {one for ones in above.values() for one in ones})
        known = {path: _Spot(offset, lines.line_at(offset)) for path, offset in offsets.items()}
    starts = {path: next((one for one in ones if one in known), None) for path, ones in above.items()}
    return {path: known[start] for path, start in starts.items() if start is not None}
