"""The fixture API as a process: the same bytes from any of them, its settings, its end, and why it does not start."""

from __future__ import annotations

import re
import signal
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.fakes.fixture_process import ROOT, TIMEOUT_S, FixtureProcess, Reply
from tests.fakes.small_world import ROUTES, TALK
from tests.fakes.suite_folder import SuiteFolder


def script(api: FixtureProcess) -> tuple[list[Reply], dict[str, Any]]:
    client = api.client()
    prefix = api.open("two", 1, model="scripted/support", prompt="polite", toolCallLimit=6, requestLimit=6)
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
