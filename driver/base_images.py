"""Which image each container is made from: the case's, else `--base-image`, else the agent's, else the default."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from contracts.plan import AgentPlan
from contracts.suite.case import Case
from driver.checkout import ROOT

OWN = "agent"
"""The key of the lab's own agent image in plan.images: command agents run in it by default."""
BASE = "base"
"""The key of the image of all cases without one of their own; that of a case is `base:` and its reference."""
DEFAULT_VARIABLE = "DOCKER_AGENT_BASE_IMAGE"
"""In images.env, and in .env over it: the default for docker-agent agents."""


@dataclass(frozen=True)
class BaseImages:
    """What a run makes containers from."""

    of_case: dict[str, str]
    """Case id to a key of plan.images."""
    references: dict[str, str]
    """Key to reference, without the lab's own image."""


def base_images(
    cases: Iterable[Case], *, agent: AgentPlan, agent_image: str | None, base_image: str | None
) -> BaseImages:
    """Decide it for every case; OSError where images.env cannot be read."""
    common = base_image or agent_image or (_default() if agent.adapter == "docker-agent" else None)
    of_case, references = {}, {}
    for case in cases:
        reference = case.image or common
        key = OWN if reference is None else BASE if reference == common else f"{BASE}:{reference}"
        of_case[case.id] = key
        if reference is not None:
            references[key] = reference
    return BaseImages(of_case=of_case, references=references)


def _default() -> str | None:
    found = None
    for path in (ROOT / "images.env", ROOT / ".env"):
        found = _variable(path) or found
    return found


def _variable(path: Path) -> str | None:
    lines = path.read_text().splitlines() if path.is_file() else []
    return next((line.partition("=")[2] for line in lines if line.startswith(f"{DEFAULT_VARIABLE}=")), None)
