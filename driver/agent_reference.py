"""Registry references of agents: resolved to a digest first, then fetched by it, so that a run knows what it ran."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from contracts.errors import ErrorCode, LabError
from driver.agent_names import digest_in, with_digest
from driver.docker_agent_binary import find_binary, run_quietly

_RESOLVE_S, _PULL_S = 30.0, 120.0
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def fetch_agent(reference: str, *, folder: Path, host_env: Mapping[str, str]) -> tuple[str, Path]:
    """The reference by digest, and the agent file, alone in a folder below the empty one that is given.

    A tag is resolved by `docker buildx imagetools inspect`, the file is fetched by `docker-agent share pull`; both use
    the user's registry credentials (DOCKER_CONFIG, else ~/.docker).

    Raises:
        LabError: DOCKER_AGENT_MISSING; AGENT_UNRESOLVED when the registry cannot be asked, or has no such agent.

    """
    binary = find_binary(host_env)
    home, fetched = folder / "home", folder / "agent"
    home.mkdir()
    fetched.mkdir()
    pinned = reference if digest_in(reference) else with_digest(reference, _resolved(reference, home, host_env))
    done = run_quietly(
        [str(binary), "share", "pull", pinned],
        home=home,
        cwd=fetched,
        host_env=host_env,
        seconds=_PULL_S,
        more=_credentials(host_env),
    )
    if isinstance(done, str):
        raise _unresolved(pinned, "could not be fetched", cause=done)
    files = sorted(path for path in fetched.iterdir() if path.suffix in {".yaml", ".yml"})
    if len(files) != 1:
        raise _unresolved(pinned, "was fetched, but no agent file came", cause=done.stdout.strip()[-200:] or None)
    return pinned, files[0]


def _resolved(reference: str, home: Path, host_env: Mapping[str, str]) -> str:
    argv = ["docker", "buildx", "imagetools", "inspect", reference, "--format", "{{.Manifest.Digest}}"]
    done = run_quietly(argv, home=home, host_env=host_env, seconds=_RESOLVE_S, more=_credentials(host_env))
    if isinstance(done, str):
        raise _unresolved(reference, "could not be resolved to a digest", cause=done)
    found = _DIGEST.search(done.stdout)
    if found is None:
        raise _unresolved(reference, "could not be resolved to a digest", cause="the registry named no sha256 digest")
    return found[0]


def _credentials(host_env: Mapping[str, str]) -> dict[str, str]:
    home = host_env.get("HOME")
    folder = host_env.get("DOCKER_CONFIG") or (f"{home}/.docker" if home else None)
    return {"DOCKER_CONFIG": folder} if folder else {}


def _unresolved(reference: str, what: str, *, cause: str | None) -> LabError:
    return LabError(
        ErrorCode.AGENT_UNRESOLVED,
        f"the agent {reference} {what}",
        cause=cause,
        expected="a registry that answers, or NAME@sha256:… of an agent that it has",
        next_step=f"docker agent share pull {reference}, then labctl run --agent FILE SUITE",
    )
