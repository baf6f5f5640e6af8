"""The open attempts: by secret prefix, by case for header selection, and by name for the control port."""

from __future__ import annotations

import re
import secrets
from enum import StrEnum

from contracts.control import AttemptClosed, AttemptKey, AttemptOpening
from contracts.own_address import OwnAddress
from fixture_api.attempt import Attempt
from fixture_api.world import World

_TOKEN_BYTES = 16
_LIKE_A_TOKEN = re.compile(f"(?=([0-9a-f]{{{2 * _TOKEN_BYTES}}}))")


class Selection(StrEnum):
    """FIXTURE_SELECT: whether requests without a prefix may name a case."""

    HAND = "hand"
    PREFIX = "prefix"
    HEADER = "header"


class UnknownNameError(LookupError):
    """A case, model or attempt that is not there."""


class AlreadyOpenError(ValueError):
    """An attempt that is in the way, or a selection that this process does not allow."""


class Attempts:
    """All open attempts; a closed one leaves nothing behind."""

    def __init__(self, world: World, selection: Selection) -> None:
        self.world = world
        self.selection = selection
        self._by_token: dict[bytes, Attempt] = {}
        self._by_header: dict[str, Attempt] = {}
        self._by_key: dict[tuple[str, int], tuple[bytes, Attempt]] = {}

    def open(self, opening: AttemptOpening) -> str:
        """Opens an attempt and returns its prefix; raises UnknownNameError or AlreadyOpenError."""
        key = (opening.case, opening.attempt)
        if key in self._by_key:
            raise AlreadyOpenError(f"attempt {opening.attempt} of case {opening.case!r} is open")
        if opening.select == "header":
            self._check_header(opening.case)
        attempt = self._make(opening)
        token = secrets.token_hex(_TOKEN_BYTES)
        attempt.address = OwnAddress(token)
        self._by_token[token.encode()] = attempt
        self._by_key[key] = (token.encode(), attempt)
        if opening.select == "header":
            self._by_header[opening.case] = attempt
        return "/~" + token

    def close(self, key: AttemptKey) -> AttemptClosed:
        """Ends an attempt and hands out its rows; raises UnknownNameError."""
        token, attempt = self._named(key)
        del self._by_key[key.case, key.attempt], self._by_token[token]
        if self._by_header.get(key.case) is attempt:
            del self._by_header[key.case]
        return attempt.close()

    def open_attempt(self, key: AttemptKey) -> Attempt:
        """The open attempt of that name; raises UnknownNameError."""
        return self._named(key)[1]

    def by_token(self, token: bytes) -> Attempt | None:
        """The attempt whose prefix has this token of 32 hex digits."""
        return self._by_token.get(token)

    def is_secret(self, text: str) -> bool:
        """True where the text has the token of an open attempt in it, in any letter case."""
        found = (match[1].encode() for match in _LIKE_A_TOKEN.finditer(text.lower()))
        return any(token in self._by_token for token in found)

    def by_header(self, case_id: str) -> Attempt | None:
        """The open attempt that the header selects, else a fresh world of that case; None: no such case."""
        attempt = self._by_header.get(case_id)
        if attempt is not None:
            return attempt
        if not self.world.has_case(case_id):
            return None
        prompt, model = self.world.default_prompt, self.world.default_model
        return self._make(AttemptOpening(case=case_id, attempt=0, prompt=prompt, model=model, select="header"))

    def _make(self, opening: AttemptOpening) -> Attempt:
        case = self.world.case(opening.case)
        if case is None:
            raise UnknownNameError(f"the suite has no case {opening.case!r}")
        model = None
        if opening.model is not None:
            model = self.world.models.get(opening.model)
            if model is None:
                raise UnknownNameError(f"the suite has no scripted model {opening.model!r}")
        return Attempt(opening, case, model)

    def _check_header(self, case_id: str) -> None:
        if self.selection is Selection.PREFIX:
            raise AlreadyOpenError("select=header needs FIXTURE_SELECT=header or hand; this process has prefix")
        if case_id in self._by_header:
            raise AlreadyOpenError(f"an attempt of case {case_id!r} is open, and the header selects one of a case")

    def _named(self, key: AttemptKey) -> tuple[bytes, Attempt]:
        entry = self._by_key.get((key.case, key.attempt))
        if entry is None:
            raise UnknownNameError(f"attempt {key.attempt} of case {key.case!r} is not open")
        return entry
