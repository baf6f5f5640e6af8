"""Fixtures of every folder: a suite's fixture API with a client, how many rounds a long loop takes; and the groups."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from xdist.scheduler import LoadScopeScheduling

from tests.fakes.fixture_process import DataClient, FixtureProcess

_ROOT = Path(__file__).resolve().parents[1]
Rounds = Callable[..., int]
_COUNTED = ("passed", "failed", "error", "skipped")


@pytest.fixture(scope="module")
def api(suite: Path) -> Iterator[FixtureProcess]:
    """One for all tests of a file; `suite` is its folder's, or its own."""
    with FixtureProcess(suite) as process:
        yield process


@pytest.fixture
def client(api: FixtureProcess) -> Iterator[DataClient]:
    connection = api.client()
    yield connection
    connection.close()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--soak", action="store_true", help="long loops take the numbers that docs/reliability.md names")


@pytest.fixture(scope="session")
def rounds(pytestconfig: pytest.Config) -> Rounds:
    """`rounds(ci=20, soak=1000)`: how often a long loop goes round, here and under `make soak`."""

    def chosen(*, ci: int, soak: int) -> int:
        return soak if pytestconfig.getoption("--soak") else ci

    return chosen


class Beside(LoadScopeScheduling):  # type: ignore[misc]  # it has no types
    """Gives the tests of a file to one worker, and all files that need the engine to the same one."""

    def _split_scope(self, nodeid: str) -> str:
        file, _, _ = nodeid.partition("::")
        return "engine" if "mark.engine" in (_ROOT / file).read_text(encoding="utf-8") else file


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Beside:
    """For `--dist=loadscope`: runs that share the engine side by side would share its networks and its time."""
    return Beside(config, log)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    reasons: dict[str, set[str]] = defaultdict(set)
    for word in _COUNTED:
        for report in terminalreporter.getreports(word):
            group = _group(report.nodeid)
            counts[group][word] += 1
            if word == "skipped" and isinstance(report.longrepr, tuple):
                reasons[group].add(str(report.longrepr[2]).removeprefix("Skipped: "))
    terminalreporter.section("groups")
    for group in sorted(counts):
        told = ", ".join(f"{counts[group][word]} {word}" for word in _COUNTED if counts[group][word])
        terminalreporter.write_line(f"{group}: {told}" + "".join(f" ({reason})" for reason in sorted(reasons[group])))


def _group(node_id: str) -> str:
    parts = Path(node_id.partition("::")[0]).parts
    return "/".join(parts[:2])
