"""The control port's application without a socket: what only the order of events can show."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from fixture_api.attempts import Attempts, Selection
from fixture_api.control import make_control_app
from tests.fakes.open_world import case, request_of, world_of


async def post(app: Any, path: str, record: dict[str, Any]) -> tuple[int, Any]:
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": json.dumps(record).encode(), "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope: dict[str, Any] = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "root_path": ""}
    scope |= {"query_string": b"", "headers": [], "http_version": "1.1", "scheme": "http", "server": None}
    await app(scope, receive, send)
    return sent[0]["status"], json.loads(sent[1]["body"])


def test_closing_answers_those_who_wait_for_a_breach(tmp_path: Path) -> None:
    app = make_control_app(Attempts(world_of(tmp_path, cases=[case("one")]), Selection.PREFIX))
    key = {"case": "one", "attempt": 1}

    async def scene() -> tuple[int, Any]:
        await post(app, "/attempts", key)
        waiting = asyncio.create_task(post(app, "/attempts/breach", key))
        done, _ = await asyncio.wait([waiting], timeout=0.2)
        assert not done
        status, closed = await post(app, "/attempts/close", key)
        assert (status, closed["breached"]) == (200, None)
        return await waiting

    assert asyncio.run(scene()) == (200, {"limit": None})


def test_a_state_of_null_is_handed_out_as_null(tmp_path: Path) -> None:
    routes = [
        {
            "id": "wipe",
            "method": "POST",
            "path": "/wipe",
            "responses": [{}],
            "effects": [{"op": "replace", "path": "", "value": None}],
        }
    ]
    attempts = Attempts(world_of(tmp_path, cases=[case("one")], routes=routes), Selection.PREFIX)
    app = make_control_app(attempts)
    key = {"case": "one", "attempt": 1}

    async def scene() -> dict[str, Any]:
        _, opened = await post(app, "/attempts", key)
        attempt = attempts.by_token(opened["prefix"][2:].encode())
        assert attempt is not None
        attempt.decide(attempt.locate("POST", b"/wipe"), request_of("POST", "/wipe"))
        closed: dict[str, Any] = (await post(app, "/attempts/close", key))[1]
        return closed

    assert asyncio.run(scene())["state"] is None
