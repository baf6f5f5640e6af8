"""How docker-agent's program gets out of an image, with a program in the place of `docker` that notes its calls."""

from __future__ import annotations

from pathlib import Path

from contracts.plan import ImageIdentity
from driver.docker_agent_binary import IMAGE_KEY
from driver.ports import StagedAgentFile, World
from driver.stacks.docker_agent_place import BINARY, docker_agent_mounts
from tests.fakes.written_runs import plan_of

RUNTIME = """#!/bin/sh
printf '%s\\n' "$*" >> "$0.calls"
case "$1" in
  create) echo 0a1b2c;;
  cp) echo program >"$3";;
esac
"""


def test_the_container_that_holds_the_image_is_the_runs_own_so_that_clean_finds_it(tmp_path: Path) -> None:
    runtime = tmp_path / "engine"
    runtime.write_text(RUNTIME)
    runtime.chmod(0o755)
    image = ImageIdentity(reference="docker-agent:1", digest="d", image_id="sha256:1")
    plan = plan_of("greets").model_copy(update={"images": {IMAGE_KEY: image}})
    world = World(
        plan=plan,
        suite=tmp_path,
        agent_suite=tmp_path,
        agent_env={},
        suite_root=tmp_path,
        agent_file=StagedAgentFile(folder=tmp_path, file="agent.yaml", text=None, binary=None),
    )

    mounts = docker_agent_mounts(world, runtime=str(runtime), folder=tmp_path)

    assert mounts[BINARY].read_text() == "program\n"
    create, _, remove = Path(f"{runtime}.calls").read_text().splitlines()
    assert f"--label labctl.run={plan.run_id} --label labctl.owner=" in create
    assert remove == "rm --force 0a1b2c"
