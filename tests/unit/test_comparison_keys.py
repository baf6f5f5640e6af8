"""Every change around the behaviour is named as itself, in its kind, and is called nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from comparison.keys import DRIFT_KEYS, KEYS
from comparison.sides import Side
from contracts.comparison import Verdict
from contracts.manifest import Dependencies, SourceFacts
from contracts.plan import ImageIdentity, Program
from contracts.suite.settings import Limits
from tests.fakes.compared_runs import PASS, compared, outcomes_side, with_conditions, with_manifest, with_plan

SUBJECT = (
    "agent agentDigest adapter provider model modelDigest prompt policy toolSchema temperature maxOutputTokens "
    "agentImage baseImage agentEnv agentLock source"
)
DRIFT = (
    "dataset clock clockReach timezone locale seed profiles faultPlan backend isolation limits tools egress setupRoot "
    "noSetup fixtureCode runnerCode proxyImage collectorImage labLock judge"
)
CONTEXT = "host engine labctl command times paths runId concurrency repeat capture"
OTHER = "sha256:" + "1" * 64
NEVER_EQUAL = {"runId"}


def test_the_keys_are_the_closed_list_of_the_contract() -> None:
    told = {kind: " ".join(key.name for key in KEYS if key.kind == kind) for kind in ("subject", "drift", "context")}
    assert told == {"subject": SUBJECT, "drift": DRIFT, "context": CONTEXT}
    assert " ".join(DRIFT_KEYS) == DRIFT


def _conditions(**changes: Any) -> Callable[[Side], Side]:
    return lambda side: with_conditions(side, **changes)


def _image(name: str, content: str | None = OTHER) -> Callable[[Side], Side]:
    image = ImageIdentity(reference=name, digest=OTHER, image_id=OTHER, content_digest=content)
    return lambda side: with_manifest(side, images={name: image})


def _dependencies(**parts: Any) -> Callable[[Side], Side]:
    return lambda side: with_manifest(side, dependencies=Dependencies(**parts))


def _host(**changes: Any) -> Callable[[Side], Side]:
    return lambda side: with_manifest(side, host=side.manifest.host.model_copy(update=changes))


def _program(name: str) -> Callable[[Side], Side]:
    return _dependencies(programs={name: Program(name=name, digest=OTHER)})


CHANGES: dict[str, tuple[Callable[[Side], Side], str]] = {
    "the agent's name": (_conditions(agent="desk"), "agent"),
    "the agent's declaration or files": (_conditions(agent_digest=OTHER), "agentDigest"),
    "the adapter": (_conditions(adapter="http"), "adapter"),
    "the provider": (_conditions(provider="openai"), "provider"),
    "the model": (_conditions(model="scripted/other"), "model"),
    "a scripted model's rules": (_conditions(model_digest=OTHER), "modelDigest"),
    "the prompt's label": (_conditions(prompt_revision="v7", prompt_digest=OTHER), "prompt"),
    "a prompt's text under the same label": (_conditions(prompt_digest=OTHER), "prompt"),
    "the policy's text": (_conditions(policy_digest=OTHER), "policy"),
    "the tools' schema": (_conditions(tool_schema_digest=OTHER), "toolSchema"),
    "the temperature": (_conditions(temperature=0.5), "temperature"),
    "the longest reply": (_conditions(max_output_tokens=7), "maxOutputTokens"),
    "the agent's image": (_image("agent"), "agentImage"),
    "a service of the suite": (_image("desk", None), "agentImage"),
    "the binary's image": (_image("docker-agent", None), "agentImage"),
    "the agent's program": (_program("docker-agent"), "agentImage"),
    "the base image": (_image("base"), "baseImage"),
    "a case's own image": (_image("base:example/image:1", None), "baseImage"),
    "a variable": (_conditions(agent_env={"MODE": OTHER}), "agentEnv"),
    "a lock file of the suite": (_dependencies(lock_files={"suite/package-lock.json": OTHER}), "agentLock"),
    "the commit": (lambda side: with_manifest(side, source=SourceFacts(commit="1" * 40, dirty=False)), "source"),
    "the dataset's revision": (_conditions(dataset_revision="fixtures-2", dataset_digest=OTHER), "dataset"),
    "a route or a state value": (_conditions(dataset_digest=OTHER), "dataset"),
    "the clock": (_conditions(clock="2026-09-02T12:00:00Z"), "clock"),
    "the reach of the clock": (_conditions(clock_reach="process"), "clockReach"),
    "the timezone": (_conditions(timezone="Europe/Berlin"), "timezone"),
    "the locale": (_conditions(locale="de_DE.UTF-8"), "locale"),
    "the seed": (_conditions(seed=2), "seed"),
    "a profile": (_conditions(profiles=("fault",)), "profiles"),
    "the fault plan": (_conditions(fault_plan_digest=OTHER), "faultPlan"),
    "the backend": (_conditions(backend="compose"), "backend"),
    "the isolation": (_conditions(isolation="container"), "isolation"),
    "a limit": (_conditions(limits=Limits(tool_calls=7)), "limits"),
    "the suite's timeout": (lambda side: with_plan(side, suite_timeout_seconds=5.0), "limits"),
    "live tools": (_conditions(tools="live"), "tools"),
    "egress": (_conditions(egress=True), "egress"),
    "setup as root": (_conditions(setup_root=True), "setupRoot"),
    "no setup": (_conditions(no_setup=True), "noSetup"),
    "the fixture API's image": (_image("fixture-api"), "fixtureCode"),
    "the fixture API's code": (_dependencies(lab_code={"fixture_api": OTHER}), "fixtureCode"),
    "the runner's image": (_image("eval-runner"), "runnerCode"),
    "the agent host's code": (_dependencies(lab_code={"agent_host": OTHER}), "runnerCode"),
    "the proxy's image": (_image("fault-proxy"), "proxyImage"),
    "the proxy's program": (_program("toxiproxy-server"), "proxyImage"),
    "the collector's image": (_image("otel-collector"), "collectorImage"),
    "a lock file of the lab": (_dependencies(lock_files={"runner/requirements.lock": OTHER}), "labLock"),
    "a package of the lab": (_dependencies(packages={"click": "99"}), "labLock"),
    "the judge's model": (_conditions(judge_model="openai/judge"), "judge"),
    "the judge's prompt": (_conditions(judge_prompt_digest=OTHER), "judge"),
    "the judge's votes": (_conditions(judge_votes=3), "judge"),
    "the judge's temperature": (_conditions(judge_settings={"temperature": 1.0}), "judge"),
    "the machine": (_host(kernel="Linux 7"), "host"),
    "the engine": (_host(engine="99"), "engine"),
    "labctl's version": (lambda side: with_plan(side, labctl="9"), "labctl"),
    "the command": (lambda side: with_manifest(with_plan(side, command=("x",)), command=("x",)), "command"),
    "the time": (lambda side: with_manifest(side, finished_at="2026-09-01T12:00:06.000Z"), "times"),
    "the suite's path": (lambda side: with_plan(side, suite="elsewhere"), "paths"),
    "the concurrency": (lambda side: with_plan(side, concurrency=7), "concurrency"),
    "the capture level": (lambda side: with_plan(side, capture="payloads"), "capture"),
}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Side:
    side = outcomes_side(tmp_path_factory.mktemp("runs"), {"a": PASS, "b": PASS})
    revisions = {f"{name}_{part}": f"{name}-1" for name in ("prompt", "policy") for part in ("revision", "digest")}
    return _image("fault-proxy", "sha256:" + "2" * 64)(with_conditions(side, **revisions))


@pytest.mark.parametrize("name", CHANGES)
def test_a_single_change_is_named_as_itself_and_none_is_called_behaviour(base: Side, name: str) -> None:
    change, key = CHANGES[name]
    kind = next(one.kind for one in KEYS if one.name == key)
    found = compared(base, change(base))
    told = {one: [difference.key for difference in getattr(found, one)] for one in ("subject", "drift", "context")}
    assert told == {"subject": [], "drift": [], "context": [], kind: [key]}
    assert found.verdict is (Verdict.CANNOT_TELL if kind == "drift" else Verdict.NO_REGRESSION)
    assert not found.cases
    difference = getattr(found, kind)[0]
    assert difference.baseline != difference.candidate
    if kind == "drift":
        assert compared(base, change(base), key).verdict is Verdict.NO_REGRESSION
        assert f"--allow-drift {key}" in found.reasons[0]


def test_a_run_whose_cases_need_no_proxy_does_not_drift_from_one_that_started_it(base: Side) -> None:
    without = with_manifest(base, images={})
    assert not compared(base, without).drift
    assert not compared(without, base).drift


def test_every_key_but_those_of_every_pair_of_runs_has_a_change_that_shows_it() -> None:
    assert {key.name for key in KEYS} - {key for _, key in CHANGES.values()} == {"runId", "repeat"}


def test_a_rebuild_of_equal_content_is_no_difference(base: Side) -> None:
    builds = [
        with_manifest(
            base, images={"agent": ImageIdentity(reference=ref, digest=ref, image_id=ref, content_digest=OTHER)}
        )
        for ref in ("sha256:" + "2" * 64, "sha256:" + "3" * 64)
    ]
    found = compared(builds[0], builds[1])
    assert (found.subject, found.drift, found.context) == ((), (), ())


def test_a_label_that_stands_for_other_content_is_said_to_be_reused(base: Side) -> None:
    found = compared(base, with_conditions(base, prompt_digest=OTHER))
    assert found.subject[0].label_reused
    assert "the same label stands for other content: prompt" in found.reasons
    assert (found.baseline, found.candidate) == ("prompt-1@prompt-1", "prompt-1@111111111111")
    assert not compared(base, with_conditions(base, prompt_revision="v7", prompt_digest=OTHER)).subject[0].label_reused


def test_the_first_subject_that_differs_names_the_comparison(base: Side) -> None:
    changed = with_conditions(base, prompt_revision="v7", prompt_digest=OTHER, model="scripted/x", agent="desk")
    assert (compared(base, changed).baseline, compared(base, changed).candidate) == ("prompt-1", "v7")
    changed = with_conditions(base, model="scripted/x", agent="desk")
    assert (compared(base, changed).baseline, compared(base, changed).candidate) == ("none", "scripted/x")
    changed = with_conditions(base, temperature=1.0)
    assert (compared(base, changed).baseline, compared(base, changed).candidate) == (base.plan.run_id,) * 2
    changed = with_manifest(base, source=SourceFacts(commit="abcdef0123456789", dirty=True))
    assert compared(base, changed).candidate == "abcdef012345+changes"


def test_of_an_object_only_the_members_that_differ_are_shown(base: Side) -> None:
    found = compared(base, with_conditions(base, limits=Limits(tool_calls=7))).drift[0]
    assert (found.baseline, found.candidate, found.file) == ({"tool_calls": 50}, {"tool_calls": 7}, "plan.json")


def test_what_a_side_does_not_record_is_a_difference(base: Side, tmp_path: Path) -> None:
    found = compared(base, with_conditions(base, fault_plan_digest=OTHER)).drift[0]
    assert (found.baseline, found.candidate) == (None, OTHER)
