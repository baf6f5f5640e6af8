"""From `--agent`, or the suite's own choice, to the agent as it will run: a docker-agent file's contents included."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from contracts.agent_resolution import refuse_model, resolve_agent
from contracts.canonical import digest_of_json
from contracts.errors import ErrorCode, LabError
from contracts.order import FIXTURE_URL_MARK
from contracts.plan import AgentPlan, Conditions
from contracts.record import Json
from contracts.suite.suite import Suite
from driver.agent_file import AgentFile, read_agent_file, unusable_file
from driver.agent_folder import AgentFolder, agent_folder
from driver.agent_models import main_models
from driver.agent_names import is_file, is_reference
from driver.request import RunRequest
from driver.yaml_values import changed_yaml

Fetch = Callable[[str], tuple[str, Path]]
"""From a registry reference to the reference by digest and the fetched agent file; raises LabError."""


@dataclass(frozen=True)
class ChosenAgent:
    """An agent and, for docker-agent, what it is made of."""

    plan: AgentPlan
    file: AgentFile | None = None
    folder: AgentFolder | None = None

    @property
    def text_with_tools(self) -> str | None:
        """The agent file with the fixture API as a toolset; None where the file runs as it is."""
        if self.file is None or not self.plan.fixture_tools:
            return None
        return with_fixture_tools(self.file.text)

    def conditions(self, conditions: Conditions, suite: Suite) -> Conditions:
        """The conditions of a run of this agent: instruction, model and toolsets are those of its file."""
        if self.file is None:
            return conditions
        bound = self.plan.fixture_tools
        tools = self.file.toolsets_digest
        tools = digest_of_json([tools, suite.tool_schema.digest]) if bound else tools
        return conditions.model_copy(
            update={
                "prompt_revision": self.file.instruction_digest,
                "prompt_digest": self.file.instruction_digest,
                "model_digest": conditions.model_digest or self.file.models_digest,
                "tool_schema_revision": tools,
                "tool_schema_digest": tools,
                "tools": "bound" if bound else "live",
            }
        )


def choose_agent(suite: Suite, request: RunRequest, *, fetch: Fetch) -> ChosenAgent:
    """The agent of the run.

    Raises:
        LabError: see `contracts.agent_resolution.resolve_agent`; AGENT_FILE_INVALID; AGENT_UNRESOLVED.

    """
    name = request.agent
    if name is None or name in suite.agents or not (is_file(name) or is_reference(name)):
        plan = resolve_agent(suite, name=name, model=request.model, prompt=request.prompt)
        return _of_suite(suite, plan, request, fetch=fetch) if plan.adapter == "docker-agent" else ChosenAgent(plan)
    plan = AgentPlan(name=Path(name).name if is_file(name) else name, adapter="docker-agent", digest="")
    declaration: dict[str, Json] = {"file": plan.name}
    if is_file(name):
        return _completed(suite, plan, request, path=Path(name), place="--agent", declaration=declaration)
    reference, path = fetch(name)
    plan = plan.model_copy(update={"reference": reference})
    return _completed(suite, plan, request, path=path, place="--agent", declaration=declaration)


def _of_suite(suite: Suite, plan: AgentPlan, request: RunRequest, *, fetch: Fetch) -> ChosenAgent:
    named, place = plan.reference or "", f"{suite.shown('suite.toml')} agents.{plan.name}.file"
    path, reference = suite.root / named, None
    if not path.is_file() and not is_file(named) and is_reference(named):
        reference, path = fetch(named)
    plan = plan.model_copy(update={"reference": reference})
    return _completed(suite, plan, request, path=path, place=place, declaration={"declared": plan.digest})


def _completed(  # noqa: PLR0913 - the parts of an agent
    suite: Suite,
    plan: AgentPlan,
    request: RunRequest,
    *,
    path: Path,
    place: str,
    declaration: Mapping[str, Json],
) -> ChosenAgent:
    if request.prompt is not None:
        raise LabError(
            ErrorCode.BAD_USAGE,
            "--prompt is for agents whose prompt is the suite's; that of a docker-agent file is its instruction",
            next_step="change the instruction in the file, or leave --prompt out",
        )
    file = read_agent_file(path, shown=str(path), place=place)
    folder = agent_folder(path.parent, suite=suite)
    if path.name not in folder.files:
        raise unusable_file(
            str(path), "lies where no agent may read, or has the name of a file of secrets", place=place
        )
    asked_for = request.model or plan.model
    main = main_models(file, agent=file.main(plan.args))
    model = asked_for or ",".join(use.name for use in main) or None
    refuse_model(suite, name=plan.name, adapter=plan.adapter, model=model)
    definition = main[0].definition if main and asked_for is None else {}
    plan = plan.model_copy(
        update={
            "file": path.name,
            "model": model,
            "overrides_model": asked_for is not None,
            "temperature": _number(definition.get("temperature")),
            "max_output_tokens": _whole(definition.get("max_tokens")),
            "digest": digest_of_json({**declaration, "files": folder.digests()}),
        }
    )
    return ChosenAgent(plan, file=file, folder=folder)


def _number(value: Json) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else None


def _whole(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def with_fixture_tools(text: str) -> str:
    """The agent file with the fixture API's MCP server as the last toolset of every agent."""

    def add(document: Any) -> None:
        for agent in document["agents"].values():
            server = {"url": f"{FIXTURE_URL_MARK}/mcp", "transport_type": "streamable"}
            agent["toolsets"] = [*(agent.get("toolsets") or ()), {"type": "mcp", "remote": server}]

    return changed_yaml(text, add)
