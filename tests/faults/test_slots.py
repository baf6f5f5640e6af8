"""Proxies of slots against the real toxiproxy: made anew, read back, counted, whatever its connections do."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from contracts.errors import ErrorCode, LabError
from contracts.order import FaultProxyOrder
from contracts.suite.fault import Toxic
from driver.stacks.toxiproxy import toxiproxy as running
from runner.faults.proxies import FaultProxies
from runner.faults.proxy_door import ProxyDoor
from runner.faults.trouble import FaultProxyError, FaultProxyRefusedError
from runner.faults.witness import all_met
from tests.fakes.keep_alive_loop import Upstream, made_attempts

LATENCY = Toxic(type="latency", attributes={"latency": 1})
ATTEMPTS = 300


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    with Upstream() as upstream:
        yield upstream


@pytest.fixture(scope="module")
def where(toxiproxy: str, upstream: Upstream) -> Iterator[FaultProxyOrder]:
    with running(Path(toxiproxy), upstream=upstream.address, log=lambda *_: None) as order:
        yield order


@pytest.fixture
def door(where: FaultProxyOrder) -> Iterator[ProxyDoor]:
    door = ProxyDoor(where.admin_host, where.admin_port)
    yield door
    door.close()


def test_the_witness_is_right_for_attempts_whose_connections_are_still_open_when_they_end(
    where: FaultProxyOrder, upstream: Upstream
) -> None:
    proxies = FaultProxies(where, slots=3)
    wrong = [one for one in made_attempts(proxies, upstream, count=ATTEMPTS, threads=3) if one.told != one.did]
    proxies.close()

    assert wrong == []


def test_names_and_ports_are_used_again_so_that_the_counters_do_not_grow(
    where: FaultProxyOrder, upstream: Upstream, door: ProxyDoor
) -> None:
    proxies = FaultProxies(where, slots=1)
    before = len(door.counters())
    for _ in made_attempts(proxies, upstream, count=40, threads=1):
        continue
    proxies.close()

    assert len(door.counters()) - before == 2


def test_what_an_agent_still_asks_after_its_attempt_is_counted_for_no_other_one(
    where: FaultProxyOrder, upstream: Upstream
) -> None:
    proxies, url = FaultProxies(where, slots=1, is_outlived=True), f"http://{upstream.address}/x"
    places: list[str] = []
    exposed = []
    for number in range(6):
        with proxies.around([LATENCY], fixture_url=url, model_url=url) as attempt:
            for place in places:
                with suppress(ConnectionRefusedError):
                    upstream.ask(place).close()
            if number == 0:
                upstream.ask(attempt.fixture_url).close()
            places.append(attempt.fixture_url)
        exposed.append(all_met([LATENCY], attempt.flows))
    proxies.close()

    assert exposed == [True, False, False, False, False, False]


def test_a_taken_port_is_given_up_for_another(where: FaultProxyOrder, upstream: Upstream) -> None:
    proxies = FaultProxies(where, slots=1)
    url = f"http://{upstream.address}/x"
    ports = []
    with ExitStack() as kept:
        for _ in range(4):
            with proxies.around([LATENCY], fixture_url=url, model_url=url) as attempt:
                ports.append(int(attempt.fixture_url.split(":")[2].split("/")[0]))
            if len(ports) == 2:
                for port in ports:
                    taken = kept.enter_context(socket.socket())
                    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    taken.bind(("127.0.0.1", port))
                    taken.listen()
    proxies.close()

    assert len(set(ports)) == 4


def test_what_toxiproxy_would_take_without_a_word_is_found_when_it_is_read_back(
    where: FaultProxyOrder, door: ProxyDoor
) -> None:
    ok = {"listen": f"{where.listen}:0", "upstream": where.upstream}
    unknown = LATENCY.model_copy(update={"attributes": {"latency": 1, "latencyy": 5}})
    with pytest.raises(FaultProxyError, match="read back, the proxy lost is "):
        door.make("lost", **ok, toxics=[LATENCY, unknown])
    with pytest.raises(FaultProxyRefusedError, match="it refused POST /proxies/odd/toxics"):
        door.make("odd", **ok, toxics=[LATENCY.model_copy(update={"type": "slowness"})])
    door.make("twice", **ok, toxics=[LATENCY, LATENCY, LATENCY.model_copy(update={"stream": "upstream"})])
    with pytest.raises(FaultProxyRefusedError, match="it refused POST /proxies: "):
        door.make("twice", **ok, toxics=[])
    door.remove("twice")
    with pytest.raises(FaultProxyRefusedError, match="it answered 500 to POST /proxies"):
        door.make("nowhere", listen="192.0.2.1:9", upstream=where.upstream, toxics=[])
    with pytest.raises(FaultProxyRefusedError, match="it refused DELETE /proxies/lost"):
        door.remove("lost")  # what was not as it was asked for is not left


def test_nobody_there_is_an_error_before_the_first_attempt(where: FaultProxyOrder) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    proxies = FaultProxies(where.model_copy(update={"admin_port": port}), slots=1)
    with pytest.raises(LabError) as caught:
        proxies.probe(seconds=0.1)
    proxies.close()

    assert (caught.value.code, caught.value.exit_code) == (ErrorCode.FAULT_NOT_APPLIED, 4)
    assert f"127.0.0.1:{port}: it gave no answer to GET /version (" in str(caught.value)


def test_a_slow_close_of_one_attempt_is_not_counted_for_a_later_one(where: FaultProxyOrder, upstream: Upstream) -> None:
    proxies, url = FaultProxies(where, slots=1), f"http://{upstream.address}/x"
    held = Toxic(type="slow_close", attributes={"delay": 300})
    limited = Toxic(type="limit_data", attributes={"bytes": 1_000_000})
    for number in range(6):
        toxics = [held] if number % 2 == 0 else [limited]
        with proxies.around(toxics, fixture_url=url, model_url=url) as attempt:
            upstream.ask(attempt.fixture_url).close()
        assert all_met(toxics, attempt.flows) is (number % 2 == 0)
    proxies.close()
