"""The fixture API over real HTTP: worlds side by side, selection, the control port, exact bytes, its life and end."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.fixture_process import ROOT, TIMEOUT_S, DataClient, FixtureProcess, Reply
from tests.fakes.open_world import case
from tests.fakes.suite_folder import SuiteFolder

ROUTES: list[dict[str, Any]] = [
    {"id": "order", "method": "GET", "path": "/orders/{id}", "responses": [{"json": {"$state": "/orders/{id}"}}]},
    {
        "id": "refund",
        "method": "POST",
        "path": "/refunds",
        "responses": [{"status": 201, "json": {"n": 1}}, {"status": 201, "json": {"n": 2}}],
        "effects": [{"op": "add", "path": "/refunds/-", "value": {"$request": "/json/amount"}}],
    },
    {"id": "slow", "method": "GET", "path": "/slow", "responses": [{"text": "slow", "delayMs": 400}]},
    {"id": "quick", "method": "GET", "path": "/quick", "responses": [{"text": "quick", "headers": {"X-Own": "1"}}]},
    {"id": "empty", "method": "DELETE", "path": "/quick", "responses": [{"status": 204}]},
]
TOOLS = [
    {
        "type": "function",
        "function": {"name": "refund", "parameters": {"type": "object", "properties": {"amount": {"type": "integer"}}}},
        "http": {"method": "POST", "path": "/refunds"},
    }
]
STATE: dict[str, Any] = {"orders": {"a-1": {"amount": 5, "note": None}}, "refunds": []}
CASES = [case("one"), case("two", state={"orders": {"a-1": {"amount": 6}}})]
TALK = {"messages": [{"role": "user", "content": "hi"}]}


def write(folder: Path) -> Path:
    return SuiteFolder(folder, cases=CASES, routes=ROUTES, tools=TOOLS, state=STATE).write()


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("suites") / "suite")


@pytest.fixture(scope="module")
def api(suite: Path) -> Iterator[FixtureProcess]:
    with FixtureProcess(suite) as process:
        yield process


@pytest.fixture
def client(api: FixtureProcess) -> Iterator[DataClient]:
    connection = api.client()
    yield connection
    connection.close()


def raw(port: int, content: bytes, *, until: bytes = b"") -> bytes:
    """What comes back for bytes: until `until` has come, else until the server closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT_S) as connection:
        connection.sendall(content)
        received = b""
        while not until or until not in received:
            piece = connection.recv(65536)
            if not piece:
                break
            received += piece
        return received


def test_health_and_clock_say_the_suites_revision_and_fixed_clock(client: DataClient, api: FixtureProcess) -> None:
    health = {"status": "ok", "revision": "fixtures-1", "clock": "2026-09-01T12:00:00Z"}
    assert client.ask("GET", "/health").json() == health
    assert api.control("/health").json() == health
    assert client.ask("GET", "/clock").json() == {
        "clock": "2026-09-01T12:00:00Z",
        "timezone": "UTC",
        "epochSeconds": 1788264000,
    }
    assert client.ask("GET", "/health").headers == (("content-length", "70"), ("content-type", "application/json"))


def test_an_answer_is_these_bytes_and_no_others(api: FixtureProcess) -> None:
    prefix = api.open("one", 101)
    request = f"GET {prefix}/quick HTTP/1.1\r\nhost: x\r\n\r\n".encode()
    expected = (
        b"HTTP/1.1 200 OK\r\ncontent-type: text/plain; charset=utf-8\r\nx-own: 1\r\ncontent-length: 5\r\n\r\nquick"
    )
    assert raw(api.data_port, request, until=b"quick") == expected
    deleting = f"DELETE {prefix}/quick HTTP/1.1\r\nhost: x\r\n\r\n".encode()
    assert raw(api.data_port, deleting, until=b"\r\n\r\n") == b"HTTP/1.1 204 No Content\r\n\r\n"
    api.close("one", 101)


def test_pipelined_requests_are_answered_in_order_on_one_connection(api: FixtureProcess) -> None:
    prefix = api.open("one", 102)
    one, two = (f"GET {prefix}/{path} HTTP/1.1\r\nhost: x\r\n\r\n".encode() for path in ("slow", "quick"))
    received = raw(api.data_port, one + two, until=b"quick")
    assert received.index(b"\r\n\r\nslow") < received.index(b"\r\n\r\nquick")
    rows = [served["row"]["route"] for served in api.close("one", 102)["served"]]
    assert rows == ["slow", "quick"]


def test_head_has_the_headers_of_get_and_no_body(api: FixtureProcess, client: DataClient) -> None:
    prefix = api.open("one", 103)
    head, get = client.ask("HEAD", f"{prefix}/quick"), client.ask("GET", f"{prefix}/quick")
    assert (head.status, head.headers, head.body) == (200, get.headers, b"")
    api.close("one", 103)


def test_sixty_four_attempts_side_by_side_do_not_see_each_other(api: FixtureProcess) -> None:
    def work(number: int) -> tuple[int, list[Reply], dict[str, Any]]:
        connection = api.client()
        prefix = api.open("one" if number % 2 else "two", number)
        replies = [connection.ask("GET", f"{prefix}/orders/a-1")]
        replies += [connection.ask("POST", f"{prefix}/refunds", {"amount": number}) for _ in range(5)]
        connection.close()
        return number, replies, api.close("one" if number % 2 else "two", number)

    with ThreadPoolExecutor(64) as pool:
        finished = list(pool.map(work, range(1, 65)))
    for number, replies, closed in finished:
        assert replies[0].json()["amount"] == (5 if number % 2 else 6)
        assert [reply.json()["n"] for reply in replies[1:]] == [1, 2, 2, 2, 2]
        assert closed["state"]["refunds"] == [number] * 5
        assert [served["row"]["sequence"] for served in closed["served"]] == [1, 2, 3, 4, 5, 6]
        assert {served["row"]["attempt"] for served in closed["served"]} == {number}
    digests = {
        (number % 2, tuple(served["row"]["responseDigest"] for served in closed["served"]))
        for number, _, closed in finished
    }
    assert len(digests) == 2


def test_a_prefix_dies_with_its_attempt(api: FixtureProcess, client: DataClient) -> None:
    prefix = api.open("one", 104)
    assert client.ask("GET", f"{prefix}/quick").status == 200
    api.close("one", 104)
    dead = client.ask("GET", f"{prefix}/quick")
    never = client.ask("GET", "/~" + "0" * 32 + "/quick")
    assert dead == never
    assert dead.status == 404
    assert prefix[2:].encode() not in dead.body


@pytest.mark.parametrize("tail", ["", "/", "x", "/~", "?x=1"])
def test_what_only_looks_like_a_prefix_is_none(client: DataClient, tail: str) -> None:
    assert client.ask("GET", "/~abc" + tail).status == 404


def test_an_escaped_tilde_is_a_tilde(api: FixtureProcess, client: DataClient) -> None:
    prefix = api.open("one", 105)
    assert client.ask("GET", prefix.replace("~", "%7E") + "/quick").status == 200
    assert client.ask("GET", prefix.replace("~", "%7e") + "/quick").status == 200
    assert client.ask("GET", prefix + "quick").status == 404
    rows = api.close("one", 105)["served"]
    assert [served["row"]["path"] for served in rows] == ["/quick", "/quick"]


def test_a_header_that_names_another_case_is_refused_and_not_journaled(api: FixtureProcess, client: DataClient) -> None:
    prefix = api.open("one", 106)
    assert client.ask("GET", f"{prefix}/quick", x_eval_case="two").status == 409
    assert client.ask("GET", f"{prefix}/quick", x_eval_case="none").status == 409
    assert client.ask("GET", f"{prefix}/quick", x_eval_case="one").status == 200
    assert len(api.close("one", 106)["served"]) == 1


def test_by_hand_the_header_makes_a_fresh_world_for_each_request(client: DataClient) -> None:
    assert client.ask("GET", "/orders/a-1", x_eval_case="one").json() == {"amount": 5, "note": None}
    assert client.ask("GET", "/orders/a-1", x_eval_case="two").json() == {"amount": 6, "note": None}
    for _ in range(2):
        assert client.ask("POST", "/refunds", {"amount": 1}, x_eval_case="one").json() == {"n": 1}
    assert client.ask("POST", "/v1/chat/completions", TALK, x_eval_case="one").status == 200


def test_without_a_case_the_answer_says_how_to_name_one(client: DataClient) -> None:
    reply = client.ask("GET", "/orders/a-1")
    assert reply.status == 409
    assert "x-eval-case" in reply.json()["detail"]
    assert dict(reply.headers)["content-type"] == "application/problem+json"
    unknown = client.ask("GET", "/orders/a-1", x_eval_case="three")
    assert unknown.status == 404
    assert "three" in unknown.json()["detail"]


def test_an_attempt_opened_for_the_header_is_selected_by_it(api: FixtureProcess, client: DataClient) -> None:
    prefix = api.open("two", 107, select="header")
    second = api.control("/attempts", {"case": "two", "attempt": 108, "select": "header"})
    assert second.status == 409
    assert client.ask("POST", "/refunds", {"amount": 1}, x_eval_case="two").json() == {"n": 1}
    assert client.ask("POST", f"{prefix}/refunds", {"amount": 2}).json() == {"n": 2}
    assert api.close("two", 107)["state"]["refunds"] == [1, 2]
    assert client.ask("POST", "/refunds", {"amount": 1}, x_eval_case="two").json() == {"n": 1}


def test_in_runs_with_prefixes_the_header_selects_nothing(suite: Path) -> None:
    with FixtureProcess(suite, FIXTURE_SELECT="prefix") as api:
        client = api.client()
        reply = client.ask("GET", "/quick", x_eval_case="one")
        assert reply.status == 409
        assert "FIXTURE_SELECT" in reply.json()["detail"]
        assert api.control("/attempts", {"case": "one", "attempt": 1, "select": "header"}).status == 409
        prefix = api.open("one")
        assert client.ask("GET", f"{prefix}/quick", x_eval_case="one").status == 200
        client.close()


def test_the_control_port_refuses_what_it_does_not_know(api: FixtureProcess) -> None:
    assert api.control("/attempts", {"case": "three", "attempt": 1}).status == 404
    assert api.control("/attempts", {"case": "one", "attempt": 1, "model": "scripted/none"}).status == 404
    assert api.control("/attempts", {"case": "one"}).status == 422
    assert api.control("/attempts", {"case": "one", "attempt": "1"}).status == 422
    assert api.control("/attempts/close", {"case": "one", "attempt": 99}).status == 404
    assert api.control("/attempts/breach", {"case": "one", "attempt": 99}).status == 404
    assert api.control("/attempts/none", {}).status == 404
    api.open("one", 109)
    assert api.control("/attempts", {"case": "one", "attempt": 109}).status == 409
    api.close("one", 109)


def test_the_control_port_is_not_on_the_data_port(client: DataClient, api: FixtureProcess) -> None:
    for path in ("/attempts", "/attempts/close", "/openapi.json", "/docs"):
        assert client.ask("POST", path, {"case": "one", "attempt": 110}).status == 409
        prefix = api.open("one", 110)
        assert client.ask("POST", prefix + path, {"case": "one", "attempt": 111}).status == 404
        api.close("one", 110)
    assert api.control("/quick").status == 404
    assert api.control("/openapi.json").status == 404


def test_closing_hands_out_rows_arguments_texts_and_state(api: FixtureProcess, client: DataClient) -> None:
    prefix = api.open("one", 112, model="scripted/support", prompt="polite")
    client.ask("POST", f"{prefix}/refunds?x=1", {"amount": 7})
    client.ask("POST", f"{prefix}/v1/chat/completions", TALK, authorization="Bearer secret")
    client.ask("GET", f"{prefix}/order/a-1")
    closed = api.close("one", 112)
    refund, model, unmatched = closed["served"]
    assert refund["row"]["tool"] == "refund"
    assert refund["arguments"] == {"amount": 7}
    assert refund["responseText"] == '{"n":1}'
    assert (model["row"]["via"], model["row"]["route"]) == ("model", "model:support#0")
    assert unmatched["unmatched"]["nearestRoute"] == "order"
    assert closed["state"]["orders"]["a-1"] == {"amount": 5, "note": None}
    assert (closed["suiteError"], closed["modelError"], closed["breached"]) == (None, None, None)
    assert prefix[2:] not in json.dumps(closed)


def test_a_breach_is_told_when_it_happens_and_to_everyone_who_waits(api: FixtureProcess, client: DataClient) -> None:
    prefix = api.open("one", 113, toolCallLimit=1)
    key = {"case": "one", "attempt": 113}
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(api.control, "/attempts/breach", key) for _ in range(2)]
        assert client.ask("GET", f"{prefix}/quick").status == 200
        assert not any(wait.done() for wait in waiting)
        assert client.ask("GET", f"{prefix}/quick").status == 429
        assert [wait.result(TIMEOUT_S).json() for wait in waiting] == [{"limit": "tool_calls"}] * 2
    assert api.control("/attempts/breach", key).json() == {"limit": "tool_calls"}
    assert api.close("one", 113)["breached"] == "tool_calls"


def test_a_delayed_answer_blocks_nobody_and_its_row_says_how_long(api: FixtureProcess, client: DataClient) -> None:
    prefix = api.open("one", 115)
    with ThreadPoolExecutor(1) as pool:
        other = api.client()
        slow = pool.submit(other.ask, "GET", f"{prefix}/slow")
        while not slow.done():
            assert client.ask("GET", f"{prefix}/quick").body == b"quick"
        assert slow.result().body == b"slow"
        other.close()
    rows = [served["row"] for served in api.close("one", 115)["served"]]
    assert {(row["route"], row["delayMs"]) for row in rows} == {("slow", 400), ("quick", 0)}
    assert [row["sequence"] for row in rows] == list(range(1, len(rows) + 1))
    assert rows[-1]["route"] == "quick"


def test_a_request_in_flight_at_the_closing_is_answered_and_not_recorded(api: FixtureProcess) -> None:
    prefix = api.open("one", 116)
    head = f"POST {prefix}/refunds HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 12\r\n\r\n"
    with socket.create_connection(("127.0.0.1", api.data_port), timeout=TIMEOUT_S) as connection:
        connection.sendall(head.encode() + b'{"amou')
        closed = api.close("one", 116)
        connection.sendall(b'nt":1}')
        assert connection.recv(65536).startswith(b"HTTP/1.1 404 ")
    assert closed["served"] == []


def test_a_body_over_8_mib_is_refused_and_the_connection_goes_on(api: FixtureProcess, client: DataClient) -> None:
    prefix = api.open("one", 117)
    big = client.ask("POST", f"{prefix}/refunds", "x" * (8 * 1024 * 1024))
    assert big.status == 413
    assert client.ask("GET", f"{prefix}/quick").status == 200
    fits = client.ask("POST", f"{prefix}/refunds", {"amount": "x" * (8 * 1024 * 1024 - 100)})
    assert fits.status == 201
    rows = api.close("one", 117)["served"]
    assert [served["row"]["route"] for served in rows] == ["quick", "refund"]


@pytest.mark.parametrize(
    "head",
    [
        b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nhost: x\r\n\r\n",
        b"GET /quick HTTP/1.1\r\nhost: x\r\n" + b"x-a: b\r\n" * 40_000 + b"\r\n",
        b"GET /quick HTTP/1.1\r\nhost: x\r\nx-a: " + b"b" * 200_000,
    ],
)
def test_headers_without_end_are_refused_and_the_connection_closed(api: FixtureProcess, head: bytes) -> None:
    assert raw(api.data_port, head).startswith(b"HTTP/1.1 431 ")


def test_large_headers_within_the_bound_are_read(api: FixtureProcess, client: DataClient) -> None:
    assert client.ask("GET", "/quick", x_eval_case="one", x_large="b" * 60_000).status == 200


@pytest.mark.parametrize(
    "target",
    [
        "/../etc/passwd",
        "/orders/..%2F..%2Fetc",
        "/%00",
        "/%ff%fe",
        "/orders/%",
        "//orders//a-1",
        "/orders/a-1?%ff=%00&&=&a=b=c",
        "/orders/a-1;x=y",
        "/" + "a/" * 2000,
    ],
)
def test_odd_targets_are_unmatched_or_served_but_never_break_anything(client: DataClient, target: str) -> None:
    reply = client.ask("GET", target, x_eval_case="one")
    assert reply.status in (200, 404, 500)
    if reply.status == 500:
        assert reply.json()["title"] == "The suite cannot answer"
    assert client.ask("GET", "/quick", x_eval_case="one").status == 200


def test_a_websocket_upgrade_is_answered_as_a_plain_request(client: DataClient) -> None:
    reply = client.ask("GET", "/quick", x_eval_case="one", connection="upgrade", upgrade="websocket")
    assert reply.body == b"quick"


def script(api: FixtureProcess) -> tuple[list[Reply], dict[str, Any]]:
    client = api.client()
    prefix = api.open("two", 1, model="scripted/support", prompt="polite", toolCallLimit=6)
    replies = [
        client.ask("GET", f"{prefix}/orders/a-1"),
        client.ask("POST", f"{prefix}/refunds?b=2&a=1", {"amount": 1.5, "é": "ü"}),
        client.ask("POST", f"{prefix}/v1/chat/completions", TALK),
        client.ask("GET", f"{prefix}/v1/models"),
        client.ask("GET", f"{prefix}/order/a-1"),
        client.ask("GET", f"{prefix}/orders/none"),
        client.ask("HEAD", f"{prefix}/quick"),
        client.ask("POST", f"{prefix}/mcp", {}),
        client.ask("PUT", f"{prefix}/refunds", {}),
        client.ask("GET", f"{prefix}/quick"),
        client.ask("GET", f"{prefix}/orders/a-1", x_eval_case="one"),
        client.ask("GET", "/health"),
        client.ask("GET", "/quick"),
    ]
    closed = api.close("two", 1)
    replies.append(client.ask("GET", f"{prefix}/quick"))
    client.close()
    return replies, closed


def test_two_processes_answer_the_same_bytes_and_write_the_same_journal(suite: Path) -> None:
    with FixtureProcess(suite) as one, FixtureProcess(suite, PYTHONHASHSEED="7", TZ="Asia/Tokyo") as other:
        assert script(one) == script(other)


def test_no_answer_tells_the_time_or_the_server(api: FixtureProcess) -> None:
    replies, _ = script(api)
    names = {name for reply in replies for name, _ in reply.headers}
    assert names == {"content-type", "content-length", "x-own"}


def test_the_sample_suite_is_served_as_the_readme_says_under_a_clock_from_outside() -> None:
    with FixtureProcess(ROOT / "fixtures", FIXED_NOW="2030-01-01T00:00:00Z") as api:
        reply = api.client().ask("GET", "/orders/synthetic-42", x_eval_case="refund-approval-required")
        assert (reply.status, reply.json()["order_id"]) == (200, "synthetic-42")
        assert api.client().ask("GET", "/clock").json()["clock"] == "2030-01-01T00:00:00Z"
        assert api.control("/health").json()["clock"] == "2030-01-01T00:00:00Z"


def test_sigterm_ends_it_at_once_and_invents_no_answer_for_those_who_wait(suite: Path) -> None:
    with tempfile.TemporaryFile() as log, FixtureProcess(suite, log=log) as api, ThreadPoolExecutor(2) as pool:
        prefix = api.open("one")
        connection = api.client()
        assert connection.ask("GET", f"{prefix}/quick").status == 200
        slow = pool.submit(api.client().ask, "GET", f"{prefix}/slow")
        breach = pool.submit(api.control, "/attempts/breach", {"case": "one", "attempt": 1})
        api.process.terminate()
        assert api.process.wait(TIMEOUT_S) == 0
        for cut_off in (slow, breach):
            assert isinstance(cut_off.exception(TIMEOUT_S), OSError)
        log.seek(0)
        assert log.read() == b""


def test_the_end_of_stdin_ends_it(suite: Path) -> None:
    with FixtureProcess(suite) as api:
        assert api.process.stdin is not None
        api.process.stdin.close()
        assert api.process.wait(TIMEOUT_S) == 0


def test_without_the_wish_the_end_of_stdin_does_not_end_it_but_sigint_does(suite: Path) -> None:
    with FixtureProcess(suite, with_stdin=False) as api:
        assert api.process.stdin is not None
        api.process.stdin.close()
        assert api.client().ask("GET", "/health").status == 200
        assert api.process.poll() is None
        api.process.send_signal(signal.SIGINT)
        assert api.process.wait(TIMEOUT_S) == 0


def start_and_fail(**environment: str) -> subprocess.CompletedProcess[str]:
    process = FixtureProcess(Path("unused"), log=subprocess.PIPE, **environment).process  # type: ignore[arg-type]
    stdout, stderr = process.communicate(timeout=TIMEOUT_S)
    return subprocess.CompletedProcess([], process.returncode, stdout.decode(), stderr.decode())


def test_a_bad_suite_exits_2_with_every_problem_on_stderr(tmp_path: Path) -> None:
    routes = [{**ROUTES[0], "id": f"r-{number}", "methd": "GET"} for number in range(2)]
    ended = start_and_fail(DATASET_PATH=str(SuiteFolder(tmp_path, routes=routes).write()))
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert ended.stderr.startswith("labctl: suite-invalid: ")
    assert len(re.findall(r"^found: .*routes.json.*methd", ended.stderr, re.MULTILINE)) == 2


def test_a_port_that_is_taken_exits_4(suite: Path, api: FixtureProcess) -> None:
    ended = start_and_fail(DATASET_PATH=str(suite), FIXTURE_PORT=str(api.data_port))
    assert ended.returncode == 4
    assert str(api.data_port) in ended.stderr
