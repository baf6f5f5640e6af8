"""README.md of a run directory: what was run, what must hold in it, what was taken out, how to check and repeat it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from contracts import evidence
from contracts.canonical import digest_of_file
from contracts.errors import Found, one_line
from contracts.manifest import Resumed
from contracts.plan import Plan, PlannedCase
from driver.ports import KeptContainer
from driver.secret_values import HELD
from ledger.capture import PLAIN_BYTES, WHOLE_BYTES
from ledger.plan_file import PlannedRow
from ledger.redaction import Redactor

SHARING = "SHARING: review before sharing"

_TAKEN_OUT, _LEFT_RUNNING = "What was taken out", "What was left running"
_OF_THE_RUN = frozenset({_TAKEN_OUT, _LEFT_RUNNING, "Resumed"})
"""Headings of sections that say what happened, so that no plan tells what must stand in them."""
NAMED = (evidence.ENVIRONMENT, evidence.COMPARISON)
"""Files that no other one follows from or names."""
_DIGEST_LINE = re.compile(r"^- `([a-z.]+)` has the digest (sha256:[0-9a-f]{64})\.$", re.MULTILINE)
_SECTION = "\n\n## "
_MOST_NAMED = 50

Cases = Sequence[PlannedCase] | Sequence[PlannedRow]


def run_readme(
    plan: Plan,
    *,
    redactor: Redactor,
    kept: Sequence[KeptContainer] = (),
    resumed: Resumed | None = None,
    digests: Mapping[str, str] | None = None,
) -> str:
    """The text, from the plan, the names of the secrets and what was left running.

    Args:
        plan: as it was written, redacted.
        redactor: with which every other file was written.
        kept: containers that --keep-containers left.
        resumed: how a run that was gone on with came together.
        digests: of the files in `NAMED`, as far as they are there.

    """
    before, after = _of_the_plan(plan, plan.cases, digests or {})
    how = [_how_it_was_resumed(resumed)] if resumed else []
    parts = [*before, *how, _redaction(plan, redactor), *after, *([_what_was_kept(kept)] if kept else [])]
    return "\n\n".join(parts) + "\n"


def unsealed_readme(
    plan: Plan,
    *,
    reason: str,
    how_far: Sequence[str],
    redactor: Redactor,
) -> str:
    """The text for a run that ended before its seal: why, how far it got, and how to go on; the rest as above."""
    lines = "\n".join(f"- {line}" for line in (f"why: {one_line(reason)}", *how_far))
    parts = [
        f"# {plan.run_id}: unsealed",
        *([SHARING] if plan.capture == "payloads" else []),
        "This run ended before its seal. What had finished is kept; nothing is graded, and `labctl verify` refuses it.",
        f"## How far it got\n\n{lines}\n\n`{evidence.ABORT}` says the same to a program.",
        "## How to go on\n\nWhat finished is not run again:\n\n    labctl resume .",
        _what_was_run(plan, plan.cases),
        _redaction(plan, redactor),
    ]
    return "\n\n".join(parts) + "\n"


def named_digests(root: Path) -> dict[str, str]:
    """The digests of the files in `NAMED` that a run directory holds; raises OSError as reading does."""
    return {name: digest_of_file(root / name) for name in NAMED if (root / name).is_file()}


def readme_problems(content: bytes, plan: Plan, cases: Cases, *, sha256: Mapping[str, str]) -> Iterator[Found]:
    """Named files that are others, then the first section that is not what the plan makes of it.

    What was taken out and what was left running stands in no plan, and is not looked at.

    Args:
        content: of README.md.
        plan: without its cases.
        cases: these.
        sha256: hexadecimal digest of every file of the run, by its name.

    """
    text = content.decode("utf-8", "replace")
    told = dict(_DIGEST_LINE.findall(text))
    for name in NAMED:
        if told.get(name) != (f"sha256:{sha256[name]}" if name in sha256 else None):
            yield Found(f"is not the file whose digest {evidence.README} has", name)
            if name not in told:  # one of the two was edited, and nothing tells which
                yield Found(f"has no digest of {name}, which is there", evidence.README)
    before, after = _of_the_plan(plan, cases, told)
    must = "\n\n".join([*before, *after]).split(_SECTION)
    are = [part for part in text.removesuffix("\n").split(_SECTION) if part.partition("\n")[0] not in _OF_THE_RUN]
    for number, part in enumerate(must):
        if number >= len(are) or are[number] != part:
            yield Found("does not follow from plan.json", evidence.README, f"section {number + 1}")
            return
    if len(are) > len(must) or not text.endswith("\n"):
        yield Found("goes on after what follows from plan.json, or is cut", evidence.README)


def _of_the_plan(plan: Plan, cases: Cases, digests: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """What follows from the plan: what stands before what was taken out, and what stands after it."""
    head = [f"# {plan.run_id}", *([SHARING] if plan.capture == "payloads" else [])]
    return [*head, _what_was_run(plan, cases), _invariants(cases, digests)], [_how_to_verify(), _how_to_repeat(plan)]


def _what_was_run(plan: Plan, cases: Cases) -> str:
    conditions = plan.conditions
    rows = {
        "command": f"`{shlex.join(plan.command)}`",
        "suite": plan.suite,
        "fixture revision": f"{conditions.dataset_revision} ({conditions.dataset_digest})",
        "tool schema": f"{conditions.tool_schema_revision} ({conditions.tool_schema_digest})",
        "policy": _label(conditions.policy_revision, conditions.policy_digest),
        "prompt": _label(conditions.prompt_revision, conditions.prompt_digest),
        "agent": f"{conditions.agent} ({conditions.adapter}, {conditions.agent_digest})",
        "model": _label(conditions.model, conditions.model_digest),
        "judge": f"{conditions.judge_model} ({conditions.judge_votes} votes, prompt {conditions.judge_prompt_digest})"
        if conditions.judge_model
        else "none",
        "clock, seed": f"{conditions.clock}, {conditions.seed}",
        "backend": f"{conditions.backend}, isolation {conditions.isolation}",
        "cases": f"{len(cases)}, {sum(case.repeats for case in cases)} repeats in all",
        "labctl": plan.labctl,
    }
    return "## What was run\n\n" + "\n".join(f"- {name}: {value}" for name, value in rows.items())


def _how_it_was_resumed(resumed: Resumed) -> str:
    lines = [
        f"- {part.resumed_at}: {part.kept_attempts} attempts were finished and kept"
        + (f"; on another machine ({part.host.os}, {part.host.kernel})" if part.host else "")
        for part in resumed.parts
    ]
    return (
        "## Resumed\n\n"
        f"The first process of this run did not end it: {resumed.kept_attempts} attempts are its own, and "
        f"{resumed.ran_attempts} were made after `labctl resume`, under the same conditions.\n\n" + "\n".join(lines)
    )


def _label(revision: str | None, digest: str | None) -> str:
    if revision is None:
        return "none"
    return revision if digest is None else f"{revision} ({digest})"


def _invariants(cases: Cases, digests: Mapping[str, str]) -> str:
    protected = [case for case in cases if case.protected]
    lines = [
        "- `results.json` and `junit.xml` follow from `plan.json` and `traces/attempts.jsonl` byte for byte.",
        "- Every planned case stands in `results.json` once; one that never started is unknown, never left out.",
        "- Every attempt line has as many rows in `journal.jsonl` as it says, numbered from 1 and side by side.",
        "- The same requests in the same order get the same answers from this fixture revision: see `responseDigest`.",
        "- `COMPLETE` lists every file; without it the run says nothing; `labctl resume` finishes such a run.",
    ]
    lines += [f"- `{name}` has the digest {digests[name]}." for name in NAMED if name in digests]
    if protected:
        lines.append(f"- Protected cases, which no later run may lose: {_named([case.case_id for case in protected])}.")
    return "## What must hold\n\n" + "\n".join(lines)


def _redaction(plan: Plan, redactor: Redactor) -> str:
    held = [name for name in redactor.names if name.startswith(HELD)]
    named = [name for name in redactor.names if name not in held]
    of_environment = f" and {len(held)} of labctl's own environment" if held else ""
    lines = [
        f"- Values taken out of every file, as `[redacted:NAME]`: {_named(named) or 'none that was given'}"
        f"{of_environment}. They were looked for as they are, JSON-escaped, URL-encoded, HTML-escaped and in base64."
        if redactor.names
        else "- No secret value was known to this run; none was looked for."
    ]
    lines.append("- Also what has the shape of a well-known kind of key, as `[redacted:shape:KIND]`, whoever's it is.")
    if redactor.too_short:
        lines.append(f"- Too short to be taken out, so possibly in these files: {_named(redactor.too_short)}.")
    lines += _counts(redactor.counts.by_file())
    if plan.capture == "payloads":
        kept = f"whole up to {WHOLE_BYTES} bytes each, then cut with a note"
    else:
        kept = f"plain up to {PLAIN_BYTES} bytes each, else as `<N bytes sha256:...>`"
    lines.append(f"- Capture level `{plan.capture}`: texts and values of agent, model and tools are kept {kept}.")
    lines.append("- `suite/` is the suite as it was but for the values above.")
    if plan.agent.file:
        lines.append("- `agent/` is the agent's folder, likewise, without version control and hidden files of secrets.")
    return f"## {_TAKEN_OUT}\n\n" + "\n".join(lines)


def _counts(by_file: Mapping[str, Mapping[str, int]]) -> list[str]:
    if not by_file:
        return ["- Nothing was found to take out."]
    rows = [
        f"  - `{file}`: {', '.join(f'{name} {count}' for name, count in names.items())}"
        for file, names in by_file.items()
    ]
    more = len(rows) - _MOST_NAMED
    return [
        "- Found, and how often (files that are made from these hold the same marks and are not counted):",
        *rows[:_MOST_NAMED],
        *([f"  - and in {more} more files"] if more > 0 else []),
    ]


def _how_to_verify() -> str:
    return (
        "## How to verify\n\n"
        "    labctl verify .\n\n"
        "or, without labctl, in this directory (this checks the listed files only):\n\n"
        "    sha256sum -c COMPLETE"
    )


def _how_to_repeat(plan: Plan) -> str:
    """The command with every condition spelled out, because the suite's defaults may have been overridden."""
    agent = f"{evidence.AGENT_FOLDER}/{plan.agent.file}" if plan.agent.file else plan.agent.name
    command = ["labctl", "run", "suite", "--agent", agent]
    is_named = plan.agent.file is None or plan.agent.overrides_model
    command += ["--model", plan.agent.model] if plan.agent.model and is_named else []
    command += ["--prompt", plan.agent.prompt] if plan.agent.prompt else []
    command += ["--seed", str(plan.conditions.seed), "--timeout", f"{plan.conditions.limits.seconds:g}"]
    if plan.conditions.judge_model:
        command += ["--judge-model", plan.conditions.judge_model, "--judge-votes", str(plan.conditions.judge_votes)]
    command += ["--backend", plan.conditions.backend, *_surroundings(plan)]
    text = (
        "## How to run a case again\n\n"
        "From this directory's own copy of the suite, into another evidence folder:\n\n"
        f"    {shlex.join(command)} --case ID --evidence ../\n"
    )
    if plan.conditions.agent_env:
        text += f"\nThe agent also got {_named(sorted(plan.conditions.agent_env))}; give them again with `-e`.\n"
    return text.rstrip("\n")


def _surroundings(plan: Plan) -> list[str]:
    """Flags for what the agent was surrounded by; an image that only a case names comes from the case."""
    conditions, base = plan.conditions, plan.images.get("base")
    asked = {
        "--isolation container": conditions.isolation == "container",
        f"--base-image {base.reference if base else ''}": base is not None,
        "--setup-root": conditions.setup_root,
        "--no-setup": conditions.no_setup,
        "--egress": conditions.egress,
    }
    profiles = [word for profile in conditions.profiles for word in ("--profile", profile)]
    return profiles + [word for flag, is_asked in asked.items() if is_asked for word in flag.split(" ", 1)]


def _what_was_kept(kept: Sequence[KeptContainer]) -> str:
    lines = [f"- {one.attempt}: `{one.command}`" for one in kept]
    return (
        f"## {_LEFT_RUNNING}\n\nContainers of attempts, off every network, with the values that reached the "
        "agents still in them; `labctl clean --kept` removes them.\n\n" + "\n".join(lines)
    )


def _named(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
