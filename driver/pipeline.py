"""The whole run on one screen: draft, preflight, stack, collect, manifest, results, seal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from contracts.exits import Exit
from contracts.plan import Plan
from contracts.telemetry import Telemetry
from driver.abort import Reached, UnderWay, leave_unsealed
from driver.agent_choice import Fetch
from driver.agent_preflight import ReadyAgent, ready_agent
from driver.agent_reference import fetch_agent
from driver.collect import Collected, Collector, await_ready, read_runner
from driver.continuing import Continued, write_begun
from driver.drafting import Draft, draft_run, with_preflight
from driver.inputs import tell_what_is_missing, write_inputs
from driver.isolation import not_promised
from driver.judge_spans import JudgeSpans
from driver.leaving import taken_down
from driver.ports import Progress, Stack, StagedAgentFile, UserServices, World
from driver.refusals import Refusals
from driver.request import RunRequest
from driver.run_log import RunLog
from driver.scratch import scratch_folder
from driver.sealed_places import refuse_sealed
from driver.staging import Staged, staged
from driver.telemetry import keep_spans, spans_folder, tell_losses
from ledger.redaction import Redactor
from ledger.run_directory import RunDirectory

if TYPE_CHECKING:
    from contracts.comparison import Comparison
    from driver.conclusion import Conclusion
    from driver.gate import Gate
    from driver.judging.attempts import Judging
    from ledger.grading import Grading


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

        prepared = prepare(request, stack=stack, host_env=host_env, fetch=fetch, kept=kept)
        return carry_out(prepared, stack=stack, progress=progress, warn=warn)


@dataclass(frozen=True)
class Prepared:
    """A run that is decided and checked, of which nothing was written or started."""

    draft: Draft
    plan: Plan
    """With what the preflight found."""
    gate: Gate | None
    """The baseline, where one was named."""
    services: UserServices
    agent: ReadyAgent | None


def prepare(
    request: RunRequest, *, stack: Stack, host_env: Mapping[str, str], fetch: Fetch, kept: ExitStack
) -> Prepared:
    """Draft and preflight; `fetch` gets an agent out of a registry, `kept` keeps a baseline that had to be unpacked.

    Raises:
        LabError: exit 2 or 4, and what `driver.gate.open_gate` raises; everything of a phase at once.

    """
    refusals = Refusals()
    refusals.value_of(lambda: refuse_sealed(request.evidence, place="--evidence"))
    draft = refusals.value_of(lambda: draft_run(request, backend=stack.backend, host_env=host_env, fetch=fetch))
    opened = refusals.value_of(lambda: (_gate(request, kept),))
    if draft is None or opened is None or refusals.any:
        raise refusals.as_one()
    (gate,) = opened
    if gate is not None:
        gate.require_common(draft.plan.run_id, draft.plan.cases)
        draft = replace(draft, plan=gate.noted(draft.plan))
    return _checked(draft, stack, host_env, gate=gate)


def _gate(request: RunRequest, kept: ExitStack) -> Gate | None:
    from driver.gate import open_gate  # noqa: PLC0415 - most runs compare nothing

    return kept.enter_context(open_gate(request))


def _checked(draft: Draft, stack: Stack, host_env: Mapping[str, str], *, gate: Gate | None) -> Prepared:
    """The draft with what the preflight found; every environment problem at once."""
    checks = Refusals()
    env, profiles = draft.env.values, draft.plan.conditions.profiles
    services = checks.value_of(lambda: stack.user_services(draft.suite, profiles=profiles, env=env))
    needs_agent, bases = draft.plan.agent.needs_host, draft.image_references
    images = checks.value_of(lambda: stack.preflight(needs_agent=needs_agent, bases=bases, profiles=profiles))
    proxies = checks.value_of(lambda: (stack.fault_proxy(draft.cases_with_toxics),))
    found = checks.value_of(
        lambda: (ready_agent(draft.agent, draft.plan, draft.suite, agent_env=env, host_env=host_env),)
    )
    if services is None or images is None or found is None or proxies is None:
        raise checks.as_one()
    (agent,), (proxy,) = found, proxies
    program, script = (agent.program, agent.script) if agent else (None, None)
    plan = with_preflight(draft.plan, {**images, **services.images}, program=program, script=script, fault_proxy=proxy)
    return Prepared(draft=draft, plan=plan, gate=gate, services=services, agent=agent)


def carry_out(
    prepared: Prepared,
    *,
    stack: Stack,
    progress: Callable[[Plan], Progress],
    warn: Callable[[str], None],
    continued: Continued | None = None,
) -> RunOutcome:
    """Run what is prepared, or the rest of a run that is `continued`, and seal it; raises as `run_suite` does."""
    draft, plan = prepared.draft, prepared.plan
    redactor = Redactor(draft.secrets)
    warn = _redacting(warn, redactor)
    for text in _caveats(prepared, redactor):
        warn(text)
    with (
        staged(draft.suite, agent=draft.agent.folder) as stage,
        spans_folder(plan) as spans,
        ThreadPoolExecutor(1, "conclusion") as background,
        _judging(draft) as judging,
    ):
        ending = background.submit(_prepare_conclusion, draft, continued)
        with _unsealed(prepared, continued, redactor=redactor, warn=warn) as (run, reached):
            plan = _begin(run, prepared, stage, continued, redactor=redactor, warn=warn)
            collector = Collector(
                run=run,
                plan=plan,
                redactor=redactor,
                progress=progress(plan),
                judging=judging,
                judge_spans=JudgeSpans() if spans else None,
            )
            if continued is None or continued.has_more(plan):
                world = _world(replace(prepared, plan=plan), stage, spans, continued)
                _attempt_all(world, collector, stack=stack, reached=reached, ending=ending, warn=warn)
            reached.phase = "verdicts"
            collector.settle()
            reached.phase = "conclusion"
            telemetry = _telemetry(collector, spans, is_resumed=continued is not None, warn=warn)
            grading, comparison = ending.result().write(
                run,
                plan,
                stack=stack,
                redactor=redactor,
                gate=prepared.gate,
                attempts=collector.collected.attempts + (continued.kept.attempts if continued else 0),
                telemetry=telemetry,
            )
    return RunOutcome(path=run.path, grading=grading, comparison=comparison)


def _caveats(prepared: Prepared, redactor: Redactor) -> Iterator[str]:
    """What a person should know before anything starts."""
    if caveat := not_promised(prepared.plan):
        yield caveat
    yield from prepared.draft.warnings()
    for name in redactor.too_short:
        yield f"the value of {name} is too short to be taken out of the evidence"


def _unsealed(
    prepared: Prepared, continued: Continued | None, *, redactor: Redactor, warn: Callable[[str], None]
) -> AbstractContextManager[tuple[RunDirectory, Reached]]:
    plan, is_new = prepared.plan, continued is None
    opens = lambda: _opened(prepared.draft, plan, continued, warn=warn)  # noqa: E731 - it is used once
    return leave_unsealed(opens, plan=plan, redactor=redactor, is_new=is_new)


def _begin(  # noqa: PLR0913 - the parts of a run
    run: RunDirectory,
    prepared: Prepared,
    stage: Staged,
    continued: Continued | None,
    *,
    redactor: Redactor,
    warn: Callable[[str], None],
) -> Plan:
    """What stands in the directory before the first attempt of this process; the plan as it was written."""
    if continued is not None:
        continued.begin(run, redactor=redactor)
        return prepared.plan
    folder = prepared.draft.agent.folder
    not_the_agents = folder.left_out if folder else ()
    plan = write_inputs(run, prepared.plan, stage, redactor=redactor, not_the_agents=not_the_agents)
    tell_what_is_missing(redactor, warn=warn)
    return plan


def _opened(draft: Draft, plan: Plan, continued: Continued | None, *, warn: Callable[[str], None]) -> RunDirectory:
    if continued is not None:
        return continued.open(plan.run_id)
    run = RunDirectory.create(draft.request.evidence, run_id=plan.run_id)
    if run.no_lock:
        warn(f"{run.path} cannot be locked ({run.no_lock}): if this run is killed, labctl resume will refuse it there")
    return run


def _attempt_all(  # noqa: PLR0913 - the parts of a run
    world: World,
    collector: Collector,
    *,
    stack: Stack,
    reached: Reached,
    ending: Future[Conclusion],
    warn: Callable[[str], None],
) -> None:
    log = RunLog(collector.run, collector.redactor).line

    def tell(trouble: str) -> None:
        log("labctl", trouble)
        warn(trouble)

    running = stack.running(world, log=log)
    with (
        _telling_what_is_kept(stack, warn),
        taken_down(running, tell=tell) as runner,
    ):
        collector.pace(runner.tell)
        records = read_runner(runner.lines)
        await_ready(records)
        reached.under_way = lambda: _under_way(collector.collected)
        reached.attempts_began = True
        # before the first attempt stands in the evidence: whoever goes on with the run has to know how it began
        write_begun(collector.run, ending.result().begun, redactor=collector.redactor)
        collector.take(records)


def _under_way(collected: Collected) -> list[UnderWay]:
    """Called between any two steps, while other threads go on: of copies only."""
    agents, judge = sorted(collected.under_way.copy()), sorted(collected.unjudged.copy())
    under_way = [*((*one, "agent") for one in agents), *((*one, "judge") for one in judge)]
    return [UnderWay(case_id=case_id, attempt=number, waits_for=waits) for case_id, number, waits in under_way]


def _telemetry(
    collector: Collector, spans: Path | None, *, is_resumed: bool, warn: Callable[[str], None]
) -> Telemetry | None:
    if spans is None:
        return None
    said, judged = collector.collected.spans, collector.judge_spans or JudgeSpans()
    telemetry = keep_spans(
        collector.run,
        collector.plan,
        spans,
        said=said,
        judged=judged,
        redactor=collector.redactor,
        is_resumed=is_resumed,
    )
    tell_losses(telemetry, warn=warn)
    return telemetry


def _world(prepared: Prepared, stage: Staged, spans: Path | None, continued: Continued | None) -> World:
    file, plan, draft = None, prepared.plan, prepared.draft
    if stage.agent is not None and plan.agent.file is not None:
        file = StagedAgentFile(
            folder=stage.agent,
            file=plan.agent.file,
            text=draft.agent.text_with_tools,
            binary=prepared.agent.path if prepared.agent else None,
        )
    return World(
        plan=plan,
        suite=stage.suite,
        agent_suite=stage.agent_suite,
        agent_env=draft.env.values,
        suite_root=draft.suite.root,
        services=prepared.services,
        own_containers=draft.own_containers,
        spans_folder=spans,
        agent_file=file,
        finished=continued.kept.last_tries if continued else (),
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


def _redacting(warn: Callable[[str], None], redactor: Redactor) -> Callable[[str], None]:
    """Warnings quote what tools and services said."""
    quoting = redactor.writing("stderr", may_be_cut=True)
    return lambda text: warn(quoting.redact_text(text))


def _judging(draft: Draft) -> AbstractContextManager[Judging | None]:
    if draft.judge is None:
        return nullcontext()
    from driver.judging.opening import judging  # noqa: PLC0415 - its client library takes 0.7 s to load

    return judging(draft.judge, draft.cases.by_id)


def _prepare_conclusion(draft: Draft, continued: Continued | None) -> Conclusion:
    """What the end of the run needs, imported and read while its stack comes up: a third of a second less to wait."""
    from driver.conclusion import Conclusion  # noqa: PLC0415 - that is the point

    return Conclusion.prepare(draft, continued.begun if continued else None)
