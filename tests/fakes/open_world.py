"""Worlds for tests: a small suite, read by the real loader, asked without any socket."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from contracts.control import AttemptClosed, AttemptKey, AttemptOpening
from contracts.suite.loading import load_suite
from fixture_api.attempt import Attempt
from fixture_api.attempts import Attempts, Selection
from fixture_api.clock import fixed_clock
from fixture_api.journal import Decision
from fixture_api.request import WorldRequest, read_request, read_target
from fixture_api.world import World, compile_world
from tests.fakes.suite_folder import CASE, SuiteFolder

CLOCK = "2026-09-01T12:00:00Z"
PREFIX_LENGTH = 34


def case(case_id: str, **keys: Any) -> dict[str, Any]:
    return {**CASE, "id": case_id, **keys}


def world_of(folder: Path, **files: Any) -> World:
    """`files` are the fields of SuiteFolder."""
    suite = load_suite(SuiteFolder(folder / "suite", **{"tools": [], **files}).write())
    return compile_world(suite, fixed_clock(CLOCK, timezone="UTC"))


def target_of(target: str) -> tuple[bytes, bytes]:
    path, _, query = target.encode().partition(b"?")
    return path, query


def request_of(method: str, target: str, json_body: Any = None, *, body: bytes = b"", **headers: str) -> WorldRequest:
    raw_path, query = target_of(target)
    wire = [(name.replace("_", "-").lower().encode(), value.encode()) for name, value in headers.items()]
    if json_body is not None:
        wire.append((b"content-type", b"application/json"))
        body = json.dumps(json_body).encode()
    return read_request(read_target(method, raw_path), query_string=query, headers=wire, body=body)


class OpenAttempt:
    """One attempt that is asked directly."""

    def __init__(self, attempts: Attempts, **opening: Any) -> None:
        self.opening = AttemptOpening(**{"case": "one", "attempt": 1, **opening})
        self._attempts = attempts
        self.prefix = attempts.open(self.opening)
        found = attempts.by_token(self.prefix[2:].encode())
        assert found is not None
        self.attempt: Attempt = found

    def ask(self, method: str, target: str, json_body: Any = None, **rest: Any) -> Decision:
        location = self.attempt.locate(method, target_of(target)[0])
        return self.attempt.decide(location, request_of(method, target, json_body, **rest))

    def read(self, method: str, target: str, json_body: Any = None, **rest: Any) -> tuple[int, Any]:
        """Status and JSON body of the answer."""
        answer = self.ask(method, target, json_body, **rest).answer
        return answer.status, json.loads(answer.body) if answer.body else None

    def close(self) -> AttemptClosed:
        return self._attempts.close(AttemptKey(case=self.opening.case, attempt=self.opening.attempt))


def open_attempt(folder: Path, *, opening: dict[str, Any] | None = None, **files: Any) -> OpenAttempt:
    """An attempt of the case `one` unless `opening` says otherwise."""
    files = {"cases": [case("one")], **files}
    return OpenAttempt(Attempts(world_of(folder, **files), Selection.HAND), **(opening or {}))
