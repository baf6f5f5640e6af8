"""Which images the stack runs, whether they are here, and whether own ones were built from this checkout."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from python_on_whales import DockerClient, Image
from python_on_whales.exceptions import NoSuchImage

from contracts.errors import ErrorCode, Found, LabError
from contracts.plan import ImageIdentity
from driver.checkout import ROOT
from driver.image_content import BASE_LABEL, CONTENT_LABEL, OWN_IMAGES, RECIPE_LABEL, content_sha256, recipe_sha256
from driver.stacks.engine import bounded

ENV_FILE = ROOT / ".env"
NEXT_BUILD = "make setup"
VARIABLES = {
    "fixture-api": "FIXTURE_API_IMAGE",
    "eval-runner": "RUNNER_IMAGE",
    "agent": "AGENT_IMAGE",
    "fault-proxy": "TOXIPROXY_IMAGE",
    "otel-collector": "OTELCOL_IMAGE",
}
"""Compose service to the variable of .env that names its image."""

RECIPES = {"fault-proxy": "toxiproxy", "otel-collector": "otelcol"}
"""Compose service to the recipe of .ci/ that builds its image where no registry can be reached."""


@dataclass(frozen=True)
class _Inspected:
    image_id: str
    labels: Mapping[str, str]


def read_env_file(path: Path) -> dict[str, str]:
    """The NAME=VALUE lines of a file that `make setup` wrote.

    Raises:
        LabError: IMAGE_MISSING when there is no such file.

    """
    if not path.is_file():
        raise LabError(
            ErrorCode.IMAGE_MISSING,
            "no images were built from this checkout yet",
            found=[Found("not there", file=path.name)],
            next_step=NEXT_BUILD,
        )
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return {name: value.strip('"') for name, _, value in (line.partition("=") for line in lines)}


def checked_images(services: tuple[str, ...]) -> dict[str, ImageIdentity]:
    """The images of those services by service, each on this machine and none stale.

    Raises:
        LabError: IMAGE_MISSING or IMAGE_STALE, with all images concerned.

    """
    if not services:
        return {}
    named = _named_images()
    inspected = _inspect_all({service: named.get(VARIABLES[service], "") for service in services})
    missing = [service for service, image in inspected.items() if image is None]
    if missing:
        raise LabError(
            ErrorCode.IMAGE_MISSING,
            f"{len(missing)} of {len(services)} images are not on this machine",
            found=[
                Found(f"{VARIABLES[name]}={named.get(VARIABLES[name], '')}", file=_file_of(name), place=name)
                for name in missing
            ],
            next_step=NEXT_BUILD,
        )
    present = {service: image for service, image in inspected.items() if image is not None}
    stale = [service for service, image in present.items() if not _is_current(service, image)]
    if stale:
        raise LabError(
            ErrorCode.IMAGE_STALE,
            f"built from other files than this checkout's: {', '.join(stale)}",
            found=[
                Found(f"label {CONTENT_LABEL} {present[name].labels.get(CONTENT_LABEL)}", place=name) for name in stale
            ],
            next_step=NEXT_BUILD,
        )
    return {service: _identity(named[VARIABLES[service]], image) for service, image in present.items()}


def still_here(recorded: Mapping[str, ImageIdentity]) -> dict[str, ImageIdentity]:
    """Those of the images, by service, that the engine still has, under their ids."""
    inspected = _inspect_all({service: image.image_id for service, image in recorded.items()}) if recorded else {}
    return {service: image for service, image in recorded.items() if inspected.get(service) is not None}


def found_images(references: Mapping[str, str], *, use: str) -> dict[str, ImageIdentity]:
    """The images of a user, by the keys that the references have; `use` says what for, of what the key names.

    Raises:
        LabError: IMAGE_MISSING with every one that is not on this machine: nothing is pulled during a run.

    """
    inspected = _inspect_all(references) if references else {}
    missing = [key for key, image in inspected.items() if image is None]
    if missing:
        raise LabError(
            ErrorCode.IMAGE_MISSING,
            f"not on this machine: {', '.join(references[key] for key in missing)}",
            found=[Found(f"{use} {key}", place=references[key]) for key in missing],
            next_step=f"docker pull {references[missing[0]]}, or build it; the lab pulls and builds nothing",
        )
    return {key: _identity(references[key], image) for key, image in inspected.items() if image is not None}


def known_images() -> tuple[str, ...]:
    """The services that have an image named in .env; raises LabError IMAGE_MISSING when there is none."""
    named = _named_images()
    return tuple(service for service, variable in VARIABLES.items() if named.get(variable))


def _named_images() -> dict[str, str]:
    """By variable: those of .env, and over them what the environment says of third-party ones."""
    chosen = {VARIABLES[service]: os.environ.get(VARIABLES[service]) for service in RECIPES}
    return read_env_file(ENV_FILE) | {variable: reference for variable, reference in chosen.items() if reference}


def _file_of(service: str) -> str:
    """Who names the service's image."""
    return "environment" if service in RECIPES and os.environ.get(VARIABLES[service]) else ".env"


def _inspect_all(references: Mapping[str, str]) -> dict[str, _Inspected | None]:
    """By service; None for an image that is not named or not there."""
    named = {service: reference for service, reference in references.items() if reference}
    images = bounded("docker image inspect", lambda: _images_or_none(list(named.values())))
    found = dict(zip(named, images, strict=True))
    return {service: found.get(service) for service in references}


def _images_or_none(references: list[str]) -> list[_Inspected | None]:
    client = DockerClient()
    try:
        return [_inspected(image) for image in client.image.inspect(references)]
    except NoSuchImage:  # the engine does not say which ones are there
        return [_image_or_none(client, reference) for reference in references]


def _image_or_none(client: DockerClient, reference: str) -> _Inspected | None:
    try:
        return _inspected(client.image.inspect(reference))
    except NoSuchImage:
        return None


def _inspected(image: Image) -> _Inspected:
    return _Inspected(
        image_id=image.id,
        labels=dict((image.config.labels or {}) if image.config else {}),
    )


def _is_current(service: str, image: _Inspected) -> bool:
    if service not in OWN_IMAGES:
        recipe = image.labels.get(RECIPE_LABEL)  # only an image that was built here has one
        return recipe is None or recipe == recipe_sha256(ROOT, image=RECIPES[service])
    base = image.labels.get(BASE_LABEL, "")
    return image.labels.get(CONTENT_LABEL) == content_sha256(ROOT, service=service, base_content=base)


def _identity(reference: str, image: _Inspected) -> ImageIdentity:
    by_digest = reference.partition("@")[2]
    return ImageIdentity(
        reference=reference,
        digest=by_digest or image.image_id,
        image_id=image.image_id,
        content_digest=f"sha256:{image.labels[CONTENT_LABEL]}" if CONTENT_LABEL in image.labels else None,
    )
