"""Response faults as a client meets them: what is on the wire, what the journal says, and whose turn it is."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.fixture_process import TIMEOUT_S, FixtureProcess
from tests.fakes.suite_folder import CASE, SuiteFolder

GOOD = {"verdict": "allowed", "order": "a-1"}
ROUTES = [
    {
        "id": "check",
        "method": "POST",
        "path": "/checks",
        "responses": [{"json": GOOD, "headers": {"x-own": "1"}}, {"json": {"second": True}}],
        "effects": [{"op": "add", "path": "/checks/-", "value": 1}],
    },
    {"id": "read", "method": "GET", "path": "/checks", "responses": [{"json": {"$state": "/checks"}}]},
]
TOOLS = [{"type": "function", "function": {"name": "check"}, "http": {"method": "POST", "path": "/checks"}}]
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "check", "arguments": {}}}
FAULTS: dict[str, list[dict[str, Any]]] = {
    "once": [{"route": "check", "kind": "status", "value": 503, "times": 1}],
    "status": [{"route": "check", "kind": "status"}],
    "no-content": [{"route": "check", "kind": "status", "value": 204}],
    "later": [{"route": "check", "kind": "empty", "skip": 1, "times": 1}],
    "malformed": [{"route": "check", "kind": "malformed-json"}],
    "half": [{"route": "check", "kind": "truncated"}],
    "three": [{"route": "check", "kind": "truncated", "value": 3}],
    "html": [{"route": "check", "kind": "wrong-content-type"}],
    "slow": [{"route": "check", "kind": "timeout", "value": 200}],
    "never": [{"route": "check", "kind": "timeout"}],
    "two": [
        {"route": "check", "kind": "status", "value": 500, "times": 1},
        {"route": "check", "kind": "malformed-json", "skip": 1, "times": 1},
    ],
}


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FixtureProcess]:
    cases = [{**CASE, "id": name, "faults": {"responses": faults}} for name, faults in FAULTS.items()]
    folder = SuiteFolder(
        tmp_path_factory.mktemp("suite"), cases=cases, routes=ROUTES, tools=TOOLS, state={"checks": []}
    )
    with FixtureProcess(folder.write()) as process:
        yield process


def raw(api: FixtureProcess, target: str) -> bytes:
    """Everything that comes back for one POST on a connection that the client never closes first."""
    with socket.create_connection(("127.0.0.1", api.data_port), timeout=TIMEOUT_S) as connection:
        connection.sendall(f"POST {target} HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n".encode())
        pieces = []
        while piece := connection.recv(65536):
            pieces.append(piece)
        return b"".join(pieces)


def rows(api: FixtureProcess, case: str) -> list[tuple[Any, ...]]:
    """Route, status and fault of each row."""
    served = [entry["row"] for entry in api.close(case)["served"]]
    return [(row["route"], row["status"], row["fault"]) for row in served]


def test_without_the_profile_nothing_goes_wrong(api: FixtureProcess) -> None:
    prefix = api.open("status")
    assert api.client().ask("POST", f"{prefix}/checks").json() == GOOD
    assert rows(api, "status") == [("check", 200, None)]


def test_a_status_stands_instead_of_the_route_which_does_not_move_on(api: FixtureProcess) -> None:
    client, prefix = api.client(), api.open("once", faults=True)
    bad = client.ask("POST", f"{prefix}/checks")
    assert (bad.status, bad.json()) == (503, {"error": "Service Unavailable"})
    assert client.ask("GET", f"{prefix}/checks").json() == []
    assert client.ask("POST", f"{prefix}/checks").json() == GOOD
    assert client.ask("GET", f"{prefix}/checks").json() == [1]
    assert rows(api, "once") == [
        ("check", 503, "status#0"),
        ("read", 200, None),
        ("check", 200, None),
        ("read", 200, None),
    ]


def test_a_planned_status_that_has_no_body_sends_none_and_the_connection_goes_on(api: FixtureProcess) -> None:
    client, prefix = api.client(), api.open("no-content", faults=True)
    bad = client.ask("POST", f"{prefix}/checks")
    assert (bad.status, bad.headers, bad.body) == (204, (), b"")
    assert client.ask("GET", f"{prefix}/checks").json() == []
    assert rows(api, "no-content") == [("check", 204, "status#0"), ("read", 200, None)]


def test_skip_counts_good_answers_and_times_the_bad_ones(api: FixtureProcess) -> None:
    client, prefix = api.client(), api.open("later", faults=True)
    replies = [client.ask("POST", f"{prefix}/checks") for _ in range(3)]
    assert [reply.body for reply in replies] == [
        json.dumps(GOOD, separators=(",", ":")).encode(),
        b"",
        b'{"second":true}',
    ]
    assert dict(replies[1].headers) == {"content-type": "application/json", "content-length": "0"}
    assert [fault for _, _, fault in rows(api, "later")] == [None, "empty#0", None]


def test_two_faults_of_one_route_come_one_after_the_other(api: FixtureProcess) -> None:
    client, prefix = api.client(), api.open("two", faults=True)
    for _ in range(3):
        client.ask("POST", f"{prefix}/checks")
    assert [fault for _, _, fault in rows(api, "two")] == ["status#0", "malformed-json#1", None]


def test_a_malformed_body_is_malformed_and_its_effects_have_applied(api: FixtureProcess) -> None:
    client, prefix = api.client(), api.open("malformed", faults=True)
    bad = client.ask("POST", f"{prefix}/checks")
    assert dict(bad.headers)["content-type"] == "application/json"
    assert int(dict(bad.headers)["content-length"]) == len(bad.body)
    with pytest.raises(ValueError, match="double quotes"):
        bad.json()
    assert client.ask("GET", f"{prefix}/checks").json() == [1]
    assert rows(api, "malformed") == [("check", 200, "malformed-json#0"), ("read", 200, None)]


@pytest.mark.parametrize(("case", "length"), [("half", 17), ("three", 3)])
def test_a_truncated_answer_announces_its_whole_length_and_the_connection_closes_early(
    api: FixtureProcess, case: str, length: int
) -> None:
    prefix = api.open(case, faults=True)
    head, _, body = raw(api, f"{prefix}/checks").partition(b"\r\n\r\n")
    whole = json.dumps(GOOD, separators=(",", ":")).encode()
    assert f"content-length: {len(whole)}".encode() in head
    assert body == whole[:length]
    assert rows(api, case) == [("check", 200, "truncated#0")]


def test_a_wrong_content_type_leaves_body_and_headers_of_the_route(api: FixtureProcess) -> None:
    prefix = api.open("html", faults=True)
    bad = api.client().ask("POST", f"{prefix}/checks")
    assert bad.json() == GOOD
    assert dict(bad.headers)["content-type"] == "text/html; charset=utf-8"
    assert dict(bad.headers)["x-own"] == "1"
    assert rows(api, "html") == [("check", 200, "wrong-content-type#0")]


def test_a_timeout_with_a_time_closes_the_connection_after_it_and_answers_nothing(api: FixtureProcess) -> None:
    prefix = api.open("slow", faults=True)
    began = time.monotonic()
    assert raw(api, f"{prefix}/checks") == b""
    assert time.monotonic() - began >= 0.2
    closed = api.close("slow")
    assert closed["state"] == {"checks": []}
    assert [(one["row"]["status"], one["row"]["fault"], one["row"]["delayMs"]) for one in closed["served"]] == [
        (0, "timeout#0", 200)
    ]


def test_a_timeout_without_a_time_lasts_to_the_attempts_end(api: FixtureProcess) -> None:
    prefix = api.open("never", faults=True)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(raw, api, f"{prefix}/checks")
        with pytest.raises(TimeoutError):
            waiting.result(timeout=0.3)
        assert rows(api, "never") == [("check", 0, "timeout#0")]
        assert waiting.result(timeout=TIMEOUT_S) == b""


def test_who_hangs_up_on_a_held_answer_leaves_nothing_behind(api: FixtureProcess) -> None:
    prefix = api.open("never", faults=True)
    for _ in range(3):
        with socket.create_connection(("127.0.0.1", api.data_port), timeout=TIMEOUT_S) as connection:
            connection.sendall(f"POST {prefix}/checks HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n".encode())
    assert api.client().ask("GET", f"{prefix}/checks").status == 200
    assert [row[2] for row in rows(api, "never")] == ["timeout#0"] * 3 + [None]


def test_equal_faults_are_equal_bytes(api: FixtureProcess) -> None:
    def wire(case: str) -> list[tuple[int, tuple[tuple[str, str], ...], bytes]]:
        client, prefix = api.client(), api.open(case, faults=True)
        replies = [client.ask("POST", f"{prefix}/checks") for _ in range(3)]
        api.close(case)
        return [(reply.status, reply.headers, reply.body) for reply in replies]

    for case in ("once", "later", "malformed", "html", "two"):
        assert wire(case) == wire(case)


@pytest.fixture
def suite_of_bodies(tmp_path: Path) -> Path:
    bodies: list[dict[str, Any]] = [{"json": 1}, {"json": "a }"}, {"json": []}, {"text": "{} "}, {"text": "x}"}]
    routes = [
        {"id": f"r-{number}", "method": "GET", "path": f"/{number}", "responses": [body]}
        for number, body in enumerate(bodies)
    ]
    faults = [{"route": route["id"], "kind": "malformed-json"} for route in routes]
    cases = [{**CASE, "faults": {"responses": faults}}]
    return SuiteFolder(tmp_path, cases=cases, routes=routes, tools=[]).write()


def test_whatever_the_body_was_malformed_is_no_json(suite_of_bodies: Path) -> None:
    with FixtureProcess(suite_of_bodies) as api:
        client, prefix = api.client(), api.open("greets", faults=True)
        for number in range(5):
            body = client.ask("GET", f"{prefix}/{number}").body
            with pytest.raises(ValueError, match=r"."):
                json.loads(body)


def test_options_says_what_can_be_asked_and_is_no_unmatched_request(api: FixtureProcess) -> None:
    client, prefix = api.client(), api.open("once")
    reply = client.ask("OPTIONS", f"{prefix}/checks")
    assert (reply.status, reply.headers, reply.body) == (204, (("allow", "GET, HEAD, OPTIONS, POST"),), b"")
    assert client.ask("OPTIONS", f"{prefix}/nowhere").status == 404
    served = api.close("once")["served"]
    assert [one["unmatched"] is None for one in served] == [True, False]


@pytest.mark.parametrize(
    ("case", "is_error", "text"),
    [
        ("status", True, '{"error":"Internal Server Error"}'),
        ("malformed", False, '{"verdict":"allowed","order":"a-1",'),
        ("half", True, "The tool's answer was cut off"),
        ("html", False, '{"verdict":"allowed","order":"a-1"}'),
    ],
)
def test_over_mcp_a_tool_meets_the_same_faults(api: FixtureProcess, case: str, is_error: bool, text: str) -> None:
    prefix = api.open(case, faults=True)
    answer = api.client().ask("POST", f"{prefix}/mcp", CALL, accept="application/json")
    result = answer.json()["result"]
    assert result["isError"] is is_error
    assert result["content"][0]["text"].startswith(text)
    (one,) = api.close(case)["served"]
    assert (one["row"]["via"], one["row"]["fault"]) == ("mcp", f"{FAULTS[case][0]['kind']}#0")


def test_over_mcp_a_timeout_is_no_answer_either(api: FixtureProcess) -> None:
    prefix = api.open("slow", faults=True)
    with pytest.raises(ConnectionError):
        api.client().ask("POST", f"{prefix}/mcp", CALL, accept="application/json")
    (one,) = api.close("slow")["served"]
    assert (one["row"]["status"], one["row"]["fault"], one["row"]["delayMs"]) == (0, "timeout#0", 200)


def test_a_header_of_the_suite_may_hold_what_some_take_for_the_end_of_a_line(tmp_path: Path) -> None:
    route = {
        "id": "odd",
        "method": "GET",
        "path": "/odd",
        "responses": [{"json": {}, "headers": {"x-odd": "a\u0085b"}}],
    }
    faults = [{"route": "odd", "kind": "wrong-content-type"}]
    suite = SuiteFolder(tmp_path, cases=[{**CASE, "faults": {"responses": faults}}], routes=[route], tools=[]).write()
    with FixtureProcess(suite) as api:
        prefix = api.open("greets", faults=True)
        reply = api.client().ask("GET", f"{prefix}/odd")
        assert (reply.status, dict(reply.headers)["content-type"]) == (200, "text/html; charset=utf-8")
        assert rows(api, "greets") == [("odd", 200, "wrong-content-type#0")]
