"""Writes the inputs of a run into its directory: suite and agent first, and the plan when they are whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from contracts import evidence
from contracts.canonical import digest_of_file
from contracts.plan import Plan
from driver.run_log import RunLog
from driver.staging import Staged, keep_agent, keep_suite
from ledger.redaction import Redactor
from ledger.run_directory import RunDirectory

_MOST_NAMED = 5
"""Files in one line of warning."""


def write_inputs(
    run: RunDirectory, plan: Plan, stage: Staged, *, redactor: Redactor, not_the_agents: Sequence[str]
) -> Plan:
    """The plan as it was written, but for what is redacted: with the files that are kept by digest only.

    A directory with a plan is one whose inputs are whole, so the plan comes last. Raises LabError WRITE_FAILED.
    """
    suite, agent = keep_suite(run, stage, redactor=redactor), keep_agent(run, stage, redactor=redactor)
    too_large = [f"suite: {name}" for name in suite] + [f"agent: {name}" for name in agent]
    left_out = [f"suite: {name} (a link to a folder, out of the suite, or nowhere)" for name in stage.links_left_out]
    left_out += [
        f"agent: {name} (a link to no file of the agent, or a hidden file of secrets; it gets neither)"
        for name in not_the_agents
    ]
    log = RunLog(run, redactor)
    for line in (*too_large, *left_out):
        log.line("labctl", f"not kept of the {line}")
    plan = plan.model_copy(update={"not_kept": tuple(too_large)})
    run.write_record(evidence.PLAN, redactor.writing(evidence.PLAN).redact_record(plan))
    run.inputs[evidence.PLAN] = digest_of_file(run.path / evidence.PLAN)
    return plan


def tell_what_is_missing(redactor: Redactor, *, warn: Callable[[str], None]) -> None:
    """Said at the start, where it can still be another suite: a fixture that looks like a key is one of the world."""
    inputs = (f"{evidence.SUITE_FOLDER}/", f"{evidence.AGENT_FOLDER}/")
    found = {file: sum(of.values()) for file, of in redactor.counts.by_file().items() if file.startswith(inputs)}
    if found:
        named = ", ".join([*found][:_MOST_NAMED]) + (", …" if len(found) > _MOST_NAMED else "")
        warn(
            f"secrets are taken out of the run's copy of its inputs, {sum(found.values())} in all ({named}); a replay "
            "or resume, which runs from that copy, will not have them"
        )
