"""The Compose backend: `compose run` of the runner with its world, then `down`; each run a project of its own."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from contracts.containers import REQUEST_MARKS
from contracts.control import without_prefix
from contracts.errors import ErrorCode, Found, LabError
from contracts.order import FAULT_PROXY, FAULT_PROXY_ON_COMPOSE, HostOverTcp, HostPerAttempt, RunnerOrder
from contracts.plan import FAULT_PROFILE, Backend, ImageIdentity, Program
from contracts.suite.suite import Suite
from contracts.telemetry import COLLECTOR, COLLECTOR_SINK, OBSERVE_PROFILE
from driver import clock
from driver.at_once import Duty, promise
from driver.checkout import ROOT
from driver.owner import own_identity
from driver.ports import EngineFacts, KeptContainer, LogLine, RunnerTalk, UserServices, World
from driver.scratch import scratch_folder
from driver.stacks.attempt_containers import AttemptContainers
from driver.stacks.attempt_place import attempt_place
from driver.stacks.children import Child, ended
from driver.stacks.container_argv import AGENT_SUITE, PORT
from driver.stacks.container_calls import client_env
from driver.stacks.docker_agent_place import docker_agent_mounts, docker_agent_order, write_docker_agent_part
from driver.stacks.engine import Project
from driver.stacks.images import ENV_FILE, VARIABLES, checked_images, found_images, read_env_file, still_here
from driver.stacks.networks import pool_exhausted
from driver.stacks.ownership import OWNER_LABEL, PROJECT_LABEL, RUN_LABEL
from driver.stacks.room import SHARED_WORK_SHARE, SHM_SHARE, TMP_SHARE, room
from driver.stacks.user_services import user_services, write_stack_part
from driver.stacks.way_out import write_way_out
from ledger.capture import captured_text

FILES = (ROOT / "compose.yaml", ROOT / "driver" / "stacks" / "labctl.compose.yaml")
RUNNER_END_S = 10.0
"""How long `compose run` may take to end after its runner was told to."""
_LOG_LINES = 200
_SERVICES_OF_PROFILES = {FAULT_PROFILE: FAULT_PROXY, OBSERVE_PROFILE: COLLECTOR}


class ComposeStack:
    """The services of compose.yaml, merged with labctl's labels and without the evidence folder."""

    backend: Backend = "compose"
    not_enforced: tuple[str, ...] = ()

    def __init__(self, facts: EngineFacts, *, recorded: Mapping[str, ImageIdentity] | None = None) -> None:
        """`recorded` are the images of a run that is made again: each is taken where it is still here."""
        self._facts = facts
        self._recorded = recorded or {}
        self.kept: Sequence[KeptContainer] = ()

    def user_services(self, suite: Suite, *, profiles: tuple[str, ...], env: Mapping[str, str]) -> UserServices:
        """See `driver.ports.Stack`."""
        return user_services(suite, profiles=profiles, env=env)

    def preflight(
        self, *, needs_agent: bool, bases: Mapping[str, str] | None = None, profiles: Sequence[str] = ()
    ) -> dict[str, ImageIdentity]:
        """The images that will run, each checked; raises LabError with exit 4."""
        of_profiles = (service for profile, service in _SERVICES_OF_PROFILES.items() if profile in profiles)
        services = ("fixture-api", "eval-runner", *(("agent",) if needs_agent else ()), *of_profiles)
        kept = still_here({name: self._recorded[name] for name in services if name in self._recorded})
        own = kept | checked_images(tuple(name for name in services if name not in kept))
        return own | found_images(bases or {}, use="containers of attempts are made from it:")

    def fault_proxy(self, cases: Sequence[str]) -> Program | None:  # noqa: ARG002 - the port's signature
        """None: it runs from an image, which the preflight looks at."""
        return None

    def facts(self) -> EngineFacts:
        """Versions of engine and Compose."""
        return self._facts

    @contextmanager
    def running(self, world: World, *, log: LogLine) -> Iterator[RunnerTalk]:
        """See `driver.ports.Stack`; the order goes over stdin, so that no value of -e is in any argv.

        One that is for a service of compose_files is in a file for Compose, which only its owner may read, as long as
        the run lasts.
        """
        with ExitStack() as stack:
            work = stack.enter_context(scratch_folder())
            env_file, part = work / "env", work / "services.json"
            env_file.write_text(_env_text(world))
            _let_collector_write(world.spans_folder)
            write_stack_part(world, part)
            mounts = docker_agent_mounts(world, runtime="docker", folder=work)
            more = [write_way_out(work, world)] if world.plan.conditions.egress else []
            more += [write_docker_agent_part(work, mounts)] if mounts and _shares_an_agent(world) else []
            project = Project(
                name=_project_name(world.plan.run_id),
                root=ROOT,
                files=(*FILES, *more, *([part] if world.services.services else ())),
                env_file=env_file,
                profiles=_profiles(world),
            )
            owned = (f"{OWNER_LABEL}={own_identity()}", f"{PROJECT_LABEL}={project.name}")
            promise(lambda _reason: Duty(labels=owned))  # never taken back: a teardown that was cut is finished so
            stack.callback(project.down)
            stack.callback(_keep_logs, project, world, log)
            containers = stack.enter_context(self._containers(world, project.name, mounts))
            child = Child.start(
                "eval-runner",
                project.argv("--progress", "quiet", "run", "--rm", "-T", "eval-runner"),
                cwd=ROOT,
                env=client_env(),
            )
            stack.enter_context(ended(child, grace_s=RUNNER_END_S))
            if containers is not None:
                stack.callback(containers.end_setups)  # before the runner, which waits for them
            child.follow(log)
            child.send_pieces(_order(world).to_pieces())
            lines = _lines(
                child, project, services=("fixture-api", *_profile_services(world), *world.services.services)
            )
            if containers is not None:
                lines = without_requests(lines, containers, tell=child.send_line)
            yield RunnerTalk(lines=lines, tell=child.send_line)

    @contextmanager
    def _containers(self, world: World, project: str, mounts: Mapping[str, Path]) -> Iterator[AttemptContainers | None]:
        """Whoever starts the containers of attempts; None where they share one."""
        if world.own_containers is None:
            yield None
            return
        setup = read_env_file(ENV_FILE)
        user = f"{setup['LAB_UID']}:{setup['LAB_GID']}"
        labels = {RUN_LABEL: world.plan.run_id, OWNER_LABEL: own_identity()}
        kept: list[KeptContainer] = []
        self.kept = kept
        own = replace(world.own_containers, mounts=mounts)
        with attempt_place(world, own, project=project, user=user, labels=labels, kept=kept) as place:
            yield place


def _shares_an_agent(world: World) -> bool:
    return world.plan.agent.needs_host and world.own_containers is None


def _profiles(world: World) -> tuple[str, ...]:
    """Those of compose.yaml that are on; the suite's own services were merged in without one."""
    agent = ("agent",) if _shares_an_agent(world) else ()
    chosen = world.plan.conditions.profiles
    return ("eval", *agent, *(profile for profile in _SERVICES_OF_PROFILES if profile in chosen))


def _profile_services(world: World) -> tuple[str, ...]:
    """The lab's own services that a chosen profile adds."""
    chosen = world.plan.conditions.profiles
    return tuple(service for profile, service in _SERVICES_OF_PROFILES.items() if profile in chosen)


def without_requests(
    lines: Iterator[str], containers: AttemptContainers, *, tell: Callable[[str], None]
) -> Iterator[str]:
    """The lines that are for the driver; requests for containers are obeyed as they come, and answered by `tell`.

    Nobody who takes the lines may wait in between: a request that stands behind would wait as long.
    """
    containers.answer = tell
    for line in lines:
        if line.startswith(REQUEST_MARKS):
            containers.take(line)
        else:
            yield line


def _lines(child: Child, project: Project, *, services: Sequence[str]) -> Iterator[str]:
    """The runner's lines; none at all means that the stack did not come up."""
    said_something = False
    for line in child.lines():
        said_something = True
        yield line
    if not said_something:
        child.process.wait()
        child.end_of_log(within_s=1.0)
        raise _start_failure(child, project, services=services)


def _start_failure(child: Child, project: Project, *, services: Sequence[str]) -> LabError:
    cause = " / ".join(list(child.tail)[-3:])
    if pool := pool_exhausted(cause, project=project.name):
        return pool
    found = [Found(line, place=service) for service in services for line in project.logs(service, tail=5)]
    return LabError(
        ErrorCode.STACK_UNHEALTHY,
        "the stack did not come up",
        found=found,
        cause=cause or f"`docker compose run` ended with exit status {child.process.returncode} and said nothing",
        next_step="labctl doctor",
    )


def _keep_logs(project: Project, world: World, log: LogLine) -> None:
    services = ("fixture-api", "agent") if _shares_an_agent(world) else ("fixture-api",)
    for service in (*services, *_profile_services(world)):
        for line in project.logs(service, tail=_LOG_LINES):
            log(service, line)
    for service in world.services.services:  # what an agent says is kept as the capture level has it
        for line in project.logs(service, tail=_LOG_LINES):
            log(service, captured_text(without_prefix(line), level=world.plan.capture))


def _project_name(run_id: str) -> str:
    """A name that Compose takes and that no other run has, whatever folder it writes to."""
    slug = re.sub(r"[^a-z0-9]+", "-", run_id.lower()).strip("-")[:40]
    return f"labctl-{slug}-{clock.random_bytes(4).hex()}"


def _env_text(world: World) -> str:
    setup = read_env_file(ENV_FILE)
    conditions = world.plan.conditions
    values = {
        **{name: setup[name] for name in (*VARIABLES.values(), "LAB_UID", "LAB_GID") if name in setup},
        **{VARIABLES[key]: image.image_id for key, image in world.plan.images.items() if key in VARIABLES},
        "LAB_SUITE": str(world.suite),
        "LAB_AGENT_SUITE": str(world.agent_suite),
        "LAB_RUN_ID": world.plan.run_id,
        "LAB_OWNER": own_identity(),
        "LAB_MEMORY_MB": str(conditions.limits.memory_mb),
        "LAB_PIDS": str(conditions.limits.pids),
        "LAB_CPUS": f"{conditions.limits.cpus or 0:g}",
        "LAB_WORK_ROOM": room(SHARED_WORK_SHARE, conditions.limits).options,
        "LAB_TMP_ROOM": room(TMP_SHARE, conditions.limits).options,
        "LAB_SHM_ROOM": room(SHM_SHARE, conditions.limits).options,
        "FIXED_NOW": conditions.clock,
        "FIXTURE_SELECT": world.plan.agent.select,
        **({"LAB_TRACES": str(world.spans_folder)} if world.spans_folder else {}),
    }
    return "".join(f"{name}={value}\n" for name, value in values.items())


def _let_collector_write(folder: Path | None) -> None:
    """It is no root, and where the driver is, the folder is not its own."""
    if folder is not None and os.getuid() == 0:
        setup = read_env_file(ENV_FILE)
        os.chown(folder, int(setup["LAB_UID"]), int(setup["LAB_GID"]))


def _order(world: World) -> RunnerOrder:
    host: HostOverTcp | HostPerAttempt | None = None
    if world.own_containers is not None:
        host = HostPerAttempt(port=PORT)
    elif _shares_an_agent(world):
        host = HostOverTcp(host="agent", port=PORT)
    return RunnerOrder(
        plan=world.plan,
        suite="/suite",
        fixture_url="http://fixture-api:8080",
        control_url="http://fixture-control:8081",
        agent_host=host,
        agent_suite=AGENT_SUITE,
        agent_env=dict(world.agent_env),
        docker_agent=docker_agent_order(world.agent_file),
        fault_proxy=FAULT_PROXY_ON_COMPOSE if FAULT_PROXY in _profile_services(world) else None,
        spans=COLLECTOR_SINK if world.spans_folder else None,
        finished=world.finished,
    )
