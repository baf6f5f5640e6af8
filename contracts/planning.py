"""From a suite and flags to decisions: which cases, which agent, which limits, under which conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from contracts.agent_resolution import resolve_agent
from contracts.case_selection import select_cases
from contracts.model_endpoint import SCRIPTED
from contracts.plan import AgentPlan, Backend, Conditions, Isolation, PlannedCase
from contracts.suite.case import Case
from contracts.suite.kept_cases import KeptCases
from contracts.suite.settings import Limits
from contracts.suite.suite import Suite

__all__ = [
    "attempt_limits",
    "conditions_of",
    "effective_limits",
    "not_selected",
    "planned_cases",
    "resolve_agent",
    "select_cases",
]


def effective_limits(limits: Limits, *, timeout: float | None) -> Limits:
    """The suite's limits with `--timeout` (seconds; 0: none) over their `seconds`."""
    return limits if timeout is None else limits.model_copy(update={"seconds": float(timeout)})


def attempt_limits(limits: Limits, case: Case) -> Limits:
    """The limits of an attempt at the case: of each the stricter one, the run's or the case's own."""
    own = case.limits
    stricter: dict[str, float | int] = {}
    if own.seconds is not None:
        # 0 means none in a run's limits, so it is never the stricter one.
        stricter["seconds"] = min(own.seconds, limits.seconds) if limits.seconds else own.seconds
    if own.tool_calls is not None:
        stricter["tool_calls"] = min(own.tool_calls, limits.tool_calls)
    if own.model_calls is not None:
        stricter["model_calls"] = min(own.model_calls, limits.model_calls)
    if own.cost_usd is not None:
        stricter["cost_usd"] = own.cost_usd if limits.cost_usd is None else min(own.cost_usd, limits.cost_usd)
    return limits.model_copy(update=stricter) if stricter else limits


def conditions_of(  # noqa: PLR0913 - each is a condition of its own
    suite: Suite,
    agent: AgentPlan,
    *,
    backend: Backend,
    limits: Limits,
    seed: int | None = None,
    agent_env: Mapping[str, str] | None = None,
    profiles: Sequence[str] = (),
    isolation: Isolation = "shared",
    egress: bool = False,
    setup_root: bool = False,
    no_setup: bool = False,
) -> Conditions:
    """The declared world of a run; `seed` None takes the suite's."""
    settings, policy = suite.settings, suite.policy
    prompt = suite.prompts[agent.prompt] if agent.prompt else None
    provider, _, model = (agent.model or "").partition("/")
    return Conditions(
        dataset_revision=suite.dataset.label,
        dataset_digest=suite.dataset.digest,
        prompt_revision=prompt.name if prompt else None,
        prompt_digest=prompt.digest if prompt else None,
        policy_revision=policy.name if policy else None,
        policy_digest=policy.digest if policy else None,
        tool_schema_revision=suite.tool_schema.label,
        tool_schema_digest=suite.tool_schema.digest,
        agent=agent.name,
        agent_digest=agent.digest,
        adapter=agent.adapter,
        provider=provider or None,
        model=agent.model,
        model_digest=suite.model_digests[model] if provider == SCRIPTED else None,
        temperature=agent.temperature,
        max_output_tokens=agent.max_output_tokens,
        seed=settings.seed if seed is None else seed,
        clock=settings.clock,
        timezone=settings.timezone,
        locale=settings.locale,
        profiles=tuple(profiles),
        backend=backend,
        isolation=isolation,
        limits=limits,
        agent_env=dict(agent_env or {}),
        egress=egress,
        setup_root=setup_root,
        no_setup=no_setup,
        defaulted=suite.defaulted,
    )


def not_selected(suite: Suite, cases: KeptCases) -> tuple[str, ...]:
    """Ids of the suite's cases that are not among those selected, in the suite's order."""
    selected = set(cases.ids())
    return tuple(case_id for case_id in suite.case_digests if case_id not in selected)


def planned_cases(suite: Suite, cases: KeptCases, *, repeats: int = 1) -> tuple[PlannedCase, ...]:
    """The cases as plan.json lists them."""
    return tuple(
        PlannedCase(
            case_id=case_id,  # the very text that the suite has it by, not the case's own copy
            title=case.title or case_id,
            protected=case.protected,
            case_digest=suite.case_digests[case_id],
            repeats=repeats,
        )
        for case_id, case in zip(cases.ids(), cases, strict=True)
    )
