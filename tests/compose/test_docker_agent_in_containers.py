"""A docker-agent file with its recorded sessions on Compose: a container for each, set up, with its own folder."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.compose.engine_calls import docker
from tests.compose.launching import Labctl, labctl_of_checkout, told
from tests.compose.small_images import image_of, shell_folder
from tests.fakes.docker_agent_streams import begins, called, ends, says, spends, text_of
from tests.fakes.docker_agent_suites import AGENT
from tests.fakes.session_folder import said, session, write_sessions

pytestmark = pytest.mark.engine

PROGRAM = """\
#!/bin/sh
# replays the stream that lies beside the agent file, and tells where it runs
if [ "$1" = version ]; then echo "docker-agent version v0.0.0-replay"; exit 0; fi
ls /configs /working_dir >&2
echo "arguments: $*" >&2
echo "token: ${TOKEN:-none}" >&2
cat /configs/stream.jsonl
"""
STREAM = [*begins("go"), *called("list_directory", {"path": "./"}), *says("do", "ne"), *spends(0.25), *ends()]
ASKED = [said("user", "list the files"), said("assistant", "", tools=("list_directory",)), said("assistant", "done")]
DONE = [{"type": "equals", "value": "done"}]


@pytest.fixture(scope="module")
def labctl(images: Path, tmp_path_factory: pytest.TempPathFactory) -> Labctl:
    return labctl_of_checkout(tmp_path_factory.mktemp("labctl"))


@pytest.fixture(scope="module")
def shell(images: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with image_of(shell_folder(tmp_path_factory.mktemp("shell"))) as name:
        yield name


def program_in(folder: Path) -> Path:
    folder.mkdir(parents=True)
    program = folder / "docker-agent"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    return program


@pytest.fixture(scope="module")
def binary_image(images: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("binary") / "root"
    program_in(folder)
    with image_of(folder) as name:
        yield name


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    """The agent file, with its stream and its evals/ beside it."""
    root = tmp_path / "reviewer"
    sessions = {
        "plain": session(*ASKED, assertions=DONE),
        "Prüfung": session(*ASKED, setup="echo made >/working_dir/made", working_dir="desk", size="S", assertions=DONE),
    }
    write_sessions(root / "evals", sessions, files={"working_dirs/desk/notes": "of the suite\n"})
    (root / "agent.yaml").write_text(AGENT)
    (root / "stream.jsonl").write_text(text_of(STREAM))
    return root / "agent.yaml"


def test_recorded_sessions_run_as_they_stand_in_containers_of_their_own(
    labctl: Labctl, shell: str, agent: Path, tmp_path: Path
) -> None:
    program = program_in(tmp_path / "bin")
    env = {"PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"}

    done = labctl.run("--agent", str(agent), "--base-image", shell, "--egress", "-e", "TOKEN=of-the-test", env=env)

    assert done.exit_code == 0, told(done)
    assert set(done.attempts) == {"plain", "Prüfung"}
    one = done.attempts["Prüfung"]
    assert [check["score"] for check in one["checks"] if check["type"] == "tool-calls"] == [1]
    assert one["usage"]["costUsd"] == pytest.approx(0.25)
    conditions = done.read("environment.json")["conditions"]
    assert (conditions["isolation"], conditions["egress"], conditions["tools"]) == ("container", True, "live")
    assert done.read("plan.json")["agent"]["binary"]["version"] == "docker-agent version v0.0.0-replay"
    assert (done.folder / "agent" / "agent.yaml").is_file()
    assert not (done.folder / "agent" / "evals").exists()
    assert json.loads((done.folder / "sessions.json").read_text())
    assert "of-the-test" not in "".join(
        path.read_text(errors="replace") for path in done.folder.rglob("*") if path.is_file()
    )
    assert done.left == {}


def test_the_program_of_an_image_and_a_folder_of_its_own_are_what_the_agent_finds(
    labctl: Labctl, shell: str, binary_image: str, agent: Path
) -> None:
    table = '[agents.reviewer]\nadapter = "docker-agent"\nfile = "../agent.yaml"\negress = true\n'
    (agent.parent / "evals" / "suite.toml").write_text(f'{table}binary_image = "{binary_image}"\nimage = "{shell}"\n')

    done = labctl.run(str(agent.parent / "evals"), "--capture", "payloads", env={"PATH": os.environ["PATH"]})

    assert done.exit_code == 0, told(done)
    log = done.attempts["Prüfung"]["log"].splitlines()
    assert {"agent.yaml", "stream.jsonl", "notes", "made"} <= set(log)
    assert "evals" not in log
    assert "arguments: run --exec --json --yolo /configs/agent.yaml list the files" in log
    image = done.read("plan.json")["images"]["docker-agent"]
    assert image["imageId"] == docker("image", "inspect", "-f", "{{.Id}}", binary_image)
    assert done.left == {}
