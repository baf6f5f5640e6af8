"""What of a suite's faults a run has to apply, its digest, and what an agent cannot be given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from contracts.canonical import digest_of_json
from contracts.errors import ErrorCode, Found, LabError
from contracts.model_endpoint import is_scripted
from contracts.plan import FAULT_PROFILE, AgentPlan, Conditions
from contracts.suite.case import Case
from contracts.suite.fault import Toxic


def network_faults(case: Case) -> tuple[Toxic, ...]:
    """The toxics of a case, in the order of its list."""
    return case.faults.network if case.faults else ()


def cases_with_toxics(cases: Iterable[Case], profiles: Sequence[str]) -> tuple[str, ...]:
    """Ids of the cases that need the fault proxy under these profiles."""
    return tuple(case.id for case in cases if network_faults(case)) if FAULT_PROFILE in profiles else ()


def with_fault_plan(conditions: Conditions, cases: Iterable[Case]) -> Conditions:
    """The conditions with the digest of the faults of all cases of the suite, as they are written, where they are on.

    Of all, selected or not: one case run by itself has the plan that it had among the others.
    """
    if FAULT_PROFILE not in conditions.profiles:
        return conditions
    written = {
        case.id: case.faults.model_dump(mode="json", by_alias=True, exclude_unset=True)
        for case in cases
        if case.faults is not None
    }
    return conditions.model_copy(update={"fault_plan_digest": digest_of_json(written)})


def refuse_faults_out_of_reach(agent: AgentPlan, cases: Iterable[Case]) -> None:
    """Raise LabError BAD_USAGE, naming every case, for network faults that this agent could never meet.

    `agent` is the agent as it will run; what a docker-agent file says of its models is the driver's to judge.
    """
    found = [Found(why, place=case.id) for case in cases if (why := _out_of_reach(agent, network_faults(case)))]
    if found:
        raise LabError(
            ErrorCode.BAD_USAGE,
            f'the agent "{agent.name}" cannot be given the network faults of {len(found)} of the selected cases',
            found=found,
            next_step="another agent, or select other cases with --case or --only, or leave out --profile fault",
        )


def _out_of_reach(agent: AgentPlan, toxics: Sequence[Toxic]) -> str | None:
    if not toxics:
        return None
    if agent.select == "header":
        return 'its agent has select = "header", so no connection is known to be this case\'s'
    if all(toxic.target != "model" for toxic in toxics) or agent.adapter == "docker-agent":
        return None
    return why_model_is_out_of_reach(agent)


def why_model_is_out_of_reach(agent: AgentPlan) -> str | None:
    """Why no toxic can be on the way to the agent's model; None where MODEL_URL leads to it over plain HTTP."""
    if agent.model is None:
        return "a toxic has the target model, and the agent declares none"
    if is_scripted(agent.model):
        return None
    if agent.model_url is None:
        return f"a toxic has the target model, and {agent.model} is asked at its provider, not at MODEL_URL"
    if urlsplit(agent.model_url).scheme != "http":
        return f"a toxic has the target model, and {agent.model_url} is no plain HTTP"
    return None
