"""The one door to python-on-whales: every call is bounded, and every failure is an error of the lab."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from python_on_whales import DockerClient
from python_on_whales.exceptions import DockerException, NoSuchContainer

from contracts.errors import ErrorCode, Found, LabError
from driver.ports import EngineFacts
from driver.stacks.container_calls import client_env

CALL_S = 30.0
"""Bound of one question to the engine."""
DOWN_S = 90.0
"""Bound of `down`: it waits for containers to stop."""
RESTART_S, RESTART_PAUSE_S = 15.0, 1.0
"""How long a `down` that failed is tried again, and how often: an engine that was restarted answers after seconds."""
MIN_ENGINE = (25, 0)
MIN_COMPOSE = (2, 24)
NEXT_ENGINE = "start a Docker engine 25 or newer with Compose 2.24 or newer, or use --backend process"

_UNSET = (
    re.compile(r'The \\*"(\w+)\\*" variable is not set'),
    re.compile(r"required variable (\w+) is missing a value"),
)
"""What Compose says of a variable that a file uses: with a default of nothing, and as `${KEY:?}`."""

T = TypeVar("T")


def bounded(what: str, call: Callable[[], T], *, seconds: float = CALL_S) -> T:
    """The call's result.

    Raises:
        LabError: ENGINE_FAILED when it takes longer (its thread is left to itself) or the engine's client fails.

    """
    future: Future[T] = Future()

    def answer() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001 - it is raised by whoever waits, if anybody still does
            future.set_exception(error)

    # not of a pool: the interpreter waits for those at its end, and an engine may never answer
    threading.Thread(target=answer, name="engine", daemon=True).start()
    try:
        return future.result(timeout=seconds)
    except FutureTimeoutError as error:
        raise LabError(
            ErrorCode.ENGINE_FAILED, f"the engine did not answer `{what}` within {seconds:g} s", next_step="docker info"
        ) from error
    except DockerException as error:
        raise LabError(
            ErrorCode.ENGINE_FAILED,
            f"`{what}` failed with exit status {error.return_code}",
            cause=last_line(error.stderr or error.stdout or "") or None,
            next_step="labctl doctor",
        ) from error


def last_line(text: str) -> str:
    """The last line that says something."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def engine_facts() -> EngineFacts:
    """Versions of engine and Compose.

    Raises:
        LabError: NO_ENGINE when there is no client, no engine answers, or either is too old.

    """
    if shutil.which("docker") is None:
        raise LabError(ErrorCode.NO_ENGINE, "there is no `docker` command on PATH", next_step=NEXT_ENGINE)
    try:
        info = bounded("docker info", DockerClient().system.info)
    except LabError as error:
        raise LabError(
            ErrorCode.NO_ENGINE, "no container engine answers", cause=error.cause, next_step=NEXT_ENGINE
        ) from error
    plugins = (info.client_info.plugins if info.client_info else None) or []
    compose = next((plugin.version for plugin in plugins if plugin.name == "compose"), None)
    facts = EngineFacts(engine=info.server_version, compose=compose)
    if facts.engine is None:
        raise LabError(ErrorCode.NO_ENGINE, "no container engine answers", next_step=NEXT_ENGINE)
    if facts.compose is None:
        raise LabError(ErrorCode.NO_ENGINE, "the `docker compose` plug-in is not installed", next_step=NEXT_ENGINE)
    if _version(facts.engine) < MIN_ENGINE or _version(facts.compose) < MIN_COMPOSE:
        raise LabError(
            ErrorCode.NO_ENGINE,
            f"engine {facts.engine} with Compose {facts.compose} is too old",
            expected="engine 25.0 and Compose 2.24, or newer",
            next_step=NEXT_ENGINE,
        )
    return facts


def _version(text: str) -> tuple[int, int]:
    numbers = text.lstrip("v").replace("-", ".").replace("+", ".").split(".")
    major, minor = ([int(part) for part in numbers[:2] if part.isdigit()] + [0, 0])[:2]
    return major, minor


def compose_model(files: Sequence[Path], *, folder: Path, env: Mapping[str, str]) -> dict[str, Any]:
    """What Compose reads in those files, merged and with every path absolute; needs no engine.

    References to what other files define are left as they are.

    Args:
        files: the compose files, in the order in which they are merged.
        folder: what their paths are relative to.
        env: the variables that the files may use; beside them only the client's own are there, and no `.env` is read.

    Raises:
        LabError: SUITE_INVALID for what is no Compose file, in Compose's own words; UNSET_VARIABLE for variables that
            the files use without a default and `env` does not have.

    """
    client = DockerClient(compose_files=list(files), compose_profiles=["*"], compose_project_directory=folder)
    command = [str(part) for part in client.client_config.docker_compose_cmd]
    argv = [*command, "config", "--format", "json", "--no-consistency"]
    names = ", ".join(path.relative_to(folder).as_posix() for path in files)
    seen = {**env, **client_env(), "COMPOSE_DISABLE_ENV_FILE": "1"}
    try:
        done = subprocess.run(argv, env=seen, capture_output=True, text=True, timeout=CALL_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise LabError(ErrorCode.ENGINE_FAILED, f"`docker compose config` of {names} took over {CALL_S:g} s") from error
    if unset := sorted({name for told in _UNSET for name in told.findall(done.stderr)}):
        raise unset_variables([Found(name, names) for name in unset])
    if done.returncode:
        raise LabError(
            ErrorCode.SUITE_INVALID, f"{names} cannot be read by Compose", cause=last_line(done.stderr) or None
        )
    model: dict[str, Any] = json.loads(done.stdout)
    return model


def unset_variables(found: Sequence[Found]) -> LabError:
    """The error for variables of compose files that nothing gives; `found` has their names as texts."""
    names = sorted({one.text for one in found})
    return LabError(
        ErrorCode.UNSET_VARIABLE,
        f"compose_files use {', '.join(names)}, which no -e names",
        found=found,
        expected="-e KEY for each: of labctl's own environment they see nothing else",
        next_step=" ".join(f"-e {name}" for name in names),
    )


def _lines_of(container: str, *, tail: int) -> list[str]:
    try:
        said = cast("Iterable[tuple[str, bytes]]", DockerClient().container.logs(container, tail=tail, stream=True))
        text = b"".join(piece for _, piece in said)
    except NoSuchContainer:
        return []
    return text.decode(errors="replace").splitlines()


@dataclass(frozen=True)
class Project:
    """One Compose project of the lab."""

    name: str
    root: Path
    files: Sequence[Path]
    env_file: Path
    profiles: tuple[str, ...]

    def argv(self, *arguments: str) -> list[str]:
        """The command line of `docker compose` for this project, for the one call that needs a stdin."""
        client = self._client(self.profiles)
        return [str(part) for part in client.client_config.docker_compose_cmd] + list(arguments)

    def down(self) -> None:
        """Remove every container and network of the project, of whatever profile; raises LabError ENGINE_FAILED."""
        client = self._client(("*",))
        until = time.monotonic() + RESTART_S
        while True:
            try:
                bounded(
                    "docker compose down",
                    lambda: client.compose.down(volumes=True, remove_orphans=True, quiet=True),
                    seconds=DOWN_S,
                )
            except LabError:
                if time.monotonic() > until:
                    raise
                time.sleep(RESTART_PAUSE_S)
            else:
                return

    def logs(self, service: str, *, tail: int) -> list[str]:
        """The last lines of the log of a service's only container; none when there is no such container."""
        container = f"{self.name}-{service}-1"  # `docker compose logs` would take five times as long
        return bounded("docker logs", lambda: _lines_of(container, tail=tail))

    def _client(self, profiles: tuple[str, ...]) -> DockerClient:
        return DockerClient(
            compose_files=list(self.files),
            compose_profiles=list(profiles),
            compose_project_name=self.name,
            compose_project_directory=self.root,
            compose_env_files=[self.env_file],
        )
