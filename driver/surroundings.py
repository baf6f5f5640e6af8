"""What an agent of one run is surrounded by: its isolation, its way out, the images of its containers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from contracts.errors import Found
from contracts.own_containers import own_container_needs
from contracts.plan import AgentPlan, Backend, Isolation
from contracts.suite.kept_cases import KeptCases
from contracts.suite.suite import Suite
from driver.base_images import BaseImages, base_images
from driver.egress import decide_egress
from driver.isolation import decide_isolation
from driver.request import RunRequest


@dataclass(frozen=True)
class Surroundings:
    """Decided before anything starts."""

    isolation: Isolation
    egress: bool
    bases: BaseImages

    @classmethod
    def decide(  # noqa: PLR0913 - what a run is decided from
        cls,
        request: RunRequest,
        *,
        suite: Suite,
        cases: KeptCases,
        agent: AgentPlan,
        backend: Backend,
        outside: Sequence[Found] | None,
    ) -> Self:
        """From the flags, the agent and the selected cases; raises what the three decisions raise.

        `outside` are the models outside of an agent that has a file of its own; None: it has none.
        """
        declared = suite.agents.get(agent.name)  # none for an agent file that --agent names
        agent_image = declared.image if declared else None
        isolation = decide_isolation(
            request,
            agent=agent,
            agent_image=agent_image,
            backend=backend,
            needs=own_container_needs(cases.having("setup", "working_dir", "image"), no_setup=request.no_setup),
        )
        is_open = declared is not None and declared.egress
        egress = decide_egress(agent, asked=request.egress, declared=is_open, backend=backend, outside=outside)
        bases = BaseImages({}, {})
        if isolation == "container":
            bases = base_images(cases, agent=agent, agent_image=agent_image, base_image=request.base_image)
        return cls(isolation=isolation, egress=egress, bases=bases)
