"""One Compose project of compose.yaml, under a name that nobody else has."""

from __future__ import annotations

import json
import subprocess
import uuid
from pathlib import Path
from typing import Any, Self


class Project:
    """Calls `docker compose` for one project; every call is bounded, and raises with what Compose said."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.name = f"labctl-test-{uuid.uuid4().hex[:10]}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.compose("down", "--volumes", "--remove-orphans")

    def compose(self, *arguments: str, timeout: float = 90) -> str:
        command = [
            "docker",
            "compose",
            "--project-name",
            self.name,
            "--progress",
            "plain",
            "--profile",
            "*",
            *arguments,
        ]
        return self._run(command, timeout=timeout)

    def docker(self, *arguments: str, timeout: float = 60) -> str:
        return self._run(["docker", *arguments], timeout=timeout)

    def _run(self, command: list[str], *, timeout: float) -> str:
        done = subprocess.run(
            command,
            cwd=self.root,
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def container(self, service: str) -> dict[str, Any]:
        """What the engine says of a service's container."""
        found: dict[str, Any] = json.loads(
            self.docker("inspect", self.compose("ps", "--all", "--quiet", service).strip())
        )[0]
        return found

    def addresses(self, service: str) -> dict[str, str]:
        """Network of this project to the service's address in it."""
        networks = self.container(service)["NetworkSettings"]["Networks"]
        return {name.removeprefix(f"{self.name}_"): network["IPAddress"] for name, network in networks.items()}
