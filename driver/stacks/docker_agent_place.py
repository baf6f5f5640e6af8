"""Where a docker-agent agent finds its folder and its program in a container, and how both get there."""

from __future__ import annotations

import json
from pathlib import Path

from contracts.order import DockerAgentOrder
from driver.docker_agent_binary import IMAGE_KEY
from driver.owner import own_identity
from driver.ports import StagedAgentFile, World
from driver.stacks.container_calls import must
from driver.stacks.ownership import OWNER_LABEL, RUN_LABEL

CONFIGS, BINARY = "/configs", "/docker-agent"


def docker_agent_mounts(world: World, *, runtime: str, folder: Path) -> dict[str, Path]:
    """Path in a container to what stands there, read-only; empty for other agents.

    A program from an image is copied out of it into `folder` first. Raises LabError ENGINE_FAILED.
    """
    file = world.agent_file
    if file is None:
        return {}
    return {CONFIGS: file.folder, BINARY: file.binary or _out_of_image(world, runtime=runtime, folder=folder)}


def docker_agent_order(file: StagedAgentFile | None) -> DockerAgentOrder | None:
    """What the runner is told; None for other agents."""
    if file is None:
        return None
    return DockerAgentOrder(binary=BINARY, folder=CONFIGS, file=file.file, text=file.text)


def write_docker_agent_part(folder: Path, mounts: dict[str, Path]) -> Path:
    """A file for Compose to merge: the mounts, for the agent that all attempts share."""
    volumes = [
        {
            "type": "bind",
            "source": str(source),
            "target": target,
            "read_only": True,
            "bind": {"create_host_path": False},
        }
        for target, source in mounts.items()
    ]
    path = folder / "docker-agent.json"  # JSON is YAML
    path.write_text(json.dumps({"services": {"agent": {"volumes": volumes}}}))
    return path


def _out_of_image(world: World, *, runtime: str, folder: Path) -> Path:
    image, target = world.plan.images[IMAGE_KEY].image_id, folder / "docker-agent"
    labels = {RUN_LABEL: world.plan.run_id, OWNER_LABEL: own_identity()}  # or nothing would clean up after a kill
    named = [part for key, value in labels.items() for part in ("--label", f"{key}={value}")]
    made = [runtime, "create", "--pull", "never", *named, "--network", "none", image, BINARY]
    container = must(made, what="look into binary_image").splitlines()[-1]
    try:
        must([runtime, "cp", f"{container}:{BINARY}", str(target)], what=f"take {BINARY} out of binary_image")
    finally:
        must([runtime, "rm", "--force", container], what="remove what held binary_image")
    target.chmod(0o755)
    return target
