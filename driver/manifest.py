"""environment.json: the conditions, images, dependencies, host and source of a run, as they were found."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterable, Mapping
from datetime import datetime
from importlib import metadata
from pathlib import Path

from contracts.canonical import digest_of_file, digest_of_tree
from contracts.manifest import (
    SHARING,
    SUITE_LOCKS,
    Begun,
    CaseConditions,
    Dependencies,
    EnvironmentManifest,
    HostFacts,
    Resumed,
    SourceFacts,
)
from contracts.plan import Plan
from contracts.suite.suite import Suite
from contracts.telemetry import Telemetry
from driver import clock
from driver.checkout import LOCKS, OF_THE_DRIVER, ROOT, SERVICES
from driver.owner import own_identity
from driver.ports import EngineFacts

_PACKAGES = (
    "anthropic",
    "click",
    "fastapi",
    "genai-prices",
    "google-re2",
    "httptools",
    "jsonpatch",
    "jsonpointer",
    "jsonschema",
    "junitparser",
    "openai",
    "opentelemetry-exporter-otlp-json-common",
    "opentelemetry-exporter-otlp-proto-http",
    "opentelemetry-sdk",
    "pydantic",
    "pydantic-ai-slim",
    "python-on-whales",
    "rfc8785",
    "rich",
    "ruamel.yaml",
    "starlette",
    "uvicorn",
    "uvloop",
)
_CODE, _STACK_FILES, _COMPOSE = ("*.py",), ("*.yaml",), "compose.yaml"
_CGROUP_FILES = ("memory.max", "cpu.max", "pids.max")
_GIT_TIMEOUT_S = 10


def begun_here(suite: Suite) -> Begun:
    """What a run finds around it and does not change: this machine, this checkout, the suite's repository."""
    own = {SUITE_LOCKS + name: suite.root / name for name in suite.settings.lock_files}
    return Begun(owner=own_identity(), dependencies=_dependencies(own), host=_host(), source=_source_of(suite.root))


def manifest_of(  # noqa: PLR0913 - what is known only at the end
    plan: Plan,
    begun: Begun,
    *,
    finished_at: datetime,
    engine: EngineFacts,
    not_enforced: Iterable[str],
    resumed: Resumed | None = None,
    telemetry: Telemetry | None = None,
) -> EnvironmentManifest:
    """The manifest of a run; pure."""
    return EnvironmentManifest(
        run_id=plan.run_id,
        command=plan.command,
        started_at=plan.planned_at,
        finished_at=clock.instant(finished_at),
        sharing=SHARING if plan.capture == "payloads" else None,
        conditions=plan.conditions,
        images=plan.images,
        dependencies=begun.dependencies.model_copy(update={"programs": plan.programs}),
        host=begun.host.model_copy(update={"engine": engine.engine, "compose": engine.compose}),
        source=begun.source,
        not_enforced=tuple(not_enforced),
        resumed=resumed,
        telemetry=telemetry,
        cases={case.case_id: CaseConditions.of(plan.conditions, case) for case in plan.cases},
    )


def _source_of(folder: Path) -> SourceFacts:
    """Commit and state of the repository that holds the folder; empty where it is in none or git is missing."""
    commit = _git(folder, "rev-parse", "HEAD")
    if commit is None:
        return SourceFacts()
    changes = _git(folder, "status", "--porcelain")
    return SourceFacts(commit=commit.strip(), dirty=None if changes is None else bool(changes.strip()))


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=_GIT_TIMEOUT_S, check=False
        )
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def _dependencies(suite_locks: Mapping[str, Path]) -> Dependencies:
    locks = {name: ROOT / name for name in LOCKS} | dict(suite_locks)
    return Dependencies(
        lock_files={name: digest_of_file(path) for name, path in sorted(locks.items()) if path.is_file()},
        packages={name: metadata.version(name) for name in _PACKAGES},
        lab_code=lab_code(ROOT),
    )


def lab_code(root: Path) -> dict[str, str]:
    """One digest for each part of labctl below `root`: names and contents, whatever else lies beside them.

    Of the driver's also what it starts containers with; caches, bytecode and documents are no code.
    """
    services = {part: _code_digest(root / part, _CODE) for part in SERVICES}
    driver = {part: _code_digest(root / part, (*_CODE, *_STACK_FILES)) for part in OF_THE_DRIVER}
    compose = {name: digest_of_file(root / name) for name in (_COMPOSE,) if (root / name).is_file()}
    return services | driver | compose


def _code_digest(folder: Path, patterns: Iterable[str]) -> str:
    files = {path.relative_to(folder).as_posix(): path for pattern in patterns for path in folder.rglob(pattern)}
    return digest_of_tree(files)


def _host() -> HostFacts:
    system = os.uname()
    page_bytes, pages = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_PHYS_PAGES")
    return HostFacts(
        os=_os_name(),
        kernel=f"{system.sysname} {system.release}",
        arch=system.machine,
        cpus=len(os.sched_getaffinity(0)),
        memory_bytes=page_bytes * pages if page_bytes > 0 and pages > 0 else None,
        cgroup_limits=_cgroup_limits(),
        python=platform.python_version(),
    )


def _os_name() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        return platform.system()


def _cgroup_limits() -> dict[str, str]:
    root = Path("/sys/fs/cgroup")
    return {name: (root / name).read_text().strip() for name in _CGROUP_FILES if (root / name).is_file()}
