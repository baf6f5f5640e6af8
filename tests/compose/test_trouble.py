"""An environment that cannot run the lab: exit 4, the thing by its name, and nothing left behind."""

from __future__ import annotations

import json
import re
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.compose.checkouts import copy_checkout, labctl_of_copy
from tests.compose.engine_calls import docker
from tests.compose.launching import FinishedRun, Labctl, LiveRun, labctl_of_checkout, told

pytestmark = pytest.mark.engine

COMPOSE = ("--backend", "compose", "--case", "unknown-order")
ABSENT = "sha256:" + "0" * 64
LAST_WORDS = "the dataset is on fire"
POOL_LABEL = "labctl.test.pool"
MAX_NETWORKS = 300


def fails_with(run: FinishedRun, code: str) -> None:
    """Exit 4 for this reason, on stderr alone, and no trace of the run anywhere."""
    assert run.exit_code == 4, told(run)
    assert f"labctl: {code}: " in run.stderr
    assert "\nnext: " in run.stderr
    assert run.stdout == ""
    assert run.left == {}
    assert not run.folder.exists()
    assert list(run.folder.parent.iterdir()) == []


@pytest.fixture
def copied(images: Path, tmp_path: Path) -> Labctl:
    """The labctl of a copy of the checkout that a test may change."""
    return labctl_of_copy(copy_checkout(tmp_path / "labctl"), work=tmp_path)


def set_image(labctl: Labctl, variable: str, reference: str) -> None:
    env_file = labctl.root / ".env"
    text, changed = re.subn(rf"^{variable}=.*$", f"{variable}={reference}", env_file.read_text(), flags=re.MULTILINE)
    assert changed == 1
    env_file.write_text(text)


def image_of(labctl: Labctl, variable: str) -> str:
    (found,) = re.findall(rf"^{variable}=(.*)$", (labctl.root / ".env").read_text(), flags=re.MULTILINE)
    return str(found)


@contextmanager
def fixture_api_that(runs: str, *, of: Labctl) -> Iterator[None]:
    """Within: the copy's fixture API is an image with the right labels that runs this Python program instead."""
    container = docker("create", image_of(of, "FIXTURE_API_IMAGE"))
    entry = json.dumps(["/opt/lab/bin/python", "-uc", runs])
    image = docker("commit", "--change", f"ENTRYPOINT {entry}", "--change", "CMD []", container)
    docker("rm", container)
    set_image(of, "FIXTURE_API_IMAGE", image)
    yield
    docker("image", "rm", image)


@pytest.fixture(scope="module", autouse=True)
def never_healthy(images: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveRun]:
    """A run whose fixture API lives and never answers; started first, because the engine gives it most of a minute."""
    work = tmp_path_factory.mktemp("never-healthy")
    labctl = labctl_of_copy(copy_checkout(work / "labctl"), work=work)
    with (
        fixture_api_that(f"import time; print('{LAST_WORDS}'); time.sleep(600)", of=labctl),
        labctl.started(*COMPOSE) as live,
    ):
        yield live


def test_an_image_that_is_not_on_the_machine_is_named(copied: Labctl) -> None:
    set_image(copied, "RUNNER_IMAGE", ABSENT)
    run = copied.run(*COMPOSE)
    fails_with(run, "image-missing")
    assert f"RUNNER_IMAGE={ABSENT}" in run.stderr
    assert "next: make setup" in run.stderr


def test_without_env_file_the_next_step_is_make_setup(copied: Labctl) -> None:
    (copied.root / ".env").unlink()
    run = copied.run(*COMPOSE)
    fails_with(run, "image-missing")
    assert "next: make setup" in run.stderr


def test_an_image_of_other_code_than_the_checkouts_is_stale(copied: Labctl) -> None:
    with (copied.root / "runner" / "__main__.py").open("a") as code:
        code.write("# changed after the image was built\n")
    run = copied.run(*COMPOSE)
    fails_with(run, "image-stale")
    assert "eval-runner" in run.stderr
    assert "fixture-api" not in run.stderr


def test_an_image_of_another_service_is_stale(copied: Labctl) -> None:
    set_image(copied, "FIXTURE_API_IMAGE", image_of(copied, "AGENT_IMAGE"))
    fails_with(copied.run(*COMPOSE), "image-stale")


def test_a_fixture_api_that_ends_at_once_is_told_with_its_last_words(copied: Labctl) -> None:
    with fixture_api_that(f"import sys; sys.exit('{LAST_WORDS}')", of=copied):
        run = copied.run(*COMPOSE)
    fails_with(run, "stack-not-healthy")
    assert "fixture-api" in run.stderr
    assert LAST_WORDS in run.stderr


def test_without_an_engine_compose_is_refused_and_auto_says_why_it_takes_processes(
    images: Path, tmp_path: Path
) -> None:
    labctl = labctl_of_checkout(tmp_path)
    nowhere = {"DOCKER_HOST": f"unix://{tmp_path}/no.sock"}
    fails_with(labctl.run(*COMPOSE, env=nowhere), "no-engine")
    run = labctl.run("--backend", "auto", "--case", "unknown-order", env=nowhere)
    assert run.exit_code == 0, told(run)
    assert "backend process: no container engine answers" in run.stderr
    assert run.read("environment.json")["conditions"]["backend"] == "process"


def test_a_fixture_api_that_never_gets_healthy_is_told_with_its_last_words(never_healthy: LiveRun) -> None:
    run = never_healthy.wait()
    fails_with(run, "stack-not-healthy")
    assert "fixture-api" in run.stderr
    assert "unhealthy" in run.stderr
    assert LAST_WORDS in run.stderr


class Pool:
    """Takes every address range that the engine gives to networks, under a label of its own."""

    def __init__(self) -> None:
        self.mark = uuid.uuid4().hex[:10]
        self.names: list[str] = []

    def fill(self) -> None:
        """Until the engine has none left."""
        for number in range(MAX_NETWORKS):
            name = f"labctl-test-pool-{self.mark}-{number}"
            create = ["docker", "network", "create", "--label", f"{POOL_LABEL}={self.mark}", name]
            done = subprocess.run(create, capture_output=True, text=True, check=False, timeout=60)
            if done.returncode:
                assert "address pool" in done.stderr, done.stderr
                return
            self.names.append(name)
        pytest.fail(f"the engine gave {MAX_NETWORKS} networks")

    def give_back(self, count: int) -> None:
        """Some of the ranges."""
        docker("network", "rm", *(self.names.pop() for _ in range(count)))


@pytest.fixture
def pool(images: Path) -> Iterator[Pool]:
    pool = Pool()
    try:
        pool.fill()
        yield pool
    finally:
        pool.give_back(len(pool.names))


def test_an_exhausted_network_pool_is_named_with_its_owners_and_nothing_is_left(pool: Pool, tmp_path: Path) -> None:
    labctl = labctl_of_checkout(tmp_path)
    none_left = labctl.run(*COMPOSE)
    pool.give_back(1)  # the run takes it for its first network, and has none for its second
    one_left = labctl.run(*COMPOSE)
    for run in (none_left, one_left):
        fails_with(run, "network-pool-exhausted")
        assert all(name in run.stderr for name in pool.names)
