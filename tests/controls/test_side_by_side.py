"""Many attempts in one world-server: none sees, changes or finds another one, and no secret is told to anybody."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.parse import quote

import pytest

from tests.fakes.fixture_process import FixtureProcess
from tests.fakes.mcp_suite import ACCEPT, call_of
from tests.fakes.raw_wire import Wire, request
from tests.fakes.rich_suite import STATE

TOGETHER = 64
ROUNDS = 5
JSON_TYPE = "content-type: application/json"


class Lab(NamedTuple):
    """A server with what it says on stderr."""

    api: FixtureProcess
    log: IO[bytes]

    def open(self, case: str, attempt: int, **opening: Any) -> str:
        return self.api.open(case, attempt, model="scripted/support", prompt="polite", **opening)

    def wire(self) -> Wire:
        return Wire(self.api.data_port)

    def ask(self, content: bytes) -> tuple[int, bytes]:
        """Status and whole answer, on a connection of its own."""
        with self.wire() as wire:
            answer = wire.ask(content)
        return int(answer[9:12]), answer


@pytest.fixture(scope="module")
def lab(suite: Path) -> Iterator[Lab]:
    with tempfile.TemporaryFile() as log, FixtureProcess(suite, log=log) as api:
        yield Lab(api, log)


def refund(prefix: str, order: str, reason: Any) -> bytes:
    body = json.dumps({"kind": "full", "reason": reason}).encode()
    return request("POST", f"{prefix}/orders/{order}/refunds", JSON_TYPE, body=body)


def talk(prefix: str, text: str) -> bytes:
    body = json.dumps({"messages": [{"role": "user", "content": text}]}).encode()
    return request("POST", f"{prefix}/v1/chat/completions", JSON_TYPE, body=body)


def mcp(prefix: str, name: str, **arguments: Any) -> bytes:
    body = json.dumps(call_of(name, **arguments)).encode()
    return request("POST", f"{prefix}/mcp", JSON_TYPE, f"accept: {ACCEPT}", body=body)


def one_flow(lab: Lab, number: int) -> dict[str, Any]:
    """A stateful flow whose every answer must be that of its own world; returns what the closing says."""
    prefix = lab.open("one", number)
    with lab.wire() as wire:
        for round_ in range(ROUNDS):
            mine = f"{number}-{round_}"
            own = {"order": {**STATE["orders"]["a-1"], "amount": 0}, "reason": mine}
            first = wire.ask(refund(prefix, "a-1", mine))
            assert json.loads(first.partition(b"\r\n\r\n")[2]) == (own if round_ == 0 else {"error": "refunded"}), first
            assert b"HTTP/1.1 200 OK" in wire.ask(mcp(prefix, "refund", id="b~2", kind="full", reason=[mine]))
            assert b"tool_calls" in wire.ask(talk(prefix, f"refund {mine}"))
            assert wire.ask(request("GET", prefix + "/orders/newest")).endswith(b'"b~2"')
    return lab.api.close("one", number)


def test_64_attempts_at_once_see_only_their_own_state_counters_and_journal(lab: Lab) -> None:
    with ThreadPoolExecutor(TOGETHER) as pool:
        closed = list(pool.map(lambda number: one_flow(lab, number), range(1, TOGETHER + 1)))
    for number, one in enumerate(closed, 1):
        rows = [served["row"] for served in one["served"]]
        assert {(row["case"], row["attempt"]) for row in rows} == {("one", number)}
        assert [row["sequence"] for row in rows] == list(range(1, 4 * ROUNDS + 1))
        assert [row["via"] for row in rows] == ["http", "mcp", "model", "http"] * ROUNDS
        reasons = [refund["reason"] for refund in one["state"]["refunds"]]
        assert reasons == [each for round_ in range(ROUNDS) for each in (f"{number}-{round_}", [f"{number}-{round_}"])]
    assert all(one["state"]["orders"] == closed[0]["state"]["orders"] for one in closed)


def test_requests_of_one_attempt_that_come_side_by_side_are_decided_one_after_the_other(lab: Lab) -> None:
    prefix = lab.open("one", 100)
    with ThreadPoolExecutor(32) as pool:
        answers = list(pool.map(lambda number: lab.ask(refund(prefix, "a-1", number)), range(32)))
    closed = lab.api.close("one", 100)
    assert sorted(status for status, _ in answers) == [201] + [409] * 31
    assert [served["row"]["sequence"] for served in closed["served"]] == list(range(1, 33))
    asked = [served["arguments"]["reason"] for served in closed["served"]]
    assert [refund["reason"] for refund in closed["state"]["refunds"]] == asked
    assert sorted(asked) == list(range(32))


def test_a_prefix_dies_with_its_attempt_also_for_requests_under_way(lab: Lab) -> None:
    prefix = lab.open("one", 101)
    half = request("POST", prefix + "/orders/a-1/refunds", JSON_TYPE, "content-length: 16")
    never = lab.ask(request("GET", "/~" + "0" * 32 + "/orders"))
    with lab.wire() as started, lab.wire() as used, lab.wire() as waiting:
        assert b" 200 OK" in used.ask(request("GET", prefix + "/orders"))
        started.send(half + b'{"kind":')
        waiting.send(half[:-2] + b"expect: 100-continue\r\n\r\n")
        assert waiting.answer() == b"HTTP/1.1 100 Continue\r\n\r\n"
        assert len(lab.api.close("one", 101)["served"]) == 1
        for wire, rest in ((started, b' "full"}'), (waiting, b'{"kind": "full"}')):
            wire.send(rest)
            assert wire.answer() == never[1]
        assert used.ask(request("GET", prefix + "/orders")) == never[1]
        assert used.ask(talk(prefix, "refund")) == never[1]
    assert never[0] == 404
    again = lab.open("one", 101)
    assert again != prefix
    assert lab.ask(request("GET", prefix + "/orders")) == never
    assert lab.api.close("one", 101)["served"] == []


def test_neighbours_spellings_and_dead_ones_of_a_prefix_lead_nowhere(lab: Lab) -> None:
    dead = lab.open("two", 102)
    lab.api.close("two", 102)
    prefix = lab.open("one", 102)
    token = prefix[2:]
    neighbours = [f"{(int(token, 16) + step) % 2**128:032x}" for step in (-2, -1, 1, 2)]
    changed = [token[:at] + format(15 - int(token[at], 16), "x") + token[at + 1 :] for at in range(32)]
    spelled = [
        token.upper(),
        token[::-1],
        token[:-1],
        token + "0",
        token[1:],
        " " + token,
        token[:16],
        f"%{ord(token[0]):x}{token[1:]}",
    ]
    for guess in [*neighbours, *changed, *[each for each in spelled if each != token], dead[2:], "*", "%2a" * 32, ""]:
        status, answer = lab.ask(request("GET", f"/~{guess.replace(' ', '%20')}/orders"))
        assert status == 404, guess
        assert b"No such attempt" in answer
    assert lab.api.close("one", 102)["served"] == []


def test_prefixes_are_drawn_from_all_of_their_128_bits(lab: Lab) -> None:
    tokens = []
    for _ in range(128):
        tokens.append(lab.open("one", 103)[2:])
        lab.api.close("one", 103)
    assert len(set(tokens)) == len(tokens)
    assert all(len({token[at] for token in tokens}) > 8 for at in range(32))


TRICKS = (
    *("{own}/../{other}/orders/a-1", "{own}/%2e%2e/{other}/orders/a-1", "{own}/..%2f{other}/orders/a-1"),
    *("{own}/{other}/orders/a-1", "{own}//{other}/orders/a-1", "{own}%2f..{other}/orders/a-1", "/{other}/orders/a-1"),
    *(
        "/.{other}/orders/a-1",
        "/%2f{other}/orders/a-1",
        "/x/..{other}/orders/a-1",
        "/..{other}/orders/a-1",
        "{other}%2forders",
    ),
    *(
        "{other};/orders",
        "{other}%00/orders",
        "{other}%20/orders",
        "{own}/orders/a-1?x={other}",
        "{own}/orders/{other}",
    ),
    *("{own}/..;{other}/orders", "{own}\\..\\{other}\\orders", "{own}/#/..{other}/orders"),
)


@pytest.mark.parametrize("trick", TRICKS)
def test_no_spelling_of_a_path_leads_from_one_attempt_into_another(lab: Lab, trick: str) -> None:
    own, other = lab.open("one", 104), lab.open("two", 104)
    target = trick.format(own=own, other=other)
    for method in ("GET", "POST", "DELETE"):
        status, _ = lab.ask(request(method, target))
        assert status in (200, 204, 400, 404, 409)
    seen = lab.api.close("two", 104)
    assert seen["served"] == []
    assert seen["state"]["orders"]["a-1"] == {"amount": 6}
    lab.api.close("one", 104)


HEADERS = (
    *("x-eval-case: two", "x-eval-case: one\r\nx-eval-case: two", "x-eval-case: two\r\nx-eval-case: one"),
    *("x-eval-case: one, two", "x-eval-case:", "x-eval-case: TWO"),
)


@pytest.mark.parametrize("header", HEADERS)
def test_with_a_prefix_a_header_that_does_not_name_its_case_alone_is_409(lab: Lab, header: str) -> None:
    own, _ = lab.open("one", 105), lab.open("two", 105, select="header")
    assert lab.ask(request("DELETE", own + "/orders/a-1", header))[0] == 409
    assert lab.ask(request("GET", own + "/orders", "X-Eval-Case: one"))[0] == 200
    assert lab.api.close("two", 105)["served"] == []
    assert len(lab.api.close("one", 105)["served"]) == 1


def test_where_only_prefixes_select_no_header_reaches_an_attempt(suite: Path) -> None:
    with FixtureProcess(suite, FIXTURE_SELECT="prefix") as api, Wire(api.data_port) as wire:
        api.open("one")
        for headers in ((), ("x-eval-case: one",), ("x-eval-case: none",), ("x-lab-attempt: 1", "x-eval-case: one")):
            assert wire.ask(request("DELETE", "/orders/a-1", *headers)).startswith(b"HTTP/1.1 409 ")
        assert api.close("one")["served"] == []


def test_by_hand_and_by_header_the_selection_is_as_the_contract_says(lab: Lab) -> None:
    assert lab.ask(request("GET", "/orders"))[0] == 409
    assert lab.ask(request("GET", "/orders", "x-eval-case: one", "x-eval-case: two"))[0] == 409
    assert lab.ask(request("GET", "/orders", "x-eval-case: one", "x-eval-case: one"))[0] == 200
    assert lab.ask(request("GET", "/orders", "x-eval-case: none"))[0] == 404
    assert lab.ask(request("GET", "/orders", "x-eval-case: \u00fc"))[0] == 404


def test_a_secret_is_in_no_answer_record_or_log_even_when_the_agent_tells_it(lab: Lab) -> None:
    prefix = lab.open("one", 106, toolCallLimit=14, modelCallLimit=1)
    token, url = prefix[2:], f"http://127.0.0.1:{lab.api.data_port}{prefix}"
    sent = [
        request("GET", prefix + "/orders/a-1"),
        request("GET", prefix + prefix + "/orders"),
        request("GET", f"{prefix}/orders/{token}?back={url}", f"referer: {url}", f"x-role: {token}"),
        request("GET", f"{prefix}/search?q={url}"),
        request("GET", f"{prefix}/../{prefix}/search"),
        request("PATCH", prefix + "/echo", JSON_TYPE, body=json.dumps({"url": url}).encode()),
        request("PATCH", prefix + "/echo", body=url.encode()),
        refund(prefix, "a-1", {url: url}),
        mcp(prefix, "refund", id="b~2", kind="full", reason=url),
        mcp(prefix, token, url=url),
        request("OPTIONS", prefix + "/echo"),
        request("HEAD", prefix + "/none"),
        request("GET", prefix + "/orders", f"x-eval-case: {token}"),
        request("GET", prefix + "/orders", f"host: {token}", "\x00"),
        talk(prefix, url),
        talk(prefix, url),
        *[request("GET", f"{prefix}/{token}")] * 12,
    ]
    told = [lab.ask(each)[1] for each in sent]
    with lab.wire() as wire:
        wire.send(request("GET", prefix + "/a") + f"GET {prefix}/\x00 {token}\r\n\r\n".encode())
        told.append(wire.rest())
    told.append(lab.api.control("/attempts", {"case": "one", "attempt": 106}).body)
    told.append(lab.api.control("/attempts/breach", {"case": "one", "attempt": 106}).body)
    closed = lab.api.control("/attempts/close", {"case": "one", "attempt": 106}).body
    lab.log.seek(0)
    told += [closed, lab.ask(request("GET", prefix + "/orders"))[1], lab.log.read()]
    assert b'"breached":"' in closed
    assert b"429" in b"".join(told)
    assert [each for each in told if token.encode() in each] == []


def test_an_agents_own_address_changes_no_digest(lab: Lab) -> None:
    """The prefix is another one each time: a model that is told of it must not make two equal runs differ."""
    closed = []
    for _ in range(2):
        prefix = lab.open("one", 107)
        url = f"http://fixture-api:8080{prefix}"
        for content in (
            talk(prefix, f"use {url}"),
            refund(prefix, "a-1", url),
            request("GET", f"{prefix}{prefix}?at={url}"),
        ):
            lab.ask(content)
        closed.append(lab.api.close("one", 107))
    assert closed[0] == closed[1]
    assert len(closed[0]["served"]) == 3


def test_an_agent_that_tells_its_address_gets_equal_rows_from_any_process_whoever_selects_it(suite: Path) -> None:
    def row(select: str) -> dict[str, object]:
        with FixtureProcess(suite) as api:
            prefix = api.open("one", select=select)
            address = f"http://127.0.0.1:{api.data_port}{prefix}"
            headers = {"x_eval_case": "one"} if select == "header" else {}
            target = f"{'' if select == 'header' else prefix}/echo?plain={address}&quoted={quote(address, safe='')}"
            answer = api.client().ask("PATCH", target, {"callback": f"{address}/hook"}, **headers)
            assert prefix[2:].encode() not in answer.body
            (one,) = api.close("one")["served"]
            found: dict[str, object] = one["row"]
            return found

    assert row("prefix") == row("prefix") == row("header")
