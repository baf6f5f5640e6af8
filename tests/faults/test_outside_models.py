"""Toxics on the way to a model outside: plain HTTP at `model_url`, for the lab's own loop and for a program."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.fakes.fault_runs import FaultRun
from tests.fakes.fault_suite import SETTINGS, toxic_case, write_fault_suite
from tests.fakes.model_service import ModelService, completion, model_service

Labctl = Callable[..., FaultRun]
SLOW = toxic_case("latency", "model", "patient", target="model")
CUT = toxic_case("reset_peer", "model", "patient", target="model")
CLEAN = {"id": "clean.model.patient"}
OUTSIDE = """
[agents.chat-outside]
adapter = "chat"
model = "own/some"
model_url = "{url}"

[agents.program-outside]
adapter = "command"
command = ["python3", "{{suite}}/agents/caller.py"]
model = "own/some"
model_url = "{url}"
"""


@pytest.fixture(scope="module")
def service() -> Iterator[ModelService]:
    with model_service(lambda _: completion("done")) as service:
        yield service


@pytest.fixture(scope="module")
def suite(service: ModelService, tmp_path_factory: pytest.TempPathFactory) -> Path:
    suite = write_fault_suite(tmp_path_factory.mktemp("suites") / "suite", [SLOW, CUT, CLEAN])
    (suite / "suite.toml").write_text(SETTINGS + OUTSIDE.format(url=service.url))
    return suite


def test_the_loop_s_own_client_goes_through_the_proxy_and_a_cut_model_is_no_provider_s_failure(
    labctl: Labctl, suite: Path
) -> None:
    run = labctl(str(suite), "--profile", "fault", "--agent", "chat-outside")

    assert (run.verdict(SLOW["id"]), run.met(SLOW["id"])) == (("pass", None), [("latency", True)]), run.told()
    assert (run.verdict(CUT["id"]), run.met(CUT["id"])) == (("fail", "agent-error"), [("reset_peer", True)])
    assert run.verdict("clean.model.patient") == ("pass", None)


def test_a_program_is_told_the_proxied_model_url_with_its_own_path(
    labctl: Labctl, suite: Path, service: ModelService
) -> None:
    before = len(service.paths)
    run = labctl(str(suite), "--profile", "fault", "--agent", "program-outside")

    assert [run.verdict(case)[0] for case in (SLOW["id"], CUT["id"], "clean.model.patient")] == ["pass"] * 3, run.told()
    assert (run.met(SLOW["id"]), run.met(CUT["id"])) == ([("latency", True)], [("reset_peer", True)])
    assert set(service.paths[before:]) == {"/v1/chat/completions"}
