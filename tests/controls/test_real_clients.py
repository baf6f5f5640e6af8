"""Clients that were not written here talk with the scripted model, call the tools, and leave the rows they should."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.fixture_process import FixtureProcess
from tests.fakes.refund_clients import BY_HAND, CLIENTS, Conversation, with_httpx, with_mcp
from tests.fakes.refund_desk import ANSWER, ROWS, opened, refund_desk, summary


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return refund_desk(tmp_path_factory.mktemp("suites") / "suite")


def nameless(closed: dict[str, Any]) -> list[dict[str, Any]]:
    """What was served, but for the attempt's number."""
    return [{**served, "row": {**served["row"], "attempt": 0}} for served in closed["served"]]


def tool_rows(closed: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of tools, but for the door and the place among the others."""
    rows = [served["row"] for served in nameless(closed) if served["row"]["tool"]]
    return [{key: value for key, value in row.items() if key not in ("via", "sequence")} for row in rows]


@pytest.fixture(scope="module")
def expected(api: FixtureProcess) -> dict[str, Any]:
    """What one conversation leaves."""
    desk = opened(api)
    assert with_httpx(desk.url) == ANSWER
    return desk.close()


@pytest.mark.parametrize("client", CLIENTS)
def test_a_real_client_has_the_whole_conversation(
    api: FixtureProcess, expected: dict[str, Any], client: Conversation
) -> None:
    desk = opened(api)
    assert client(desk.url) == ANSWER
    closed = desk.close()
    assert summary(closed) == ROWS
    assert closed["state"] == {
        "orders": {"a-1": {"amount": 1250, "status": "refunded"}},
        "refunds": [{"order_id": "a-1", "amount": 1250}],
    }
    assert [served["arguments"] for served in closed["served"] if served["row"]["tool"]] == [
        {"order_id": "a-1"},
        {"order_id": "a-1", "amount": 1250},
    ]
    assert tool_rows(closed) == tool_rows(expected)
    if client in BY_HAND:
        assert nameless(closed) == nameless(expected)


@pytest.mark.parametrize("client", CLIENTS)
def test_by_the_header_alone_it_has_the_same_one(
    api: FixtureProcess, expected: dict[str, Any], client: Conversation
) -> None:
    desk = opened(api, select="header")
    assert client(desk.root, **{"x-eval-case": "refund"}) == ANSWER
    closed = desk.close()
    assert summary(closed) == ROWS
    assert tool_rows(closed) == tool_rows(expected)


def test_the_official_mcp_client_has_it_with_equal_rows_up_to_the_door(
    api: FixtureProcess, expected: dict[str, Any]
) -> None:
    desk = opened(api)
    assert with_mcp(desk.url) == ANSWER
    closed = desk.close()
    assert summary(closed) == [("mcp" if tool else via, route, tool, status) for via, route, tool, status in ROWS]
    assert tool_rows(closed) == tool_rows(expected)
    assert closed["state"] == expected["state"]


def test_conversations_of_different_clients_at_once_do_not_meet(api: FixtureProcess, expected: dict[str, Any]) -> None:
    async def all_at_once() -> list[str]:
        return await asyncio.gather(*(asyncio.to_thread(client, desk.url) for client, desk in desks))

    desks = [(client, opened(api)) for client in BY_HAND * 3]
    assert asyncio.run(all_at_once()) == [ANSWER] * len(desks)
    for _, desk in desks:
        assert nameless(desk.close()) == nameless(expected)
