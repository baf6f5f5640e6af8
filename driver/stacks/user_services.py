"""The services that compose_files of a suite bring: read through Compose, refused or taken, their images looked up."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from contracts.errors import ErrorCode, Found, LabError
from contracts.suite.suite import Suite
from contracts.suite.withheld import is_withheld
from driver.ports import UserServices, World
from driver.refusals import Refusals, refuse_unknown_profiles
from driver.stacks.engine import compose_model, unset_variables
from driver.stacks.images import found_images
from driver.stacks.user_compose import is_active, problems_of, profiles_in, stack_part
from driver.stacks.way_out import agent_service


def user_services(suite: Suite, *, profiles: tuple[str, ...], env: Mapping[str, str]) -> UserServices:
    """The services that are on under those profiles; `env` are the variables that their files may use.

    Raises:
        LabError: UNKNOWN_PROFILE; SUITE_INVALID with every problem of every file; UNSET_VARIABLE for all that `env`
            lacks; IMAGE_MISSING for all that are not on this machine.

    """
    root = suite.root.resolve()
    names = suite.settings.compose_files
    if not names:
        refuse_unknown_profiles(profiles, known=frozenset())
        return UserServices()
    models = _models(root, names, env)
    services = frozenset(service for model in models.values() for service in model.get("services", {}))
    found = [
        problem
        for name, model in models.items()
        for problem in problems_of(
            model, file=suite.shown(name), services=services, refusal=lambda path: _mount_refusal(suite, path)
        )
    ]
    whole = (
        models[names[0]] if len(names) == 1 else compose_model([root / name for name in names], folder=root, env=env)
    )
    active = {name: one for name, one in whole.get("services", {}).items() if is_active(one, profiles)}
    found += [
        Found("has no image; the lab builds none", suite.shown(_file_of(name, models)), f"services.{name}.image")
        for name, service in active.items()
        if not service.get("image")
    ]
    found += [
        Found(f'depends on "{other}", whose profile is off', suite.shown(_file_of(name, models)), f"services.{name}")
        for name, service in active.items()
        for other in service.get("depends_on") or {}
        if other in services and other not in active
    ]
    if found:
        raise LabError(ErrorCode.SUITE_INVALID, "compose_files ask for what no suite may have", found=found)
    refuse_unknown_profiles(profiles, known=profiles_in(whole))
    if unset := [
        Found(variable, suite.shown(_file_of(name, models)), f"services.{name}.environment")
        for name, service in active.items()
        for variable, value in (service.get("environment") or {}).items()
        if value is None
    ]:
        raise unset_variables(unset)
    references = {name: one["image"] for name, one in active.items()}
    return UserServices(services=active, images=found_images(references, use="the image of the service"))


def _models(root: Path, names: Sequence[str], env: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Each file's own model; raises what is wrong with all of them at once."""
    checks = Refusals()
    models = {}
    for name in names:
        model = checks.value_of(partial(compose_model, [root / name], folder=root, env=env))
        models[name] = model if model is not None else {}
    if checks.any:
        raise checks.as_one()
    return models


def _file_of(service: str, models: Mapping[str, Mapping[str, Any]]) -> str:
    return next(file for file, model in models.items() if service in model.get("services", {}))


def _mount_refusal(suite: Suite, path: Path) -> str | None:
    root = suite.root.resolve()
    if not path.resolve().is_relative_to(root):
        return f"mounts {path}, which is outside of the suite"
    relative = path.resolve().relative_to(root).as_posix()
    if relative != "." and is_withheld(suite.settings, relative):
        return f"mounts {relative}, which no agent may read"
    return None if path.exists() else f"mounts {relative}, which is not there"


def write_stack_part(world: World, file: Path) -> None:
    """What `docker compose` gets beside the lab's own files; readable by its owner only: it may hold values of -e."""
    root = world.suite_root.resolve()
    agent = agent_service(world)  # what `-e` names is for it
    part: dict[str, Any] = stack_part(
        world.services.services,
        images={name: image.image_id for name, image in world.services.images.items()},
        moved=lambda path: world.agent_suite / path.resolve().relative_to(root),
        env={agent: world.agent_env} if agent else {},
    )
    file.touch(mode=0o600)
    file.write_text(json.dumps(part))
