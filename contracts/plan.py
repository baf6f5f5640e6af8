"""plan.json: everything that was decided before the first attempt."""

from __future__ import annotations

from typing import Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from contracts.flags import Flags
from contracts.record import SMALL_RECORD, Json, Record
from contracts.suite.settings import Adapter, Limits
from contracts.telemetry import OBSERVE_PROFILE

Backend = Literal["compose", "process"]
Isolation = Literal["shared", "container"]
Capture = Literal["metadata", "payloads"]
FAULT_PROFILE = "fault"
"""The profile under which a case's faults are active."""
OWN_PROFILES = (FAULT_PROFILE, OBSERVE_PROFILE)
"""Those of the lab itself; every other one is a compose file's."""


class Program(Record):
    """A program of this machine that a run uses."""

    name: str
    version: str | None = None
    """The first line of what it says of itself; None where it says nothing."""
    digest: str
    """Of its file."""


class AgentPlan(Record):
    """The agent as it will run: the suite's declaration with the flags applied."""

    name: str
    adapter: Adapter
    prompt: str | None = None
    """Name of the prompt."""
    model: str | None = None
    """`provider/model`."""
    model_url: str | None = None
    """Where a model outside of the lab is asked, in OpenAI's protocol; None: at its provider."""
    auth: str | None = None
    """The variable whose value is sent as a bearer token."""
    temperature: float | None = None
    max_output_tokens: int | None = None
    command: tuple[str, ...] | None = None
    """As declared; `{suite}` is expanded by whoever starts it."""
    select: Literal["prefix", "header"] = "prefix"
    url: str | None = None
    """Of an agent that is served."""
    protocol: Literal["lab", "openai"] | None = None
    auth_required: bool = False
    start_seconds: float | None = None
    """How long a served agent may take to accept connections."""
    file: str | None = None
    """docker-agent: the agent file's name in its folder, which stands in the evidence as agent/."""
    reference: str | None = None
    """docker-agent: the registry reference that the file was taken from, with its digest."""
    args: tuple[str, ...] = ()
    """docker-agent: more arguments of its command line."""
    fixture_tools: bool = False
    """docker-agent: the fixture API's MCP server is one of its toolsets."""
    overrides_model: bool = False
    """docker-agent: `model` is that of `--model` and not the agent file's own."""
    binary_image: str | None = None
    """docker-agent: the image that its binary is taken from, in containers."""
    binary: Program | None = None
    """The program of this machine that runs: docker-agent, or what `command` begins with.

    None on Compose, where images have it, and for a file of the suite that `digest` has.
    """
    script: Program | None = None
    """The file outside the suite that the program is given as its first argument; None: there is none, or as above."""
    digest: str
    """Over the declaration and the files that the agent is made of."""

    @property
    def needs_host(self) -> bool:
        """True where agent_host runs a program of the agent's."""
        return self.command is not None or self.adapter == "docker-agent"


@dataclass(frozen=True, slots=True, kw_only=True, config=SMALL_RECORD)
class PlannedCase:
    """One selected case."""

    case_id: str
    title: str
    protected: bool
    case_digest: str
    repeats: int = 1


class Conditions(Record):
    """The declared world of a run (CONTRACT §7); labels and digests stand side by side."""

    dataset_revision: str
    dataset_digest: str
    prompt_revision: str | None = None
    prompt_digest: str | None = None
    policy_revision: str | None = None
    policy_digest: str | None = None
    tool_schema_revision: str
    tool_schema_digest: str
    agent: str
    agent_digest: str
    adapter: Adapter
    provider: str | None = None
    model: str | None = None
    model_digest: str | None = None
    temperature: float | None = None
    max_output_tokens: int | None = None
    seed: int
    clock: str
    clock_reach: Literal["fixture", "process"] = "fixture"
    timezone: str
    locale: str
    profiles: tuple[str, ...] = ()
    fault_plan_digest: str | None = None
    backend: Backend
    isolation: Isolation = "shared"
    limits: Limits
    agent_env: dict[str, str] = Field(default_factory=dict)
    """Name -> digest of the value; `secret` for values that are not digested."""
    tools: Literal["bound", "live"] = "bound"
    judge_model: str | None = None
    judge_prompt_digest: str | None = None
    judge_votes: int = 1
    judge_settings: dict[str, Json] | None = None
    """How the judge is asked: url, temperature, sizes, times, retries; None: no judge."""
    egress: bool = False
    setup_root: bool = False
    no_setup: bool = False
    defaulted: tuple[str, ...] = ()
    """Keys of suite.toml that were absent and took their documented default."""


class ImageIdentity(Record):
    """An image as the engine has it; `digest` is the repository digest, or the image id where it was built here."""

    reference: str
    digest: str
    image_id: str
    content_digest: str | None = None
    """The label `labctl.content`; equal content digests mean equal files, whatever the image id."""


class Plan(Record):
    """plan.json, written before the first attempt and never changed."""

    schema_version: Literal[1] = 1
    run_id: str
    labctl: str
    """The version that made the plan."""
    command: tuple[str, ...]
    """The command line, without any value of `-e`."""
    suite: str
    """The suite as it was named."""
    flags: Flags = Field(default_factory=Flags)
    agent: AgentPlan
    conditions: Conditions
    images: dict[str, ImageIdentity] = Field(default_factory=dict)
    fault_proxy: Program | None = None
    """The toxiproxy of this machine that runs (process backend); None where it runs from an image, or not at all."""
    capture: Capture
    concurrency: int
    job: str | None = None
    """[jobs.NAME] of the suite that the profiles come from; None: they were chosen by name."""
    suite_timeout_seconds: float | None = None
    """From the first attempt on; None: no end."""
    planned_at: str
    baseline_run: str | None = None
    """Id of the run that `--baseline` named and that was opened before the first attempt."""
    not_kept: tuple[str, ...] = ()
    """Files that suite/ and agent/ have by digest only, because they are too large."""
    not_selected: tuple[str, ...] = ()
    """Ids of the suite's cases that --case and --only left out."""
    cases: tuple[PlannedCase, ...]

    @property
    def programs(self) -> dict[str, Program]:
        """What runs of this machine's own programs, by name."""
        found = (self.agent.binary, self.agent.script, self.fault_proxy)
        return {program.name: program for program in found if program is not None}
