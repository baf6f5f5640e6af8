"""The process backend: fixture API and runner as children of the driver, side by side, ending with it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from contracts.errors import ErrorCode, Found, LabError
from contracts.order import DockerAgentOrder, FaultProxyOrder, HostOverStdio, RunnerOrder
from contracts.plan import OWN_PROFILES, Backend, ImageIdentity, Program
from contracts.suite.suite import Suite
from contracts.telemetry import SpansToFile
from driver.checkout import AGENT_HOST
from driver.ports import EngineFacts, KeptContainer, LogLine, RunnerTalk, UserServices, World
from driver.refusals import refuse_unknown_profiles
from driver.scratch import scratch_folder
from driver.stacks.children import Child
from driver.stacks.standby import Standby
from driver.stacks.toxiproxy import find_toxiproxy, toxiproxy, toxiproxy_facts
from driver.telemetry import SPANS_FILE

STARTUP_S = 30.0
"""How long fixture API and runner may take to be ready."""


class ProcessStack:
    """Fixture API, runner and the runner's agent host as plain processes on loopback ports."""

    backend: Backend = "process"
    kept: Sequence[KeptContainer] = ()
    not_enforced: tuple[str, ...] = ("memory_mb", "pids", "cpus")

    def __init__(self, standby: Standby) -> None:
        self._standby = standby

    def user_services(
        self,
        suite: Suite,
        *,
        profiles: tuple[str, ...],
        env: Mapping[str, str],  # noqa: ARG002 - the protocol's
    ) -> UserServices:
        """None: an agent's URL leads wherever it says, and nothing is started there."""
        if not suite.settings.compose_files:
            refuse_unknown_profiles(profiles, known=())
        if users := [profile for profile in profiles if profile not in OWN_PROFILES]:
            raise LabError(
                ErrorCode.NO_ENGINE,
                f"the backend process has no profile {', '.join(users)}",
                found=[
                    Found("services of compose_files run on Compose only", suite.shown("suite.toml"), "compose_files")
                ],
                next_step="--backend compose",
            )
        return UserServices()

    def preflight(
        self,
        *,
        needs_agent: bool,  # noqa: ARG002 - the port's signature
        bases: Mapping[str, str] | None = None,  # noqa: ARG002
        profiles: Sequence[str] = (),  # noqa: ARG002
    ) -> dict[str, ImageIdentity]:
        """Nothing to check: the interpreter that runs this runs everything; no images."""
        return {}

    def fault_proxy(self, cases: Sequence[str]) -> Program | None:
        """The toxiproxy of this machine, where one of the cases needs it."""
        return toxiproxy_facts(find_toxiproxy(cases)) if cases else None

    def facts(self) -> EngineFacts:
        """No engine is part of this backend."""
        return EngineFacts()

    @contextmanager
    def running(self, world: World, *, log: LogLine) -> Iterator[RunnerTalk]:
        """See `driver.ports.Stack`; the processes that stood by get their work, and end here."""
        fixture, runner = self._standby.fixture, self._standby.runner
        with scratch_folder() as work, closing(self._standby), ExitStack() as started:
            fixture.follow(log)
            runner.follow(log)
            fixture.send_line(json.dumps(_settings(world)))
            ports = _ready_ports(fixture)
            upstream = f"127.0.0.1:{ports['dataPort']}"
            order = RunnerOrder(
                plan=world.plan,
                suite=str(world.suite),
                fixture_url=f"http://{upstream}",
                control_url=f"http://127.0.0.1:{ports['controlPort']}",
                agent_host=_agent_host(world, work),
                agent_suite=str(world.agent_suite),
                agent_env=dict(world.agent_env),
                docker_agent=_docker_agent(world),
                fault_proxy=_fault_proxy(world, started, upstream=upstream, log=log),
                spans=SpansToFile(path=str(world.spans_folder / SPANS_FILE)) if world.spans_folder else None,
                finished=world.finished,
                startup_seconds=STARTUP_S,
            )
            started.callback(self._standby.close)  # toxiproxy goes last: nothing may look as if it had died
            runner.send_pieces(order.to_pieces())
            yield RunnerTalk(lines=runner.lines(), tell=runner.send_line)


def _settings(world: World) -> dict[str, str]:
    """The variables of `fixture_api.settings`."""
    return {
        "DATASET_PATH": str(world.suite),
        "FIXED_NOW": world.plan.conditions.clock,
        "FIXTURE_HOST": "127.0.0.1",
        "FIXTURE_PORT": "0",
        "CONTROL_HOST": "127.0.0.1",
        "CONTROL_PORT": "0",
        "FIXTURE_SELECT": world.plan.agent.select,
    }


def _agent_host(world: World, work: Path) -> HostOverStdio | None:
    if not world.plan.agent.needs_host:
        return None
    return HostOverStdio(argv=(sys.executable, "-IS", str(AGENT_HOST), "--stdio", "--work", str(work)))


def _docker_agent(world: World) -> DockerAgentOrder | None:
    agent = world.agent_file
    if agent is None or agent.binary is None:
        return None
    return DockerAgentOrder(binary=str(agent.binary), folder=str(agent.folder), file=agent.file, text=agent.text)


def _fault_proxy(world: World, started: ExitStack, *, upstream: str, log: LogLine) -> FaultProxyOrder | None:
    """toxiproxy, started where the preflight found that a case needs it."""
    if world.plan.fault_proxy is None:
        return None
    return started.enter_context(toxiproxy(find_toxiproxy(()), upstream=upstream, log=log))


def _ready_ports(fixture: Child) -> dict[str, int]:
    line = fixture.first_line(timeout_s=STARTUP_S)
    if line is None:
        status = fixture.exit_status(within_s=0.5)
        how = f"was not ready within {STARTUP_S:g} s" if status is None else f"ended with status {status} at its start"
        raise LabError(
            ErrorCode.STACK_UNHEALTHY,
            f"the fixture API {how}",
            cause=" / ".join(list(fixture.tail)[-5:]) or None,
            next_step="labctl doctor",
        )
    ports: dict[str, int] = json.loads(line)
    return ports
