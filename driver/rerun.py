"""A recorded run as a request for another one: its own suite/ and agent/ under its own flags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from contracts import evidence
from contracts.flags import Flags
from contracts.plan import Plan
from driver.agent_env import name_of
from driver.env_file import read_env_values
from driver.request import RunRequest


@dataclass(frozen=True, kw_only=True)
class Anew:
    """What is not the run's but of the command that runs it again."""

    command: tuple[str, ...]
    evidence: Path
    run_id: str | None = None
    """None: from time and chance."""
    env: tuple[str, ...]
    """`KEY` or `KEY=VALUE`, as given: values are on no disk."""
    env_from_file: Path | None
    host_env: Mapping[str, str]


def recorded_flags(request: RunRequest) -> Flags:
    """The flags that decide what runs."""
    return Flags(
        agent=request.agent,
        model=request.model,
        prompt=request.prompt,
        seed=request.seed,
        timeout_seconds=request.timeout_s,
        isolation=request.isolation,
        base_image=request.base_image,
        setup_root=request.setup_root,
        no_setup=request.no_setup,
        egress=request.egress,
        container_runtime=request.container_runtime,
        judge_model=request.judge_model,
        judge_votes=request.judge_votes,
        env=tuple(name_of(one) for one in request.env),
        not_secret=request.not_secret,
        baseline=None if request.baseline is None else str(request.baseline),
        regression_tolerance=request.regression_tolerance,
        allow_drift=request.allow_drift,
        allow_removed=request.allow_removed,
    )


def request_again(root: Path, plan: Plan, *, cases: Sequence[str], repeat: int, anew: Anew) -> RunRequest:
    """The run below `root` as a request, for those of its cases, each so often.

    What it was compared with is left out: whoever runs it again says that. Variables that the run had by `-e` are
    asked for again where they have a value here; `unset_variables` has the rest.
    """
    flags = plan.flags
    missing = unset_variables(plan, anew)
    return RunRequest(
        suite=root / evidence.SUITE_FOLDER,
        agent=_agent(root, plan),
        model=flags.model,
        prompt=flags.prompt,
        case_ids=tuple(cases),
        only=(),
        repeat=repeat,
        concurrency=plan.concurrency,
        seed=plan.conditions.seed,
        timeout_s=flags.timeout_seconds,
        suite_timeout_s=plan.suite_timeout_seconds,
        profiles=plan.conditions.profiles,
        evidence=anew.evidence,
        run_id=anew.run_id,
        capture=plan.capture,
        env=(*anew.env, *(name for name in _not_given(plan, anew) if name not in missing)),
        not_secret=flags.not_secret,
        isolation=flags.isolation,
        base_image=flags.base_image,
        setup_root=flags.setup_root,
        no_setup=flags.no_setup,
        egress=flags.egress,
        container_runtime=flags.container_runtime,
        env_from_file=anew.env_from_file,
        judge_model=flags.judge_model,
        judge_votes=flags.judge_votes,
        command=anew.command,
    )


def unset_variables(plan: Plan, anew: Anew) -> tuple[str, ...]:
    """The variables that the run had by `-e` and that have no value here; LabError for an unreadable file of values."""
    values = dict(anew.host_env)
    if anew.env_from_file is not None:
        values |= read_env_values(anew.env_from_file, host=anew.host_env)
    return tuple(name for name in _not_given(plan, anew) if name not in values)


def _not_given(plan: Plan, anew: Anew) -> tuple[str, ...]:
    given = {name_of(one) for one in anew.env}
    return tuple(name for name in plan.flags.env if name not in given)


def _agent(root: Path, plan: Plan) -> str | None:
    """An agent file that `--agent` named stands in the evidence; the suite's own agents are named as they were."""
    own_file = plan.agent.file
    if own_file is None or plan.flags.agent is None or plan.flags.agent == plan.agent.name:
        return plan.flags.agent
    return str(root / evidence.AGENT_FOLDER / own_file)
