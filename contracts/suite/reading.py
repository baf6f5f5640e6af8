"""Reads the files of a suite: inside its folder, UTF-8, strict JSON or TOML; every refusal says where."""

from __future__ import annotations

import errno
import json
import math
import os
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from contracts.record import Json
from contracts.suite.places import duplicate_keys
from contracts.suite.problems import Document, Problem, nearest

LARGEST_EXACT_INTEGER = 2**53 - 1
"""Beyond it canonical JSON (RFC 8785) has no exact number."""
_SHOWN_CHARACTERS = 40
_BOM = b"\xef\xbb\xbf"


class UnreadableError(Exception):
    """The file cannot be used; carries the problem."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.text)
        self.problem = problem


@dataclass(frozen=True)
class UnfitNumber:
    """Stands for a number that canonical JSON cannot carry."""

    text: str


@dataclass(frozen=True)
class SuiteFolder:
    """The folder of a suite; nothing outside it is read."""

    root: Path

    @cached_property
    def _resolved(self) -> Path:
        """Once for all files: following its links is most of what finding a small file costs."""
        return self.root.resolve()

    def shown(self, relative: str) -> str:
        """The file as the user knows it: below the name of the suite's folder."""
        return f"{self._resolved.name}/{relative}"

    def find(self, relative: str) -> Path:
        """The file of a path as a suite file writes it.

        Raises:
            UnreadableError: it is absolute, leads outside the suite (also through a link), or is no regular file.

        """
        why = self.refusal(relative)
        if why:
            raise UnreadableError(Problem(why, file=self.shown(relative)))
        return self.root / relative

    def refusal(self, relative: str, *, folder: bool = False) -> str | None:
        """Why the path cannot be used, or None."""
        try:
            return self._refusal(relative, folder=folder)
        except OSError as error:
            if error.errno != errno.ENAMETOOLONG:
                raise
            return f'"{relative[:_SHOWN_CHARACTERS]}…" is no usable path: {error.strerror}'

    def _refusal(self, relative: str, *, folder: bool) -> str | None:
        path = self.root / relative
        if not relative or "\0" in relative:
            return "no usable path"
        if Path(relative).is_absolute():
            return f'"{relative}" leads outside the suite'
        if path.is_symlink() and not path.exists():
            return f'"{relative}" is a link that leads nowhere'
        if not self.holds(path):
            return f'"{relative}" leads outside the suite'
        if folder:
            return None if path.is_dir() else f'no folder "{relative}" in the suite{self._near(path, folder=True)}'
        return self._refusal_of_file(relative, path)

    def _refusal_of_file(self, relative: str, path: Path) -> str | None:
        if path.is_file():
            return None
        if path.is_dir():
            return f'"{relative}" is a folder, expected a file'
        if path.exists():
            return f'"{relative}" is no regular file'
        return f'no file "{relative}" in the suite{self._near(path, folder=False)}'

    def _near(self, path: Path, *, folder: bool) -> str:
        """What else of the same folder could have been meant."""
        beside = path.parent.iterdir() if path.parent.is_dir() and self.holds(path.parent) else ()
        near = nearest(path.name, sorted(one.name for one in beside if one.is_dir() == folder))
        return f'; did you mean "{(path.parent / near).relative_to(self.root).as_posix()}"?' if near else ""

    def has(self, relative: str) -> bool:
        """True when something has that name in the suite, also a link that leads nowhere."""
        return os.path.lexists(self.root / relative)

    def holds(self, path: Path) -> bool:
        """True when the path is in the suite, also after all links are followed; a link to itself is nowhere."""
        try:
            return path.resolve().is_relative_to(self._resolved)
        except RuntimeError:
            return False

    def read_text(self, relative: str) -> str:
        """The file's text; raises UnreadableError, also for a byte order mark and for bytes that are not UTF-8."""
        path = self.find(relative)
        file = self.shown(relative)
        try:
            content = path.read_bytes()
        except OSError as error:
            raise UnreadableError(Problem(f"cannot be read: {error.strerror}", file=file)) from error
        if content.startswith(_BOM):
            raise UnreadableError(
                Problem("begins with a byte order mark; save it as UTF-8 without one", file=file, line="line 1")
            )
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise UnreadableError(Problem("holds bytes that are not UTF-8", file=file, line=f"line {line}")) from error


def read_json(folder: SuiteFolder, relative: str) -> tuple[Document, list[Problem]]:
    """A JSON file and what is wrong with its keys and numbers; raises UnreadableError when it is no JSON."""
    text = folder.read_text(relative)
    file = folder.shown(relative)
    parser = StrictParser()
    try:
        value = parser.parse(text)
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, column {error.colno}"
        raise UnreadableError(Problem(f"no valid JSON: {error.msg}", file=file, line=line)) from error
    except RecursionError as error:
        raise _too_deep(file) from error
    document = Document(file=file, text=text, value=value)
    problems: list[Problem] = []
    if parser.repeats_keys:
        problems += [
            Problem(f'the key "{path[-1]}" is there twice', document.place(*path)) for path in duplicate_keys(text)
        ]
    if parser.has_unfit_numbers:
        problems += unfit_numbers(document)
    return document, problems


def read_toml(folder: SuiteFolder, relative: str) -> tuple[Document, list[Problem]]:
    """A TOML file and what is wrong with its numbers; raises UnreadableError when it is no TOML."""
    text = folder.read_text(relative)
    file = folder.shown(relative)
    try:
        value = _fit_for_json(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        what, _, where = str(error).removesuffix(")").rpartition(" (at ")
        raise UnreadableError(
            Problem(f"no valid TOML: {what or where}", file=file, line=where if what else None)
        ) from error
    except RecursionError as error:
        raise _too_deep(file) from error
    document = Document(file=file, text=text, value=value, is_toml=True)
    return document, list(unfit_numbers(document))


def _too_deep(file: str) -> UnreadableError:
    return UnreadableError(Problem("nested too deeply", file=file))


def unfit_numbers(document: Document) -> Iterator[Problem]:
    """A problem for every number that canonical JSON cannot carry."""
    waiting: list[tuple[tuple[str | int, ...], Json]] = [((), document.value)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, UnfitNumber):
            text = value.text if len(value.text) <= 40 else value.text[:40] + "…"  # noqa: PLR2004 - enough to see it
            yield Problem(
                f"{text} cannot be used: expected a finite number, and a whole one within ±(2^53 - 1)",
                document.place(*path),
            )
        elif isinstance(value, dict):
            waiting += [((*path, key), one) for key, one in reversed(value.items())]
        elif isinstance(value, list):
            waiting += [((*path, index), one) for index, one in reversed(list(enumerate(value)))]


class StrictParser:
    """`json.loads` that notices repeated keys and numbers that canonical JSON cannot carry."""

    def __init__(self) -> None:
        self.repeats_keys = False
        self.has_unfit_numbers = False
        self._decoder = json.JSONDecoder(
            object_pairs_hook=self._object,
            parse_int=self._integer,
            parse_float=self._real,
            parse_constant=self._unfit,
        )

    def parse(self, text: str) -> Json:
        """The value that the whole text is; raises JSONDecodeError and RecursionError."""
        return self._decoder.decode(text)

    def parse_at(self, text: str, at: int) -> tuple[Json, int]:
        """The value that begins at an index of the text, and where it ends; raises as `parse` does."""
        return self._decoder.raw_decode(text, at)

    def _object(self, pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        members = dict(pairs)
        if len(members) != len(pairs):
            self.repeats_keys = True
        return members

    def _integer(self, text: str) -> int | UnfitNumber:
        if len(text) < 16 or (len(text) < 20 and abs(int(text)) <= LARGEST_EXACT_INTEGER):  # noqa: PLR2004 - digits
            return int(text)
        return self._unfit(text)

    def _real(self, text: str) -> float | UnfitNumber:
        number = float(text)
        return number if math.isfinite(number) else self._unfit(text)

    def _unfit(self, text: str) -> UnfitNumber:
        self.has_unfit_numbers = True
        return UnfitNumber(text)


def _fit_for_json(value: Any) -> Json:
    """The TOML value as a JSON value: instants become RFC 3339 text, unfit numbers are marked."""
    if isinstance(value, dict):
        return {key: _fit_for_json(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_fit_for_json(one) for one in value]
    if isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return value if abs(value) <= LARGEST_EXACT_INTEGER else UnfitNumber(str(value))
    if isinstance(value, float):
        return value if math.isfinite(value) else UnfitNumber(str(value))
    return value.isoformat().replace("+00:00", "Z")
