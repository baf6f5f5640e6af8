"""Images of agents in Go, made here from nothing: one static file, no registry."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.compose.engine_calls import docker

SOURCE = Path(__file__).with_name("agents") / "served_desk.go"
_GO_HOMES = ("/usr/local/go/bin", "/usr/lib/go/bin")
_BUILD_S = 300.0


def build_agent(folder: Path) -> Path:
    """The program, which needs nothing of the system that it runs on."""
    search = os.pathsep.join([os.environ.get("PATH", ""), *_GO_HOMES])
    go = shutil.which("go", path=search)
    assert go, "there is no Go here, and the agent in another language is written in it"
    program = folder / "desk"
    env = {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-trimpath", "GOCACHE": str(folder / "cache")}
    done = subprocess.run(
        [go, "build", "-o", str(program), str(SOURCE)],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=_BUILD_S,
    )
    assert done.returncode == 0, done.stderr
    return program


@contextmanager
def image_of(program: Path, *, name: str) -> Iterator[str]:
    """Within: an image of that name with the program alone, as its entry point."""
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as tar:
        tar.add(program, arcname="desk")
    subprocess.run(
        ["docker", "import", "--change", 'ENTRYPOINT ["/desk"]', "-", name],
        input=layer.getvalue(),
        capture_output=True,
        check=True,
        timeout=_BUILD_S,
    )
    try:
        yield name
    finally:
        docker("image", "rm", "--force", name)
