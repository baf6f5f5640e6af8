"""Whether the run's agent can meet the network faults of its cases: else it is refused before anything starts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from contracts.errors import ErrorCode, Found, LabError
from contracts.fault_plan import network_faults, refuse_faults_out_of_reach
from contracts.plan import FAULT_PROFILE, AgentPlan, Backend
from contracts.suite.case import Case
from driver.agent_choice import ChosenAgent
from driver.agent_file import AgentFile
from driver.agent_models import models_used
from driver.egress import is_a_service

_OF_THE_LAB = "MODEL_URL"


def refuse_faults_of(agent: ChosenAgent, cases: Iterable[Case], *, profiles: Sequence[str]) -> None:
    """Raise LabError BAD_USAGE for network faults that the agent could never meet, naming the cases or the models."""
    if FAULT_PROFILE not in profiles:
        return
    cases = tuple(cases)
    refuse_faults_out_of_reach(agent.plan, cases)
    if agent.file is not None and _faulted(cases):
        _refuse_other_models(agent.plan, agent.file, _faulted(cases))


def _faulted(cases: Iterable[Case]) -> list[str]:
    """Ids of the cases with a toxic on the way to the model."""
    return [case.id for case in cases if any(toxic.target == "model" for toxic in network_faults(case))]


def _refuse_other_models(plan: AgentPlan, file: AgentFile, cases: Sequence[str]) -> None:
    found = [
        Found(f'"{use.name}" is not asked at MODEL_URL', plan.file, use.place)
        for use in models_used(file)
        if _OF_THE_LAB not in str(use.definition.get("base_url") or "")
    ]
    if found or plan.overrides_model:
        raise LabError(
            ErrorCode.BAD_USAGE,
            f"toxics with the target model in {', '.join(cases)} need models that are asked at MODEL_URL",
            found=found or [Found(f'"{plan.model}" of --model is asked at its provider', plan.file)],
            expected="base_url: ${env.MODEL_URL} in the definition of every model",
            next_step="add it to the agent file, or select other cases with --case or --only",
        )


def refuse_model_out_of_the_stack(
    plan: AgentPlan, cases: Iterable[Case], *, profiles: Sequence[str], backend: Backend
) -> None:
    """Raise LabError BAD_USAGE for a toxic on a model that the fault proxy's closed networks have no way to."""
    if FAULT_PROFILE not in profiles or backend != "compose" or plan.model_url is None:
        return
    faulted = _faulted(cases)
    if faulted and not is_a_service(plan.model_url):
        raise LabError(
            ErrorCode.BAD_USAGE,
            f"the fault proxy has no way to the model at {urlsplit(plan.model_url).netloc}, which is outside",
            found=[Found("a toxic has the target model", place=case_id) for case_id in faulted],
            expected="a model_url that names a service of compose_files",
            next_step="--backend process, or select other cases with --case or --only",
        )
