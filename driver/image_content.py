"""What an image is made of, as one digest: ids of two builds differ, the content of equal builds does not."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

IMAGE_LABEL = "labctl.image"
"""On every image that is built here: which one it is."""
CONTENT_LABEL = "labctl.content"
"""On every image that is built here: sha256 of what went in."""
RECIPE_LABEL = "labctl.recipe"
"""On the images of .ci/images: sha256 of the folder that says how to make them."""
BASE_LABEL = "labctl.base"
"""On own images: the content digest of the base they were built from."""

_LEFT_OUT = {"__pycache__", "requirements.in"}


@dataclass(frozen=True)
class OwnImage:
    """One image of this checkout: the folder of its Dockerfile, and everything that its Dockerfile reads."""

    folder: str
    reads: tuple[str, ...]
    """Files and folders, relative to the checkout."""
    lock: str | None
    """The lock of its packages, relative to the checkout; None for an image without packages."""


OWN_IMAGES = {
    "fixture-api": OwnImage("fixture_api", ("contracts", "fixture_api"), "fixture_api/requirements.lock"),
    "eval-runner": OwnImage("runner", ("contracts", "ledger", "providers", "runner"), "runner/requirements.lock"),
    "agent": OwnImage("agent_host", ("agent_host",), None),
}
"""Compose service to the image that is built for it."""


def content_sha256(root: Path, *, service: str, base_content: str) -> str:
    """Hex digest of the Dockerfile, the lock and the files that go into a service's image, on a base of that content.

    Raises KeyError for a service without an own image, OSError for a file that is not there.
    """
    digest = hashlib.sha256(f"base {base_content}\n".encode())
    for path in _files_of(root, OWN_IMAGES[service]):
        content = hashlib.sha256((root / path).read_bytes()).hexdigest()
        digest.update(f"{content}  {path}\n".encode())
    return digest.hexdigest()


def recipe_sha256(root: Path, *, image: str) -> str:
    """Hex digest of the recipe of `base`, `toxiproxy` or `otelcol`, as .ci/images computes it for its label."""
    folder = root / ".ci" / image
    digest = hashlib.sha256()
    for path in sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()):
        content = hashlib.sha256((folder / path).read_bytes()).hexdigest()
        digest.update(f"{content}  ./{path}\n".encode())
    return digest.hexdigest()


def _files_of(root: Path, image: OwnImage) -> list[str]:
    found: set[str] = set()
    for name in image.reads:
        start = root / name
        found |= {name} if not start.is_dir() else {path.relative_to(root).as_posix() for path in _below(start)}
    return sorted(found)


def _below(folder: Path) -> list[Path]:
    return [
        path for path in folder.rglob("*") if path.is_file() and not _LEFT_OUT & set(path.parts[len(folder.parts) :])
    ]
