"""What comes to /mcp: the SDK's answers, our calls, and nothing of either in a log."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import pytest

from contracts.suite.loading import load_suite
from fixture_api.answers import make_answer, make_head
from fixture_api.journal import Decision, Ending
from fixture_api.mcp_door import McpDoor
from tests.fakes.mcp_suite import ACCEPT, BOUND, CLIENT, ROUTES, SCHEMA, STATE, TOOLS, call_of, message, tool
from tests.fakes.open_world import OpenAttempt, open_attempt

HEADERS = [(b"accept", ACCEPT.encode()), (b"content-type", b"application/json")]
ALIEN = [(b"host", b"elsewhere.example"), (b"origin", b"http://evil.example"), (b"mcp-session-id", b"none")]


class Door:
    """A door with one attempt behind it."""

    def __init__(self, folder: Path, **files: Any) -> None:
        self.one: OpenAttempt = open_attempt(folder, **{"routes": ROUTES, "tools": TOOLS, "state": STATE, **files})
        self.door = McpDoor(load_suite(folder / "suite").tools, revision="r-1")

    async def decide(self, sent: Any, *, method: str = "POST", headers: Any = HEADERS) -> Decision:
        body = sent if isinstance(sent, bytes) else json.dumps(sent).encode()
        return await self.door.decide(self.one.attempt, method=method, headers=headers, body=body)

    def ask(self, *sent: Any, **rest: Any) -> list[Any]:
        """The JSON bodies of the answers to messages, one after the other."""

        async def all_of_them() -> list[Decision]:
            return [await self.decide(one, **rest) for one in sent]

        return [json.loads(decision.answer.body) for decision in asyncio.run(all_of_them())]


@pytest.fixture
def door(tmp_path: Path) -> Door:
    return Door(tmp_path)


def test_a_server_names_itself_and_the_suites_revision_and_offers_tools_only(door: Door) -> None:
    (answer,) = door.ask(message("initialize", CLIENT))
    assert answer["result"] == {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {"listChanged": False}},
        "serverInfo": {"name": "fixture-api", "version": "r-1"},
    }


@pytest.mark.parametrize("message_id", [1.5, 1.0, True, None, [1], {"a": 1}])
def test_a_request_whose_id_is_none_that_the_protocol_knows_is_refused_and_calls_nothing(
    door: Door, message_id: Any
) -> None:
    (answer,) = door.ask({**call_of("slow"), "id": message_id})
    assert (answer["jsonrpc"], answer["id"], answer["error"]["code"]) == ("2.0", None, -32600)
    assert door.one.close().served == ()


def test_bound_tools_are_listed_in_the_suites_order_with_their_whole_schema(door: Door) -> None:
    (answer,) = door.ask(message("tools/list"))
    tools = answer["result"]["tools"]
    assert [one["name"] for one in tools] == BOUND
    assert tools[0] == {"name": "refund", "description": "Pays money back.", "inputSchema": SCHEMA}
    assert tools[-1] == {"name": "nowhere", "inputSchema": {"type": "object"}}


def test_a_suite_without_bound_tools_lists_none(tmp_path: Path) -> None:
    (answer,) = Door(tmp_path, tools=[tool("think", None)]).ask(message("tools/list"))
    assert answer["result"] == {"tools": []}


@pytest.mark.parametrize("name", ["think", "none"])
def test_an_unbound_tool_is_as_unknown_as_one_that_is_not_there(door: Door, name: str) -> None:
    (answer,) = door.ask(call_of(name))
    assert answer["error"] == {"code": -32602, "message": f"Unknown tool: {name}"}
    assert door.one.close().served == ()


def test_calls_that_cannot_be_made_count_for_the_limit_and_those_of_a_bound_tool_leave_a_row(tmp_path: Path) -> None:
    door = Door(tmp_path, opening={"tool_call_limit": 2})
    unknown, unmade, over, at_last = door.ask(call_of("none"), call_of("order"), call_of("none"), call_of("slow"))
    assert "Unknown tool" in unknown["error"]["message"]
    assert "no argument id" in unmade["result"]["content"][0]["text"]
    for refused in (over, at_last):
        assert "Tool call limit" in refused["result"]["content"][0]["text"]
    closed = door.one.close()
    assert closed.breached == "tool_calls"
    assert [(served.row.tool, served.row.status) for served in closed.served] == [("order", 400)]


def test_arguments_are_the_worlds_to_judge_and_not_the_schemas(door: Door) -> None:
    left_out, unknown = door.ask(call_of("refund"), call_of("refund", amount="many", more=1))
    assert left_out["result"]["isError"]
    assert json.loads(left_out["result"]["content"][0]["text"])["status"] == 404
    assert not unknown["result"]["isError"]
    assert [served.row.status for served in door.one.close().served] == [404, 201]


def test_a_call_without_arguments_is_a_call_with_none(door: Door) -> None:
    (answer,) = door.ask(message("tools/call", {"name": "slow"}))
    assert answer["result"] == {"content": [{"type": "text", "text": "slöw"}], "isError": False}


def test_any_host_and_origin_may_come(door: Door) -> None:
    (answer,) = door.ask(message("ping"), headers=[*HEADERS, *ALIEN])
    assert answer["result"] == {}


def test_a_cursor_that_nobody_gave_out_is_refused(door: Door) -> None:
    (answer,) = door.ask(message("tools/list", {"cursor": "2"}))
    assert answer["error"]["code"] == -32602


@pytest.mark.parametrize("ending", [Ending.HELD, Ending.CUT])
def test_a_fault_of_the_answer_is_a_fault_of_the_exchange(
    door: Door, monkeypatch: pytest.MonkeyPatch, ending: Ending
) -> None:
    planned = Decision(make_answer(make_head(200, {}), b'{"a'), delay_ms=7, fault="timeout#0", ending=ending)
    monkeypatch.setattr(door.one.attempt, "decide", lambda *_, **__: planned)
    decision = asyncio.run(door.decide(call_of("slow")))
    assert decision.delay_ms == 7
    # an answer that was cut off is told as such, in a whole one
    assert decision.ending is (Ending.HELD if ending is Ending.HELD else Ending.WHOLE)
    result = json.loads(decision.answer.body)["result"]
    assert result["isError"]
    assert "cut off" in result["content"][0]["text"]


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "HEAD"])
def test_only_post_is_taken(door: Door, method: str) -> None:
    answer = asyncio.run(door.decide(b"", method=method)).answer
    assert (answer.status, answer.headers["allow"]) == (405, "POST")


def test_an_attempt_that_ended_meanwhile_is_not_there(door: Door) -> None:
    door.one.close()
    assert asyncio.run(door.decide(message("ping"))).answer.status == 404


def test_the_sdk_is_loaded_once_for_all_who_come_at_once(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[int] = []
    load = door.door._load

    def counted() -> Any:
        loads.append(1)
        return load()

    monkeypatch.setattr(door.door, "_load", counted)

    async def at_once() -> list[Decision]:
        return await asyncio.gather(*(door.decide(message("ping")) for _ in range(5)))

    assert {decision.answer.status for decision in asyncio.run(at_once())} == {200}
    assert loads == [1]


def test_a_bug_behind_a_call_is_raised_and_nothing_of_the_call_is_logged(
    door: Door, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: Any, **__: Any) -> Decision:
        raise LookupError("secret-argument")

    monkeypatch.setattr(door.one.attempt, "decide", broken)
    with pytest.raises(LookupError):
        asyncio.run(door.decide(call_of("slow", x="secret-argument")))
    logged = capsys.readouterr().err
    assert "fixture_api: ERROR: mcp." in logged
    assert "LookupError" in logged
    assert "secret-argument" not in logged


def test_what_agents_do_wrong_is_not_logged(door: Door, capsys: pytest.CaptureFixture[str]) -> None:
    bad = [b"{", {}, [], message("x" * 50), message("notifications/cancelled", {"requestId": []}, message_id=None)]
    for sent in bad:
        asyncio.run(door.decide(sent))
    assert capsys.readouterr().err == ""
    assert not logging.getLogger("mcp").propagate
