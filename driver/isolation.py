"""What keeps an agent's attempts apart in a run, and what nothing keeps apart: said before anybody trusts it."""

from __future__ import annotations

from contracts.plan import Plan


def not_promised(plan: Plan) -> str | None:
    """What the run's isolation cannot promise, as one sentence; None where only the lab's own chat loop runs."""
    if plan.agent.adapter == "chat":
        return None
    if plan.agent.adapter == "http":
        return (
            "one served agent answers all attempts: the lab ends none of its processes between them, and nothing keeps "
            "apart what it remembers"
        )
    if plan.conditions.backend == "process":
        return (
            "backend process isolates nothing: the agent runs as you, and can read the expectations, other attempts "
            "and your files"
        )
    if plan.conditions.isolation == "shared" and plan.concurrency > 1:
        return (
            "isolation shared: attempts side by side are processes of one user in one container, and can read each "
            "other's environment and files; --concurrency 1 keeps them apart in time"
        )
    return None
