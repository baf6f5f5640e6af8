"""What keeps an agent's attempts apart in a run, and what nothing keeps apart: decided and said before it starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from contracts.errors import ErrorCode, Found, LabError
from contracts.own_containers import no_container
from contracts.plan import AgentPlan, Backend, Isolation, Plan
from driver.request import RunRequest

_IN_THE_LAB = frozenset({"chat", "http"})
"""Adapters whose agents are no process of an attempt."""
_OF_PROCESSES = (
    "backend process isolates nothing: the agent runs as you, so it can read and change the expectations, other "
    "attempts, the evidence and your files, end processes of the lab and of yours, and reach whatever this machine "
    "reaches; limits of time and output hold, none of memory, processes, CPUs or disk"
)


def decide_isolation(
    request: RunRequest,
    *,
    agent: AgentPlan,
    agent_image: str | None,
    backend: Backend,
    needs: Mapping[str, Sequence[str]],
) -> Isolation:
    """The isolation of the whole run; `needs` is what the selected cases need a container for, by case id.

    Raises:
        LabError: BAD_USAGE for flags that contradict each other, and for chat and http agents, and for `shared`, where
            a container is asked for or needed; ISOLATION_MISSING for both on the process backend.

    """
    _refuse_contradiction(request)
    if agent.adapter in _IN_THE_LAB:
        _refuse_containers_of(agent, asked=request.isolation == "container", needs=needs)
    elif backend == "process":
        _refuse_on_processes(request, agent_image=agent_image, needs=needs)
    elif request.isolation == "container":
        return "container"
    elif request.isolation == "shared":
        if needs:
            why = "--isolation shared gives them none"
            raise no_container(needs, code=ErrorCode.BAD_USAGE, why=why, next_step="--isolation container")
    elif needs or agent.adapter == "docker-agent":
        return "container"
    _refuse_idle_flags(request, agent_image=agent_image)
    return "shared"


def _refuse_contradiction(request: RunRequest) -> None:
    if request.setup_root and request.no_setup:
        raise LabError(
            ErrorCode.BAD_USAGE,
            "--setup-root runs each case's setup as root, and --no-setup skips it",
            found=[Found("are given together", place="--setup-root --no-setup")],
            expected="one of the two, or none",
        )


def _refuse_containers_of(agent: AgentPlan, *, asked: bool, needs: Mapping[str, Sequence[str]]) -> None:
    why = f'the {agent.adapter} agent "{agent.name}" does not run in containers of attempts'
    if needs:
        next_step = "--no-setup where it is only a setup, or select other cases with --case or --only"
        raise no_container(needs, code=ErrorCode.BAD_USAGE, why=why, next_step=next_step)
    if asked:
        raise LabError(
            ErrorCode.BAD_USAGE,
            why,
            found=[Found("container", place="--isolation")],
            expected="an agent with the adapter command or docker-agent",
        )


def _refuse_on_processes(request: RunRequest, *, agent_image: str | None, needs: Mapping[str, Sequence[str]]) -> None:
    next_step = "--backend compose, with a container engine"
    if needs:
        why = "the process backend has none"
        raise no_container(needs, code=ErrorCode.ISOLATION_MISSING, why=why, next_step=next_step)
    asked = {"--isolation": request.isolation == "container", "image of the agent": agent_image is not None}
    if any(asked.values()):
        raise LabError(
            ErrorCode.ISOLATION_MISSING,
            "containers of attempts are asked for, and the process backend has none",
            found=[Found("asks for them", place=place) for place, is_asked in asked.items() if is_asked],
            next_step=next_step,
        )


def _refuse_idle_flags(request: RunRequest, *, agent_image: str | None) -> None:
    """Refuse what only containers of attempts have, since the run has none: it would silently be left out."""
    idle = {
        "--base-image": request.base_image is not None,
        "--setup-root": request.setup_root,
        "--keep-containers": request.keep_containers,
        "--container-runtime": request.container_runtime is not None,
        "image of the agent": agent_image is not None,
    }
    if any(idle.values()):
        raise LabError(
            ErrorCode.BAD_USAGE,
            "a container for each attempt is meant, and this run has none",
            found=[Found("needs --isolation container", place=place) for place, is_set in idle.items() if is_set],
            next_step="--isolation container, for a command or docker-agent agent on the compose backend",
        )


def not_promised(plan: Plan) -> str | None:
    """What the run's isolation cannot promise, as one sentence; None where nothing of the agent's could be mixed up."""
    if plan.agent.adapter == "chat":
        return None
    own = _OF_PROCESSES if plan.conditions.backend == "process" else _of_shared(plan)
    if plan.agent.adapter != "http":
        return own
    served = (
        "one served agent answers all attempts: the lab ends none of its processes between them, and nothing keeps "
        "apart what it remembers"
    )
    starts_it = plan.conditions.backend == "process" and plan.agent.command is not None
    return f"{served}; {own}" if starts_it else served


def _of_shared(plan: Plan) -> str | None:
    if plan.conditions.isolation != "shared" or sum(case.repeats for case in plan.cases) <= 1:
        return None
    together = (
        ", and attempts side by side each other's environment too, end each other's processes, and use up the memory, "
        "processes and room that they share"
        if plan.concurrency > 1
        else ""
    )
    return (
        "isolation shared: all attempts are processes of one user in one container, whatever the concurrency: each "
        f"can read what earlier ones left in /tmp, /dev/shm and /work, and leave them full{together}; "
        "--isolation container keeps them apart"
    )
