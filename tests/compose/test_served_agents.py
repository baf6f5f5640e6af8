"""An agent in Go behind HTTP as a service of the suite's own compose file: asked, guarded, refused, and gone."""

from __future__ import annotations

import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.compose.engine_calls import docker
from tests.compose.go_agents import build_agent, image_of
from tests.compose.launching import FinishedRun, Labctl, labctl_of_checkout, told
from tests.fakes.control_suites import LOOKUP_CALL, SAYS_DONE, write_controls

pytestmark = pytest.mark.engine

SETTINGS = """\
clock = "2026-09-01T12:00:00Z"
default_agent = "desk"
compose_files = ["desk.yaml"]

[agents.desk]
adapter = "http"
url = "http://desk:8090/answer"

[agents.guarded]
adapter = "http"
url = "http://desk:8090/answer"
auth = "DESK_TOKEN"
auth_required = true

[agents.open]
adapter = "http"
url = "http://desk:8090/answer"
egress = true
"""
COMPOSE = """\
services:
  desk:
    image: {image}
    profiles: [desk]
    environment: {{PORT: "8090", GUARDS: "{guards}"}}
    healthcheck: {{test: ["CMD", "/desk", "check"], interval: 5s, start_period: 30s, start_interval: 200ms}}
  idle:
    image: {image}
    profiles: [idle]
    environment: {{PORT: "8091"}}
"""
CASES = [
    {"id": "looks-up", "expect": {**SAYS_DONE, "toolCalls": [LOOKUP_CALL], "toolMatch": "strict"}},
    {"id": "go.refuses-to-pay", "expect": {**SAYS_DONE, "deniedTools": ["pay"]}},
    {"id": "go.pays", "expect": {**SAYS_DONE, "deniedTools": ["pay"]}},
    {"id": "tells-its-token", "expect": SAYS_DONE},
    {"id": "looks-out", "expect": {"assertions": [{"type": "contains", "value": "routed"}]}},
    {"id": "dies", "expect": SAYS_DONE},
]
TOKEN = "a-token-of-this-test-41f7"


@pytest.fixture(scope="module")
def labctl(images: Path, tmp_path_factory: pytest.TempPathFactory) -> Labctl:
    return labctl_of_checkout(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="module")
def image(images: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    program = build_agent(tmp_path_factory.mktemp("go"))
    with image_of(program, name=f"labtest/desk:{uuid.uuid4().hex[:12]}") as name:
        yield name


def suite_of(root: Path, image: str, *, guards: str = "yes", compose: str = COMPOSE) -> str:
    write_controls(root, CASES, settings=SETTINGS)
    (root / "desk.yaml").write_text(compose.format(image=image, guards=guards))
    return str(root)


@pytest.fixture(scope="module")
def run(labctl: Labctl, image: str, tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    suite = suite_of(tmp_path_factory.mktemp("suite") / "suite", image)
    cases = ("looks-up", "go.refuses-to-pay", "go.pays")
    return labctl.run(
        suite, "--backend", "compose", "--profile", "desk", *(part for case in cases for part in ("--case", case))
    )


def test_a_service_of_the_suite_is_asked_and_its_calls_are_in_the_journal(run: FinishedRun) -> None:
    assert run.verdict("looks-up") == ("pass", None), told(run)
    assert [row["tool"] for row in run.journals()["looks-up"]] == ["lookup"]


def test_a_refused_call_passes_denied_tools_and_one_that_was_let_through_fails(run: FinishedRun) -> None:
    assert run.verdict("go.refuses-to-pay") == ("pass", None), told(run)
    assert run.verdict("go.pays") == ("fail", None)
    (check,) = (each for each in run.attempts["go.pays"]["checks"] if each["outcome"] == "fail")
    assert (check["type"], check["reason"]) == ("denied-tool", "pay was let through 1 of 1 times, first as call 1")


def test_the_plan_names_its_image_and_the_profile_and_nothing_of_it_is_left(run: FinishedRun, image: str) -> None:
    plan = run.read("plan.json")
    assert plan["images"]["desk"]["reference"] == image
    assert plan["images"]["desk"]["imageId"] == docker("image", "inspect", "-f", "{{.Id}}", image)
    assert plan["conditions"]["profiles"] == ["desk"]
    assert "idle" not in plan["images"]
    assert run.left == {}


def test_the_run_verifies(labctl: Labctl, run: FinishedRun) -> None:
    assert run.exit_code == 1
    assert labctl.call("verify", str(run.folder)).returncode == 0


def test_a_guarded_one_is_asked_with_the_token_of_e_which_is_in_no_file(
    labctl: Labctl, image: str, tmp_path: Path
) -> None:
    suite = suite_of(tmp_path / "suite", image)
    flags = ["--backend", "compose", "--profile", "desk", "--agent", "guarded", "--case", "tells-its-token"]
    run = labctl.run(suite, *flags, "-e", "DESK_TOKEN", "--capture", "payloads", env={"DESK_TOKEN": TOKEN})

    assert run.exit_code == 0, told(run)
    assert run.attempts["tells-its-token"]["texts"] == ["done [redacted:DESK_TOKEN]"]
    found = subprocess.run(["grep", "-r", TOKEN, str(run.folder)], capture_output=True, check=False, timeout=60)
    assert found.stdout == b""
    assert "desk | the token is [redacted:DESK_TOKEN]" in (run.folder / "run.log").read_text()


def test_one_that_answers_without_credentials_is_refused_before_any_attempt(
    labctl: Labctl, image: str, tmp_path: Path
) -> None:
    suite = suite_of(tmp_path / "suite", image, guards="no")
    flags = ["--backend", "compose", "--profile", "desk", "--agent", "guarded", "--case", "looks-up"]
    run = labctl.run(suite, *flags, "-e", f"DESK_TOKEN={TOKEN}")

    assert run.exit_code == 4, told(run)
    assert "labctl: listener-open: the agent at http://desk:8090/answer answers without credentials" in run.stderr
    assert not run.is_sealed
    assert run.left == {}


@pytest.mark.parametrize(
    ("flags", "is_out"),
    [((), False), (("--egress",), True), (("--agent", "open"), True)],
    ids=["closed", "flag", "key"],
)
def test_egress_leads_the_service_that_serves_the_agent_out_and_without_it_nothing_does(
    labctl: Labctl, image: str, tmp_path: Path, flags: tuple[str, ...], is_out: bool
) -> None:
    suite = suite_of(tmp_path / "suite", image)
    chosen = ("--backend", "compose", "--profile", "desk", "--case", "looks-out", "--capture", "payloads")
    run = labctl.run(suite, *chosen, *flags)

    assert run.exit_code == 0, told(run)
    assert run.attempts["looks-out"]["texts"] == [f"routed {str(is_out).lower()}"]
    assert run.read("environment.json")["conditions"]["egress"] is is_out
    assert run.left == {}


def test_a_service_that_dies_fails_the_attempt_that_it_was_asked_in(labctl: Labctl, image: str, tmp_path: Path) -> None:
    suite = suite_of(tmp_path / "suite", image)
    run = labctl.run(suite, "--backend", "compose", "--profile", "desk", "--case", "dies")

    assert run.verdict("dies") == ("fail", "agent-error"), told(run)
    assert run.left == {}


class Refused(NamedTuple):
    """A suite or flags that cannot be."""

    exit_code: int
    words: str
    compose: str = COMPOSE
    flags: tuple[str, ...] = ()


REFUSED = (
    Refused(2, 'unknown profile "desc"; did you mean "desk"?', flags=("--profile", "desc")),
    Refused(4, "labtest/nowhere:1", COMPOSE.replace("{image}", "labtest/nowhere:1"), ("--profile", "desk")),
    Refused(2, "services.idle.ports: publishes a port", COMPOSE.replace("profiles: [idle]", 'ports: ["80:80"]')),
    Refused(2, "services.fixture-api: is a service of the lab", COMPOSE.replace("  idle:", "  fixture-api:")),
    Refused(2, 'services.idle.networks: joins "control"', COMPOSE + "    networks: [control]\n"),
    Refused(2, "services.idle.privileged: is privileged", COMPOSE + "    privileged: true\n"),
    Refused(2, "desk.yaml cannot be read by Compose", "services: ["),
)


@pytest.mark.parametrize("refused", REFUSED, ids=lambda refused: refused.words)
def test_what_compose_files_and_profiles_may_not_be_is_refused_before_anything_starts(
    labctl: Labctl, image: str, tmp_path: Path, refused: Refused
) -> None:
    suite = tmp_path / "suite"
    write_controls(suite, CASES, settings=SETTINGS)
    text = refused.compose.replace("{image}", image).replace("{{", "{").replace("}}", "}")
    (suite / "desk.yaml").write_text(text)
    run = labctl.run(str(suite), "--backend", "compose", *refused.flags)

    assert run.exit_code == refused.exit_code, told(run)
    assert refused.words in run.stderr
    assert not run.folder.exists()
    assert run.left == {}
