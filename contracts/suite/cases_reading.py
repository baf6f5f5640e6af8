"""Reads cases.json case by case, so that a suite of many is never in memory as a whole."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from pydantic import ValidationError

from contracts.record import Json
from contracts.suite.case import Case, CasesFile
from contracts.suite.digests import case_digest
from contracts.suite.kept_cases import CaseDigests, CaseKeeper, KeptCases
from contracts.suite.reading import StrictParser

_CASES = "cases"
_SPACE = re.compile(r"[ \t\n\r]*")


class _UnusualError(ValueError):
    """Something that is no JSON, or not what cases.json has."""


@dataclass(frozen=True)
class CasesRead:
    """A cases.json in which every case has the right shape."""

    head: dict[str, Json]
    """Everything but the cases, as written."""
    cases: KeptCases
    digests: CaseDigests
    """Those of cases without a working directory; what stands there for the others is none."""


def read_cases(text: str) -> CasesRead | None:
    """The cases of the file; None where anything of it is wrong or unusual: then only the whole of it tells what."""
    try:
        return _Reading(text).read()
    except (_UnusualError, ValidationError, json.JSONDecodeError, RecursionError):
        return None


class _Reading:
    """One walk over the text of a file."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._parser = StrictParser()
        self._keeper = CaseKeeper()
        self._head: dict[str, Json] = {}

    def read(self) -> CasesRead:
        end = self._members(self._past("{", self._space(0)))
        if self._space(end) != len(self._text):
            raise _UnusualError
        whole = json.dumps({**self._head, _CASES: []})
        CasesFile.model_validate_json(whole, by_alias=True, by_name=False)
        cases, digests = self._keeper.kept(), self._keeper.digests()
        if not cases or len(digests) != len(cases):  # an id is there twice
            raise _UnusualError
        return CasesRead(head=self._head, cases=cases, digests=digests)

    def _members(self, at: int) -> int:
        """Past the members of the whole, of which the first begins at `at`, and its brace."""
        names: set[str] = set()
        while True:
            name, end = self._value(at)
            if not isinstance(name, str) or name in names:
                raise _UnusualError
            names.add(name)
            at = self._past(":", self._space(end))
            if name == _CASES:
                end = self._cases(self._past("[", at))
            else:
                self._head[name], end = self._value(at)
            at = self._space(end)
            if self._text.startswith("}", at):
                return at + 1
            at = self._past(",", at)

    def _cases(self, at: int) -> int:
        """Past the cases, of which the first begins at `at`, and their bracket."""
        while True:
            written, end = self._value(at)
            self._take(written, self._text[at:end].encode())
            at = self._space(end)
            if self._text.startswith("]", at):
                return at + 1
            at = self._past(",", at)

    def _take(self, written: Json, text: bytes) -> None:
        case = Case.model_validate_json(text, by_alias=True, by_name=False)
        self._keeper.add(case, text=text, digest=case_digest(written))

    def _value(self, at: int) -> tuple[Json, int]:
        """The JSON value that begins at `at`, and its end."""
        found = self._parser.parse_at(self._text, at)
        if self._parser.repeats_keys or self._parser.has_unfit_numbers:
            raise _UnusualError
        return found

    def _space(self, at: int) -> int:
        """Past white space."""
        found = _SPACE.match(self._text, at)
        return found.end() if found else at

    def _past(self, mark: str, at: int) -> int:
        """Past the mark that must stand at `at`, and the white space after it."""
        if not self._text.startswith(mark, at):
            raise _UnusualError
        return self._space(at + 1)
