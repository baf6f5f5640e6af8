"""The whole run on one screen: draft, preflight, stack, collect, manifest, results, seal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from contracts import evidence
from contracts.exits import Exit
from contracts.plan import Plan
from driver.abort import leave_unsealed
from driver.collect import Collector, await_ready, read_runner
from driver.drafting import Draft, draft_run, with_images
from driver.isolation import not_promised
from driver.ports import Progress, Stack, World
from driver.request import RunRequest
from driver.run_log import RunLog
from driver.staging import Staged, keep_suite, staged
from ledger.redaction import Redactor
from ledger.run_directory import RunDirectory

if TYPE_CHECKING:
    from driver.conclusion import Conclusion
    from driver.judging.attempts import Judging
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
    draft = draft_run(request, backend=stack.backend, host_env=host_env)
    services = stack.user_services(draft.suite, profiles=request.profiles)
    images = stack.preflight(needs_agent=draft.plan.agent.needs_host, bases=draft.bases.references)
    plan = with_images(draft.plan, {**images, **services.images})
    if caveat := not_promised(plan):
        warn(caveat)
    for text in draft.warnings():
        warn(text)
    redactor = Redactor(draft.secrets)
    for name in redactor.too_short:
        warn(f"the value of {name} is too short to be taken out of the evidence")
    with staged(draft.suite) as stage, ThreadPoolExecutor(1, "conclusion") as background, _judging(draft) as judging:
        conclusion = background.submit(_prepare_conclusion, draft)
        run = RunDirectory.create(request.evidence, run_id=plan.run_id)
        with leave_unsealed(run, planned=len(plan.cases)) as reached:
            _write_inputs(run, plan, stage, redactor=redactor)
            world = World(
                plan=plan,
                suite=stage.suite,
                agent_suite=stage.agent_suite,
                agent_env=draft.env.values,
                suite_root=draft.suite.root,
                services=services,
                own_containers=draft.own_containers,
            )
            with _telling_what_is_kept(stack, warn), stack.running(world, log=RunLog(run, redactor).line) as lines:
                records = read_runner(lines)
                await_ready(records)
                reached.attempts_began = True
                collector = Collector(run=run, plan=plan, redactor=redactor, progress=progress(plan), judging=judging)
                collector.take(records)
            collector.settle()
            grading = conclusion.result().write(run, plan, stack=stack, redactor=redactor)
    return RunOutcome(path=run.path, grading=grading, exit_code=grading.exit_code)


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


def _write_inputs(run: RunDirectory, plan: Plan, stage: Staged, *, redactor: Redactor) -> None:
    run.write_record(evidence.PLAN, redactor.redact_record(plan))
    left_out = keep_suite(run, stage, redactor=redactor)
    for line in left_out:
        run.append(evidence.RUN_LOG, f"labctl | not kept of the suite: {line}")


def _judging(draft: Draft) -> AbstractContextManager[Judging | None]:
    if draft.judge is None:
        return nullcontext()
    from driver.judging.opening import judging  # noqa: PLC0415 - its client library takes 0.7 s to load

    return judging(draft.judge, {case.id: case for case in draft.cases})


def _prepare_conclusion(draft: Draft) -> Conclusion:
    """What the end of the run needs, imported and read while its stack comes up: a third of a second less to wait."""
    from driver.conclusion import Conclusion  # noqa: PLC0415 - that is the point

    return Conclusion.prepare(draft)
