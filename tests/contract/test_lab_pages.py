"""/health and /clock are the lab's own everywhere, and no framework answers on the data port in its own words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.fixture_process import DataClient, FixtureProcess, Reply
from tests.fakes.open_world import case
from tests.fakes.suite_folder import SuiteFolder

PAGES = {
    "/health": {"status": "ok", "revision": "fixtures-1", "clock": "2026-09-01T12:00:00Z"},
    "/clock": {"clock": "2026-09-01T12:00:00Z", "timezone": "UTC", "epochSeconds": 1788264000},
}
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
ROUTES: list[dict[str, Any]] = [
    {"id": f"any-{method.lower()}", "method": method, "path": "/{page}", "responses": [{"text": "the suite's"}]}
    for method in METHODS
]
WAYS = ["by hand", "by header", "of an attempt by header", "below a prefix"]


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FixtureProcess]:
    """A suite whose routes would take any path of one segment."""
    folder = SuiteFolder(tmp_path_factory.mktemp("suites") / "suite", cases=[case("one")], routes=ROUTES, tools=[])
    with FixtureProcess(folder.write()) as process:
        yield process


class Asked:
    """The data port, asked in one of the ways."""

    def __init__(self, api: FixtureProcess, way: str) -> None:
        self._api, self._client = api, api.client()
        select = "header" if "attempt by header" in way else "prefix"
        prefix = api.open("one", select=select, requestLimit=1)
        self._prefix = prefix if way == "below a prefix" else ""
        self._headers = {} if way in ("by hand", "below a prefix") else {"x-eval-case": "one"}

    def ask(self, method: str, path: str, body: Any = None) -> Reply:
        return self._client.ask(method, self._prefix + path, body, **self._headers)

    def rows(self) -> list[Any]:
        """What was journaled; the attempt is over."""
        closed = self._api.close("one")
        assert closed["breached"] is None
        served: list[Any] = closed["served"]
        return served


@pytest.fixture(params=WAYS)
def asked(api: FixtureProcess, request: pytest.FixtureRequest) -> Asked:
    return Asked(api, request.param)


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_the_same_whichever_way_it_is_asked_for_and_no_route_takes_it(asked: Asked, path: str) -> None:
    got = asked.ask("GET", path)
    assert (got.status, got.json()) == (200, PAGES[path])
    assert got.headers == (("content-type", "application/json"), ("content-length", str(len(got.body))))
    assert asked.ask("GET", f"/%{ord(path[1]):02x}{path[2:]}") == got
    head = asked.ask("HEAD", path)
    assert (head.status, head.headers, head.body) == (200, got.headers, b"")
    options = asked.ask("OPTIONS", path)
    assert (options.status, dict(options.headers)["allow"]) == (204, "GET, HEAD, OPTIONS")
    assert asked.rows() == []


@pytest.mark.parametrize("path", PAGES)
def test_a_page_can_only_be_read_whichever_way_it_is_asked_for(asked: Asked, path: str) -> None:
    for method in METHODS[1:]:
        refused = asked.ask(method, path, {"status": "bad"})
        assert refused.status == 405
        headers = dict(refused.headers)
        assert (headers["allow"], headers["content-type"]) == ("GET, HEAD, OPTIONS", "application/problem+json")
        assert refused.json() == {
            "title": "Only for reading",
            "status": 405,
            "detail": f"{path} is the lab's own page, and can only be read: send GET. No route of a suite is there.",
        }
    assert asked.ask("GET", path).json() == PAGES[path]
    assert asked.rows() == []


FRAMEWORK = ["/docs", "/docs/oauth2-redirect", "/redoc", "/openapi.json", "/health/", "/clock/", "//health", "/Health"]


@pytest.mark.parametrize("path", FRAMEWORK)
def test_a_frameworks_own_pages_and_redirects_are_not_there(asked: Asked, path: str) -> None:
    for method in ("GET", "POST"):
        reply = asked.ask(method, path)
        is_routes = reply.body == b"the suite's"
        assert is_routes or dict(reply.headers)["content-type"] == "application/problem+json"
        assert is_routes or reply.status in (404, 409, 429)
        assert not {"location", "set-cookie"} & {name for name, _ in reply.headers}
    asked._api.close("one")


def test_a_case_that_is_not_there_and_a_dead_prefix_have_no_page_of_their_own(api: FixtureProcess) -> None:
    client = DataClient(api.data_port)
    assert client.ask("GET", "/health", x_eval_case="none").status == 200  # a page needs no case
    assert client.ask("GET", "/~" + "0" * 32 + "/health").status == 404
    prefix = api.open("one", 2)
    assert client.ask("GET", f"{prefix}/health", x_eval_case="two").status == 409
    api.close("one", 2)
    client.close()


def test_the_control_port_tells_its_health_too(api: FixtureProcess) -> None:
    assert api.control("/health").json() == PAGES["/health"]


def test_in_runs_with_prefixes_a_page_still_needs_none(tmp_path: Path) -> None:
    suite = SuiteFolder(tmp_path / "suite", cases=[case("one")], routes=ROUTES, tools=[]).write()
    with FixtureProcess(suite, FIXTURE_SELECT="prefix") as api:
        assert api.client().ask("GET", "/health").json() == PAGES["/health"]
        assert api.client().ask("POST", "/health").status == 405
        assert api.client().ask("POST", "/healthy").status == 409
