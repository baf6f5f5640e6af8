"""A problem of a suite, and how all of them become one error with file and place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

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


@dataclass(frozen=True)
class Problem:
    """What is wrong, and where: a place in a document, or a file with a line of its own."""

    text: str
    place: Place | None = None
    file: str | None = None
    line: str | None = None


@dataclass
class Problems:
    """Everything that is wrong with a suite, in the order in which it was found."""

    listed: list[Problem] = field(default_factory=list)

    def add(self, problems: Iterable[Problem]) -> None:
        """Takes over the problems."""
        self.listed.extend(problems)

    def refuse(self, suite: str) -> None:
        """Raises one LabError (suite-invalid) for all problems, if there are any."""
        if not self.listed:
            return
        count = len(self.listed)
        raise LabError(
            ErrorCode.SUITE_INVALID,
            f"the suite {suite} has {count} problem{'s' if count > 1 else ''}",
            found=_found(self.listed),
            next_step=f"edit what is named above, then: labctl cases lint {suite}",
        )


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that looks most like the given one; None when none is near."""
    import difflib  # noqa: PLC0415 - only an error needs it

    by_folded = {one.casefold(): one for one in known}
    near = difflib.get_close_matches(name.casefold(), by_folded, n=1)
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


def _found(problems: list[Problem]) -> list[Found]:
    wanted: dict[Document, set[Path]] = defaultdict(set)
    for problem in problems:
        if problem.place:
            wanted[problem.place.document].add(problem.place.path)
    lines = {document: _lines(document, paths) for document, paths in wanted.items()}
    return [_one_found(problem, lines) for problem in problems]


def _one_found(problem: Problem, lines: dict[Document, dict[Path, int]]) -> Found:
    if not problem.place:
        return Found(text=problem.text, file=problem.file, place=problem.line)
    document, path = problem.place.document, problem.place.path
    line = lines[document].get(path)
    name = ".".join(str(part) for part in path) if document.is_toml else pointer_of(path)
    place = " ".join(part for part in (name, f"(line {line})" if line else "") if part)
    return Found(text=problem.text, file=document.file, place=place or None)


def _lines(document: Document, paths: set[Path]) -> dict[Path, int]:
    if document.is_toml:
        known = toml_lines(document.text)
        starts = {path: next((path[:n] for n in range(len(path), 0, -1) if path[:n] in known), None) for path in paths}
        return {path: known[start] for path, start in starts.items() if start}
    lines = Lines(document.text)
    return {path: lines.line_at(offset) for path, offset in json_offsets(document.text, paths).items()}
