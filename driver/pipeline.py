"""The whole run on one screen: draft, preflight, stack, collect, manifest, results, seal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from contracts import evidence
from contracts.exits import Exit
from contracts.plan import Plan
from driver.abort import leave_unsealed
from driver.agent_reference import fetch_agent
from driver.collect import Collector, await_ready, read_runner
from driver.docker_agent_preflight import ReadyAgent, ready_agent
from driver.drafting import Draft, draft_run, with_preflight
from driver.isolation import not_promised
from driver.ports import Progress, Stack, StagedAgentFile, World
from driver.refusals import Refusals
from driver.request import RunRequest
from driver.run_log import RunLog
from driver.scratch import scratch_folder
from driver.staging import Staged, keep_agent, keep_suite, staged
from ledger.redaction import Redactor
from ledger.run_directory import RunDirectory

if TYPE_CHECKING:
    from driver.conclusion import Conclusion
    from ledger.grading import Grading


@dataclass(frozen=True)
class RunOutcome:
    """A sealed run."""

    path: Path
    grading: Grading
    exit_code: Exit


def run_suite(
    request: RunRequest,
    *,
    stack: Stack,
    host_env: Mapping[str, str],
    progress: Callable[[Plan], Progress],
    warn: Callable[[str], None],
) -> RunOutcome:
    """Run a suite once and seal the evidence; `warn` is told what a person should know but nothing stops.

    Raises:
        LabError: exit 2 or 4 before the first attempt, leaving nothing behind; exit 5 when evidence cannot be written.
        Interrupted: after a signal; the run directory stays, unsealed, with abort.json.

    """
    with ExitStack() as kept:

        def fetch(reference: str) -> tuple[str, Path]:
            return fetch_agent(reference, folder=kept.enter_context(scratch_folder()), host_env=host_env)

        draft = draft_run(request, backend=stack.backend, host_env=host_env, fetch=fetch)
        plan, agent = _checked(draft, stack, host_env)
        return _run(draft, plan, agent, stack=stack, progress=progress, warn=warn)


def _checked(draft: Draft, stack: Stack, host_env: Mapping[str, str]) -> tuple[Plan, ReadyAgent | None]:
    """The plan with what the preflight found; every environment problem at once."""
    checks = Refusals()
    with_process = draft.plan.agent.adapter != "chat"
    images = checks.value_of(lambda: stack.preflight(needs_agent=with_process))
    ready = checks.value_of(
        lambda: (ready_agent(draft.agent, draft.plan, agent_env=draft.env.values, host_env=host_env),)
    )
    if images is None or ready is None:
        raise checks.as_one()
    (agent,) = ready
    return with_preflight(draft.plan, images, program=agent.program if agent else None), agent


def _run(  # noqa: PLR0913 - what a run is made of
    draft: Draft,
    plan: Plan,
    agent: ReadyAgent | None,
    *,
    stack: Stack,
    progress: Callable[[Plan], Progress],
    warn: Callable[[str], None],
) -> RunOutcome:
    if caveat := not_promised(plan):
        warn(caveat)
    redactor = Redactor(draft.env.secrets)
    for name in redactor.too_short:
        warn(f"the value of {name} is too short to be taken out of the evidence")
    folder = draft.agent.folder
    with staged(draft.suite, agent=folder) as stage, ThreadPoolExecutor(1, "conclusion") as background:
        conclusion = background.submit(_prepare_conclusion, draft)
        run = RunDirectory.create(draft.request.evidence, run_id=plan.run_id)
        with leave_unsealed(run, planned=len(plan.cases)) as reached:
            _write_inputs(run, plan, stage, redactor=redactor, not_the_agents=folder.left_out if folder else ())
            world = _world(draft, plan, stage, agent)
            with stack.running(world, log=RunLog(run, redactor).line) as lines:
                records = read_runner(lines)
                await_ready(records)
                reached.attempts_began = True
                collector = Collector(run=run, plan=plan, redactor=redactor, progress=progress(plan))
                collector.take(records)
            grading = conclusion.result().write(run, plan, stack=stack, redactor=redactor)
    return RunOutcome(path=run.path, grading=grading, exit_code=grading.exit_code)


def _world(draft: Draft, plan: Plan, stage: Staged, agent: ReadyAgent | None) -> World:
    file = None
    if stage.agent is not None and plan.agent.file is not None:
        file = StagedAgentFile(
            folder=stage.agent,
            file=plan.agent.file,
            text=draft.agent.text_with_tools,
            binary=agent.path if agent else None,
        )
    return World(
        plan=plan,
        suite=stage.suite,
        agent_suite=stage.agent_suite,
        agent_env=draft.env.values,
        agent_file=file,
    )


def _write_inputs(
    run: RunDirectory, plan: Plan, stage: Staged, *, redactor: Redactor, not_the_agents: Sequence[str]
) -> None:
    run.write_record(evidence.PLAN, redactor.redact_record(plan))
    left_out = [f"suite: {name}" for name in keep_suite(run, stage, redactor=redactor)]
    left_out += [f"agent: {name}" for name in keep_agent(run, stage, redactor=redactor)]
    left_out += [
        f"agent: {name} (a link, or a hidden file of secrets; docker-agent gets it neither)" for name in not_the_agents
    ]
    for line in left_out:
        run.append(evidence.RUN_LOG, f"labctl | not kept of the {line}")


def _prepare_conclusion(draft: Draft) -> Conclusion:
    """What the end of the run needs, imported and read while its stack comes up: a third of a second less to wait."""
    from driver.conclusion import Conclusion  # noqa: PLC0415 - that is the point

    return Conclusion.prepare(draft)
