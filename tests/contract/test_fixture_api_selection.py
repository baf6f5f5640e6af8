"""Which world a request belongs to: by prefix, by header, by hand; and worlds side by side."""

from __future__ import annotations

import base64
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.fakes.fixture_process import DataClient, FixtureProcess, Reply
from tests.fakes.small_world import TALK


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


def told_of(api: FixtureProcess, attempt: int) -> tuple[list[Reply], str]:
    """What an attempt gets that writes its own address everywhere in many spellings, and all that its closing tells."""
    prefix = api.open("one", attempt, model="scripted/support", prompt="polite")
    url = f"http://127.0.0.1:{api.data_port}{prefix}"
    escaped = "".join(f"%{ord(char):02x}" if at % 2 else char for at, char in enumerate(url))
    encoded = [base64.urlsafe_b64encode(b"." * before + url.encode()).decode() for before in range(3)]
    spelled = [url, url.upper(), quote(url, safe=""), quote(escaped, safe=""), *encoded]
    client = api.client()
    replies = [client.ask("GET", f"{prefix}/order/{quote(text, safe='%')}?q={text}") for text in spelled]
    replies += [client.ask("POST", f"{prefix}/refunds", {"amount": text}, referer=text) for text in spelled]
    replies += [client.ask("GET", f"{prefix}/shops", x_shop=text) for text in spelled]
    replies.append(client.ask("POST", f"{prefix}/v1/chat/completions", {"messages": [{"role": "x", "content": url}]}))
    replies.append(client.ask("POST", f"{prefix}/mcp", {"jsonrpc": "2.0", "id": url.upper(), "method": "ping"}))
    closed = api.close("one", attempt)
    for served in closed["served"]:
        served["row"]["attempt"] = 0
    assert len(closed["served"]) == 3 * len(spelled) + 1
    return replies, json.dumps(closed)


def test_an_own_address_in_any_spelling_is_in_no_row_and_no_answer_and_changes_no_digest(api: FixtureProcess) -> None:
    (replies, closed), others = (told_of(api, attempt) for attempt in (118, 119))
    assert (replies, closed) == others
    assert closed.count("<prefix>") >= 3 * 7
    assert "<host>/~<prefix>" in closed
    assert b"<prefix>" in replies[0].body
    assert str(api.data_port) not in closed


@pytest.mark.parametrize("tail", ["", "/", "x", "/~", "?x=1"])
def test_what_only_looks_like_a_prefix_is_none(client: DataClient, tail: str) -> None:
    assert client.ask("GET", "/~abc" + tail).status == 404


def test_a_path_that_only_begins_like_a_prefix_is_a_routes_own_by_header_too(
    api: FixtureProcess, client: DataClient
) -> None:
    prefix = api.open("one", 130)
    for path in ("/~me/x", "/%7Eme/x", "/~" + "a" * 33, "/~" + "g" * 32 + "/x"):
        below = client.ask("GET", prefix + path)
        by_header = client.ask("GET", path, x_eval_case="one")
        assert below == by_header
        assert b"No route answers" in below.body
        assert b"No such attempt" in client.ask("GET", path).body
    assert b"No such attempt" in client.ask("GET", "/~" + "a" * 32 + "/x", x_eval_case="one").body
    api.close("one", 130)


def test_a_case_that_is_not_there_is_said_again_only_where_it_could_be_one_and_is_no_secret(
    api: FixtureProcess, client: DataClient
) -> None:
    token = api.open("one", 131)[2:]
    for secret in (token, token.upper(), f"x{token}", f"{token}/orders"):
        unknown = client.ask("GET", "/quick", x_eval_case=secret)
        assert unknown.status == 404
        assert token not in unknown.body.decode().lower()
    assert "no-such" in client.ask("GET", "/quick", x_eval_case="no-such").json()["detail"]
    assert "No Such" not in client.ask("GET", "/quick", x_eval_case="No Such").json()["detail"]
    api.close("one", 131)


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
