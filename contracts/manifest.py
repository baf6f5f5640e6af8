"""environment.json: the attempted conditions of a run."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field
from pydantic.dataclasses import dataclass

from contracts.plan import Conditions, ImageIdentity, PlannedCase, Program
from contracts.record import SMALL_RECORD, Record
from contracts.telemetry import Telemetry

SHARING = "review before sharing"
"""What `EnvironmentManifest.sharing` says when bodies were captured."""
SUITE_LOCKS = "suite/"
"""How the names of the suite's own lock files begin in `Dependencies.lock_files`; the others are the lab's."""


class HostFacts(Record):
    """The machine; context only, it never gates."""

    os: str
    kernel: str
    arch: str
    cpus: int
    memory_bytes: int | None = None
    cgroup_limits: dict[str, str] = Field(default_factory=dict)
    engine: str | None = None
    compose: str | None = None
    python: str


class SourceFacts(Record):
    """The repository that holds the suite; None where git cannot say."""

    commit: str | None = None
    dirty: bool | None = None


class Dependencies(Record):
    """Lock files by digest and the packages of the parts that ran in this environment."""

    lock_files: dict[str, str] = Field(default_factory=dict)
    packages: dict[str, str] = Field(default_factory=dict)
    programs: dict[str, Program] = Field(default_factory=dict)
    """Of this machine: what the agent runs in, and the fault proxy."""
    lab_code: dict[str, str] = Field(default_factory=dict)
    """Part of labctl, such as fixture_api, runner, driver: digest of the code that ran; compose.yaml: of the file."""


@dataclass(frozen=True, slots=True, kw_only=True, config=SMALL_RECORD)
class CaseConditions:
    """The flat manifest of one case."""

    case_id: str
    dataset_revision: str
    prompt_revision: str | None = None
    policy_revision: str | None = None
    tool_schema_revision: str
    model: str | None = None
    temperature: float | None = None
    seed: int
    clock: str
    case_digest: str

    @classmethod
    def of(cls, conditions: Conditions, case: PlannedCase) -> Self:
        """The run's conditions as they hold for one planned case."""
        return cls(
            case_id=case.case_id,
            dataset_revision=conditions.dataset_revision,
            prompt_revision=conditions.prompt_revision,
            policy_revision=conditions.policy_revision,
            tool_schema_revision=conditions.tool_schema_revision,
            model=conditions.model,
            temperature=conditions.temperature,
            seed=conditions.seed,
            clock=conditions.clock,
            case_digest=case.case_digest,
        )


class ResumedPart(Record):
    """One `labctl resume` of a run."""

    resumed_at: str
    """RFC 3339 UTC."""
    kept_attempts: int
    """Finished ones that stood in the evidence when it began."""
    host: HostFacts | None = None
    """The machine; None: that of the part before."""


class Resumed(Record):
    """How a run that was gone on with came together; kept and ran are all attempts of the evidence."""

    kept_attempts: int
    """Finished by the first process of the run, and never made again."""
    ran_attempts: int
    """Made by all resumptions together."""
    parts: tuple[ResumedPart, ...]
    """In their order; what one of them made is the next one's `keptAttempts` less its own, the last one's the rest."""


class Begun(Record):
    """begun.json of an unsealed run: what environment.json will say of how it began.

    It is there before the first attempt, because a resumption finds another moment, and maybe another machine.
    """

    schema_version: Literal[1] = 1
    owner: str
    """Who writes, or wrote, the run, as `driver.owner` has it."""
    dependencies: Dependencies
    host: HostFacts
    source: SourceFacts
    resumed: tuple[ResumedPart, ...] = ()
    inputs: dict[str, str] = Field(default_factory=dict)
    """Digest of plan.json and of each file of suite/ and agent/ as the run began with them; none: nobody wrote them."""


class EnvironmentManifest(Record):
    """environment.json; it describes the attempted conditions and promises no identical tokens."""

    schema_version: Literal[1] = 1
    run_id: str
    command: tuple[str, ...]
    started_at: str
    finished_at: str
    sharing: str | None = None
    """`review before sharing` when bodies were captured."""
    conditions: Conditions
    images: dict[str, ImageIdentity] = Field(default_factory=dict)
    dependencies: Dependencies
    host: HostFacts
    source: SourceFacts
    not_enforced: tuple[str, ...] = ()
    """Limits that this backend does not enforce."""
    resumed: Resumed | None = None
    """None: one process made the whole run."""
    telemetry: Telemetry | None = None
    """Present exactly with the profile observe."""
    recorded: dict[str, str] = Field(default_factory=dict)
    """Digest of each file that follows from no other: plan.json, journal, attempts, spans, run.log, suite/, agent/."""
    cases: dict[str, CaseConditions]
