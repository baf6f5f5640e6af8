"""Images of users, as small as they come: empty, with a shell only, and with folders that get in the way."""

from __future__ import annotations

import os
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.compose.engine_calls import docker

LABEL = "labctl.test-image"


@contextmanager
def image_of(folder: Path) -> Iterator[str]:
    """An image with exactly these files, under a name of its own, gone after the block."""
    name = f"labctl-test/{uuid.uuid4().hex[:12]}:1"
    archive = subprocess.run(
        ["tar", "--create", "--numeric-owner", "--owner=0", "--group=0", "--directory", str(folder), "."],
        check=True,
        capture_output=True,
    ).stdout
    subprocess.run(
        ["docker", "import", "--change", f"LABEL {LABEL}=1", "-", name],
        input=archive,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    try:
        yield name
    finally:
        docker("rmi", "--force", name)


def shell_folder(root: Path) -> Path:
    """A root folder with `sh`, its libraries, `cat`, `id`, `touch` and `sleep`; no Python. Also folders of root's."""
    for program in ("sh", "cat", "id", "touch", "sleep", "mkdir", "ls"):
        found = shutil.which(program)
        assert found, program
        _with_libraries(Path(found).resolve(), root, as_name=f"bin/{program}")
    for folder in ("etc", "tmp", "working_dir", "work", "srv"):
        (root / folder).mkdir()
    for folder in ("working_dir", "work"):
        (root / folder).chmod(0o700)
    return root


def _with_libraries(program: Path, root: Path, *, as_name: str) -> None:
    told = subprocess.run(["ldd", str(program)], check=True, capture_output=True, text=True).stdout
    libraries = [word for word in told.split() if word.startswith("/")]
    for source, name in [(program, as_name), *((Path(path), path.lstrip("/")) for path in libraries)]:
        target = root / name
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source.resolve(), target)
            target.chmod(0o755)


def static_agent(to: Path) -> Path:
    """A program without a library or an interpreter, that answers `the answer` over the command protocol."""
    source = to.with_suffix(".go")
    source.write_text(_AGENT)
    env = {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-mod=mod", "GO111MODULE": "off"}
    env["PATH"] = f"{env['PATH']}:/usr/local/go/bin"
    subprocess.run(["go", "build", "-o", str(to), str(source)], check=True, env=env, timeout=300)
    source.unlink()
    return to


_AGENT = """package main

import (
\t"encoding/json"
\t"fmt"
\t"os"
)

func main() {
\tvar task map[string]any
\tif err := json.NewDecoder(os.Stdin).Decode(&task); err != nil {
\t\tpanic(err)
\t}
\tentries, err := os.ReadDir("/")
\tif err != nil {
\t\tpanic(err)
\t}
\tnames := []string{}
\tfor _, entry := range entries {
\t\tnames = append(names, entry.Name())
\t}
\ttext := fmt.Sprintf("the answer to %v, at %v", task["caseId"], names)
\tif err := json.NewEncoder(os.Stdout).Encode(map[string]any{"type": "message", "text": text}); err != nil {
\t\tpanic(err)
\t}
}
"""
