"""The whole run on one screen: draft, preflight, stack, collect, manifest, results, seal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from contracts import evidence
from contracts.exits import Exit
from contracts.plan import Plan
from contracts.telemetry import Telemetry
from driver.abort import Reached, leave_unsealed
from driver.agent_reference import fetch_agent
from driver.collect import Collector, await_ready, read_runner
from driver.docker_agent_preflight import ReadyAgent, ready_agent
from driver.drafting import Draft, draft_run, with_preflight
from driver.isolation import not_promised
from driver.judge_spans import JudgeSpans
from driver.leaving import taken_down
from driver.ports import Progress, Stack, StagedAgentFile, UserServices, World
from driver.refusals import Refusals
from driver.request import RunRequest
from driver.run_log import RunLog
from driver.scratch import scratch_folder
from driver.staging import Staged, keep_agent, keep_suite, staged
from driver.telemetry import keep_spans, spans_folder, tell_losses
from ledger.redaction import Redactor
from ledger.run_directory import RunDirectory

if TYPE_CHECKING:
    from contracts.comparison import Comparison
    from driver.conclusion import Conclusion
    from driver.gate import Gate
    from driver.judging.attempts import Judging
    from ledger.grading import Grading


_MOST_NAMED = 5
"""Files in one line of warning."""


@dataclass(frozen=True)
class RunOutcome:
    """A sealed run."""

    path: Path
    grading: Grading
    comparison: Comparison | None
    """With --baseline."""

    @property
    def exit_code(self) -> Exit:
        """What the comparison says, else what the outcomes say: a case that failed before is no regression."""
        return self.grading.exit_code if self.comparison is None else self.comparison.verdict.exit_code


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

        refusals = Refusals()
        draft = refusals.value_of(lambda: draft_run(request, backend=stack.backend, host_env=host_env, fetch=fetch))
        opened = refusals.value_of(lambda: (_gate(request, kept),))
        if draft is None or opened is None:
            raise refusals.as_one()
        (gate,) = opened
        if gate is not None:
            gate.require_common(draft.plan.run_id, draft.plan.cases)
        ready = _checked(draft, stack, host_env, gate=gate)
        return _run(draft, ready, stack=stack, progress=progress, warn=warn)


def _gate(request: RunRequest, kept: ExitStack) -> Gate | None:
    from driver.gate import open_gate  # noqa: PLC0415 - most runs compare nothing

    return kept.enter_context(open_gate(request))


@dataclass(frozen=True)
class _Ready:
    """What the preflight found, and the baseline where one was named."""

    gate: Gate | None
    plan: Plan
    services: UserServices
    agent: ReadyAgent | None


def _checked(draft: Draft, stack: Stack, host_env: Mapping[str, str], *, gate: Gate | None) -> _Ready:
    """The plan with what the preflight found; every environment problem at once."""
    checks = Refusals()
    env, profiles = draft.env.values, draft.plan.conditions.profiles
    services = checks.value_of(lambda: stack.user_services(draft.suite, profiles=profiles, env=env))
    needs_agent, bases = draft.plan.agent.needs_host, draft.image_references
    images = checks.value_of(lambda: stack.preflight(needs_agent=needs_agent, bases=bases, profiles=profiles))
    proxy = checks.value_of(lambda: (stack.fault_proxy(draft.cases_with_toxics),))
    found = checks.value_of(
        lambda: (ready_agent(draft.agent, draft.plan, agent_env=draft.env.values, host_env=host_env),)
    )
    if services is None or images is None or found is None or proxy is None:
        raise checks.as_one()
    (agent,), (fault_proxy,) = found, proxy
    all_images = {**images, **services.images}
    program = agent.program if agent else None
    plan = with_preflight(draft.plan, all_images, program=program, fault_proxy=fault_proxy)
    return _Ready(gate=gate, plan=plan, services=services, agent=agent)


def _run(
    draft: Draft,
    ready: _Ready,
    *,
    stack: Stack,
    progress: Callable[[Plan], Progress],
    warn: Callable[[str], None],
) -> RunOutcome:
    plan = ready.plan
    redactor = Redactor(draft.secrets)
    warn = _redacting(warn, redactor)
    if caveat := not_promised(plan):
        warn(caveat)
    for text in draft.warnings():
        warn(text)
    for name in redactor.too_short:
        warn(f"the value of {name} is too short to be taken out of the evidence")
    folder = draft.agent.folder
    with (
        staged(draft.suite, agent=folder) as stage,
        spans_folder(plan) as spans,
        ThreadPoolExecutor(1, "conclusion") as background,
        _judging(draft) as judging,
    ):
        conclusion = background.submit(_prepare_conclusion, draft)
        run = RunDirectory.create(draft.request.evidence, run_id=plan.run_id)
        with leave_unsealed(run, planned=len(plan.cases), redactor=redactor) as reached:
            _write_inputs(run, plan, stage, redactor=redactor, not_the_agents=folder.left_out if folder else ())
            _tell_what_is_missing(redactor, warn=warn)
            world = _world(draft, ready, stage, spans)
            collector = Collector(
                run=run,
                plan=plan,
                redactor=redactor,
                progress=progress(plan),
                judging=judging,
                judge_spans=JudgeSpans() if spans else None,
            )
            _attempt_all(world, collector, stack=stack, reached=reached, warn=warn)
            collector.settle()
            telemetry = _telemetry(collector, spans, warn=warn)
            end = conclusion.result()
            grading, comparison = end.write(
                run, plan, stack=stack, redactor=redactor, gate=ready.gate, telemetry=telemetry
            )
    return RunOutcome(path=run.path, grading=grading, comparison=comparison)


def _attempt_all(
    world: World, collector: Collector, *, stack: Stack, reached: Reached, warn: Callable[[str], None]
) -> None:
    log = RunLog(collector.run, collector.redactor).line

    def tell(trouble: str) -> None:
        log("labctl", trouble)
        warn(trouble)

    running = stack.running(world, log=log)
    with (
        _telling_what_is_kept(stack, warn),
        taken_down(running, is_finished=lambda: collector.collected.finished, tell=tell) as runner,
    ):
        collector.pace(runner.tell)
        records = read_runner(runner.lines)
        await_ready(records)
        reached.attempts_began = True
        collector.take(records)


def _telemetry(collector: Collector, spans: Path | None, *, warn: Callable[[str], None]) -> Telemetry | None:
    if spans is None:
        return None
    said, judged = collector.collected.spans, collector.judge_spans or JudgeSpans()
    telemetry = keep_spans(collector.run, collector.plan, spans, said=said, judged=judged, redactor=collector.redactor)
    tell_losses(telemetry, warn=warn)
    return telemetry


def _world(draft: Draft, ready: _Ready, stage: Staged, spans: Path | None) -> World:
    file, plan = None, ready.plan
    if stage.agent is not None and plan.agent.file is not None:
        file = StagedAgentFile(
            folder=stage.agent,
            file=plan.agent.file,
            text=draft.agent.text_with_tools,
            binary=ready.agent.path if ready.agent else None,
        )
    return World(
        plan=plan,
        suite=stage.suite,
        agent_suite=stage.agent_suite,
        agent_env=draft.env.values,
        suite_root=draft.suite.root,
        services=ready.services,
        own_containers=draft.own_containers,
        spans_folder=spans,
        agent_file=file,
    )


@contextmanager
def _telling_what_is_kept(stack: Stack, warn: Callable[[str], None]) -> Iterator[None]:
    """After an interrupt too: what runs on must be known to somebody."""
    try:
        yield
    finally:
        for kept in stack.kept:
            warn(f"{kept.attempt} is kept running: {kept.command}")
        if stack.kept:
            warn("labctl clean --kept removes what is kept")


def _write_inputs(
    run: RunDirectory, plan: Plan, stage: Staged, *, redactor: Redactor, not_the_agents: Sequence[str]
) -> None:
    run.write_record(evidence.PLAN, redactor.writing(evidence.PLAN).redact_record(plan))
    left_out = [f"suite: {name}" for name in keep_suite(run, stage, redactor=redactor)]
    left_out += [f"agent: {name}" for name in keep_agent(run, stage, redactor=redactor)]
    left_out += [
        f"agent: {name} (a link to no file of the agent, or a hidden file of secrets; it gets neither)"
        for name in not_the_agents
    ]
    log = RunLog(run, redactor)
    for line in left_out:
        log.line("labctl", f"not kept of the {line}")


def _redacting(warn: Callable[[str], None], redactor: Redactor) -> Callable[[str], None]:
    """Warnings quote what tools and services said."""
    quoting = redactor.writing("stderr", may_be_cut=True)
    return lambda text: warn(quoting.redact_text(text))


def _tell_what_is_missing(redactor: Redactor, *, warn: Callable[[str], None]) -> None:
    """Said at the start, where it can still be another suite: a fixture that looks like a key is one of the world."""
    inputs = (f"{evidence.SUITE_FOLDER}/", f"{evidence.AGENT_FOLDER}/")
    found = {file: sum(of.values()) for file, of in redactor.counts.by_file().items() if file.startswith(inputs)}
    if found:
        named = ", ".join([*found][:_MOST_NAMED]) + (", …" if len(found) > _MOST_NAMED else "")
        warn(
            f"secrets are taken out of the run's copy of its inputs, {sum(found.values())} in all ({named}); a replay, "
            "which runs from that copy, will not have them"
        )


def _judging(draft: Draft) -> AbstractContextManager[Judging | None]:
    if draft.judge is None:
        return nullcontext()
    from driver.judging.opening import judging  # noqa: PLC0415 - its client library takes 0.7 s to load

    return judging(draft.judge, draft.cases.by_id)


def _prepare_conclusion(draft: Draft) -> Conclusion:
    """What the end of the run needs, imported and read while its stack comes up: a third of a second less to wait."""
    from driver.conclusion import Conclusion  # noqa: PLC0415 - that is the point

    return Conclusion.prepare(draft)
