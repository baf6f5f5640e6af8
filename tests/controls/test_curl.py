"""HTTP as curl sees it: kept connections, big bodies, refused ones, offers of HTTP/2, HEAD and OPTIONS."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.fakes.fixture_process import FixtureProcess
from tests.fakes.refund_clients import curl, run_curl
from tests.fakes.refund_desk import ROWS, opened, refund_desk, summary

_MIB = 1024 * 1024


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return refund_desk(tmp_path_factory.mktemp("suites") / "suite")


def test_curl_uses_one_connection_for_two_requests(api: FixtureProcess) -> None:
    desk = opened(api)
    ended = run_curl("--verbose", "--http1.1", f"{desk.url}/orders/a-1", f"{desk.url}/orders/none")
    assert "Re-using existing connection" in ended.stderr
    assert ended.stderr.count("Connected to ") == 1
    assert "left intact" in ended.stderr
    assert [row[3] for row in summary(desk.close())] == [200, 404]


def test_curl_sends_a_big_body_only_after_100_continue(api: FixtureProcess, tmp_path: Path) -> None:
    desk = opened(api)
    big = tmp_path / "big.json"
    big.write_text(json.dumps({"order_id": "a-1", "amount": 1250, "why": "x" * 2 * _MIB}))
    ended = run_curl("--verbose", "--http1.1", "-H", "Expect: 100-continue", "--json", f"@{big}", f"{desk.url}/refunds")
    assert "< HTTP/1.1 100 Continue" in ended.stderr
    assert ended.stdout == '{"refund":"r-1","of":"a-1"}'
    assert summary(desk.close()) == [ROWS[3]]


def test_curl_is_told_413_before_it_sends_too_big_a_body_to_its_end(api: FixtureProcess, tmp_path: Path) -> None:
    desk = opened(api)
    big = tmp_path / "big.bin"
    big.write_bytes(bytes(32 * _MIB))
    written = ("--output", str(tmp_path / "answer"), "--write-out", "%{http_code}")
    assert run_curl(*written, "--data-binary", f"@{big}", f"{desk.url}/refunds").stdout == "413"
    assert desk.close()["served"] == []


def test_curl_offers_http2_and_gets_every_answer_over_http_1_1(api: FixtureProcess) -> None:
    desk = opened(api)
    body = json.dumps({"order_id": "a-1", "amount": 1250})
    ended = run_curl(
        "--verbose",
        "--http2",
        "--json",
        body,
        f"{desk.url}/refunds",
        "--next",
        "--silent",
        "--noproxy",
        "*",
        f"{desk.url}/orders/a-1",
    )
    assert "Upgrade: h2c" in ended.stderr
    assert ended.stdout == '{"refund":"r-1","of":"a-1"}{"amount":1250,"status":"refunded"}'
    assert summary(desk.close()) == [ROWS[3], ROWS[1]]


def test_head_and_options_of_a_route_say_what_get_would(api: FixtureProcess) -> None:
    desk = opened(api)
    head = curl("--head", f"{desk.url}/orders/a-1")
    get = curl("--include", f"{desk.url}/orders/a-1")
    assert get.startswith(head)
    assert set(head.lower().split()) & {"date:", "server:"} == set()
    options = curl("--include", "--request", "OPTIONS", f"{desk.url}/orders/a-1")
    assert "allow: GET, HEAD, OPTIONS" in options
    for page in ("/health", "/clock"):
        for url in (desk.root, desk.url):
            assert "200 OK" in curl("--head", url + page)
    desk.close()
