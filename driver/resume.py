"""Finishes an unsealed run from its own suite/ and agent/: finished attempts are kept, the rest is run and sealed."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from contracts import evidence
from contracts.errors import ErrorCode, Found, LabError
from contracts.exits import Exit
from contracts.manifest import Begun, ResumedPart
from contracts.plan import Backend, ImageIdentity, Plan
from driver import clock
from driver.agent_choice import Fetch
from driver.agent_env import MODELS_GATEWAY, PROVIDER_KEYS
from driver.cleaning import reap_disk, reap_engine
from driver.continuing import Continued
from driver.manifest import begun_here
from driver.pipeline import Prepared, RunOutcome, carry_out, prepare
from driver.ports import Progress, Stack
from driver.request import RunRequest
from driver.rerun import Anew, request_again, unset_variables
from driver.resuming import begun_of, dependency_differences, kept_of, locked, not_resumable, plan_differences, plan_of
from driver.scratch import temporary_folder
from driver.unsealed_files import changed_inputs
from driver.working_tree import changes_since
from ledger.kept_attempts import KeptAttempts
from ledger.redaction import Redactor

StackOf = Callable[[Backend, Mapping[str, ImageIdentity]], Stack]
"""The stack of a backend, which runs the given images wherever they still are."""

_OF_THE_COMMAND = {ErrorCode.BAD_USAGE, ErrorCode.UNSET_VARIABLE}
"""What the user may have typed wrong now; every other refusal of exit 2 is about the run's own files."""


def resume(
    run: Path,
    *,
    anew: Anew,
    stack_of: StackOf,
    progress: Callable[[Plan], Progress],
    tell: Callable[[str], None],
) -> RunOutcome:
    """Go on with the run and seal it; `anew` has the values of variables, `tell` takes what a person should know.

    Raises:
        LabError: NO_RUN, SEALED_RUN, NOT_RESUMABLE, of which nothing was written; what
            `driver.pipeline.run_suite` raises, but that the run directory always stays.

    """
    root = run.absolute()
    with ExitStack() as opened:
        lock = locked(root, shown=run)
        opened.callback(lock.release)
        plan = plan_of(root, shown=run)
        temporary_folder()  # not in the run itself: it would become part of what is sealed
        kept = kept_of(plan, root, shown=run)
        anew = _restored(plan, anew, root=root, shown=run)
        stack = stack_of(plan.conditions.backend, plan.images)
        request = _request(root, plan, anew)
        with _about_the_runs_files(run):
            fetch = _from_evidence(root, plan)
            prepared = prepare(request, stack=stack, host_env=anew.host_env, fetch=fetch, kept=opened)
        here = begun_here(prepared.draft.suite)
        begun = begun_of(root, kept, here=here, shown=run)
        changed = changed_inputs(root, begun.inputs)
        prepared = _as_it_was(prepared, plan, begun=begun, here=here, changed=changed, shown=run)
        for change in changes_since(root, plan):
            tell(f"changed since, and not used: {change}")
        tell(f"{run} is resumed: {kept.attempts} finished attempts are kept")
        continued = Continued(root, lock=lock, kept=kept, begun=_with_part(begun, kept, here))
        with _reaped(plan, begun.owner):
            outcome = carry_out(
                prepared,
                stack=stack,
                progress=progress,
                warn=lambda text: tell(f"warning: {text}"),
                continued=continued,
            )
        return replace(outcome, path=run)


def _restored(plan: Plan, anew: Anew, *, root: Path, shown: Path) -> Anew:
    """With the host's variables that the run had, and none of those that reach an agent unasked and it had not."""
    had = plan.conditions.agent_env
    unasked = {*PROVIDER_KEYS, MODELS_GATEWAY}
    host_env = {name: value for name, value in anew.host_env.items() if name not in unasked or name in had}
    anew = replace(anew, host_env=host_env, evidence=root.parent, run_id=plan.run_id)
    of_host = plan.model_copy(update={"flags": plan.flags.model_copy(update={"env": tuple(had)})})
    unset = dict.fromkeys((*unset_variables(plan, anew), *unset_variables(of_host, anew)))
    if unset:
        raise not_resumable(
            shown,
            "had variables that have no value here: values are on no disk",
            found=[Found("has no value", place=name) for name in unset],
            next_step=f"labctl resume {shlex.quote(str(shown))} " + " ".join(f"-e {name}" for name in unset),
        )
    return anew


def _request(root: Path, plan: Plan, anew: Anew) -> RunRequest:
    cases, flags = [case.case_id for case in plan.cases], plan.flags
    request = request_again(root, plan, cases=cases, repeat=plan.cases[0].repeats, anew=anew)
    return replace(
        request,
        agent=flags.agent if plan.agent.reference else request.agent,
        baseline=None if flags.baseline is None else Path(flags.baseline),
        regression_tolerance=flags.regression_tolerance,
        allow_drift=flags.allow_drift,
        allow_removed=flags.allow_removed,
    )


def _from_evidence(root: Path, plan: Plan) -> Fetch:
    """What was fetched from a registry stands in the evidence, and the reference by digest in the plan."""

    def fetch(reference: str) -> tuple[str, Path]:
        return plan.agent.reference or reference, root / evidence.AGENT_FOLDER / (plan.agent.file or "")

    return fetch


@contextmanager
def _about_the_runs_files(shown: Path) -> Iterator[None]:
    """A suite or agent in the evidence that cannot be used any more, or a baseline that is gone, is no wrong usage."""
    try:
        yield
    except LabError as error:
        if error.exit_code is not Exit.USAGE or error.code in _OF_THE_COMMAND:
            raise
        found = [Found(f"{error.code.code}: {error.message}"), *error.found]
        raise not_resumable(shown, "does not have what it ran from any more", found=found) from error


def _as_it_was(  # noqa: PLR0913 - what the run was, and what it would be
    prepared: Prepared, plan: Plan, *, begun: Begun, here: Begun, changed: list[Found], shown: Path
) -> Prepared:
    """What was prepared as the run that it goes on with; raises LabError NOT_RESUMABLE naming all that is another."""
    now = prepared.plan.model_copy(
        update={
            "command": plan.command,
            "suite": plan.suite,
            "flags": plan.flags,
            "job": plan.job,
            "planned_at": plan.planned_at,
        }
    )
    redacted = Redactor(prepared.draft.secrets).redact_record(now)
    found = plan_differences(plan, redacted) + dependency_differences(begun.dependencies, here.dependencies) + changed
    if found:
        raise not_resumable(
            shown,
            "would go on as another run: what would run is not what ran",
            found=found,
            expected="the conditions, cases, agent, images and labctl of the run",
            next_step="restore them, or run the suite again",
        )
    return replace(prepared, plan=now)


def _with_part(begun: Begun, kept: KeptAttempts, here: Begun) -> Begun:
    hosts = [part.host for part in begun.resumed if part.host is not None]
    before = hosts[-1] if hosts else begun.host
    part = ResumedPart(
        resumed_at=clock.instant(clock.now()),
        kept_attempts=kept.attempts,
        host=None if before == here.host else here.host,
    )
    return begun.model_copy(update={"owner": here.owner, "resumed": (*begun.resumed, part)})


@contextmanager
def _reaped(plan: Plan, owner: str) -> Iterator[None]:
    """Before and after: nothing of the killed process is on the engine or the disk.

    After as well, because a command of the engine's client that outlived the process may have been starting something.
    """
    _reap(plan, owner)
    try:
        yield
    finally:
        _reap(plan, owner)


def _reap(plan: Plan, owner: str) -> None:
    has_engine = plan.conditions.backend == "compose"
    owners = {owner, *(reap_engine(plan.run_id) if has_engine else ())}
    reap_disk(owners)
