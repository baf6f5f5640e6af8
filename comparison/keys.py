"""The closed list of what may differ between two runs: each KEY with its kind, and where the evidence has its value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from contracts import evidence
from contracts.manifest import SUITE_LOCKS
from contracts.record import Json

Kind = Literal["subject", "drift", "context"]
Documents = Mapping[str, Json]
"""A run's environment.json and plan.json by their names, without their cases."""

_SERVICES = ("fixture-api", "eval-runner", "fault-proxy", "otel-collector")
"""Images of the lab that are no agent's."""
_BASE = "base"
_PROXY, _COLLECTOR = ("fault-proxy", "toxiproxy"), ("otel-collector", "otelcol")
"""A service, and how the name of the program begins that runs in its place on the process backend."""


@dataclass(frozen=True)
class Key:
    """One KEY."""

    name: str
    kind: Kind
    file: str
    """Of the run directory."""
    pointer: str
    """JSON pointer in that file: where the value stands, or the object that has its parts."""
    meaning: str
    take: Callable[[Json], Json] = lambda value: value
    """From what stands at the pointer to the value."""
    is_revision: bool = False
    """The value is a label and a digest of what it names."""
    is_as_needed: bool = False
    """It is there only where a selected case needs it: a run without it had no use for it, which is no difference."""

    def value(self, documents: Documents) -> Json:
        """The value in a run; None: the run does not record it, or has none."""
        value = documents[self.file]
        for step in self.pointer.split("/")[1:]:
            value = value.get(step) if isinstance(value, dict) else None
        return None if value is None else self.take(value)


def _condition(name: str, kind: Kind, meaning: str) -> Key:
    return Key(name, kind, evidence.ENVIRONMENT, f"/conditions/{name}", meaning)


def _revision(name: str, kind: Kind, meaning: str) -> Key:
    def take(conditions: Json) -> Json:
        parts = {part.lower(): conditions.get(f"{name}{part}") for part in ("Revision", "Digest")}
        return parts if parts["digest"] is not None else None

    return Key(name, kind, evidence.ENVIRONMENT, "/conditions", meaning, take, is_revision=True)


def _conditions(kind: Kind, name: str, meaning: str, *parts: str) -> Key:
    def take(conditions: Json) -> Json:
        return {part: conditions[part] for part in parts if conditions.get(part) is not None} or None

    return Key(name, kind, evidence.ENVIRONMENT, "/conditions", meaning, take)


def _made_of(name: str, kind: Kind, meaning: str, take: Callable[[Json], Json], *, is_as_needed: bool = False) -> Key:
    """Of images, programs, code and locks, which stand in several places of the manifest."""
    return Key(name, kind, evidence.ENVIRONMENT, "", meaning, take, is_as_needed=is_as_needed)


def _planned(name: str, meaning: str, *, pointer: str | None = None) -> Key:
    return Key(name, "context", evidence.PLAN, pointer or f"/{name}", meaning)


def _images(manifest: Json, is_meant: Callable[[str], bool]) -> dict[str, Json]:
    """Content by name of an image: two builds of equal content are no difference, whatever their ids."""
    return {
        name: image.get("contentDigest") or image["digest"]
        for name, image in manifest.get("images", {}).items()
        if is_meant(name)
    }


def _programs(manifest: Json, is_meant: Callable[[str], bool]) -> dict[str, Json]:
    programs = manifest["dependencies"].get("programs", {})
    return {name: program["digest"] for name, program in programs.items() if is_meant(name)}


def _is_agents_image(name: str) -> bool:
    return name not in _SERVICES and not _is_base_image(name)


def _is_base_image(name: str) -> bool:
    return name == _BASE or name.startswith(f"{_BASE}:")


def _agent_image(manifest: Json) -> Json:
    others = (_PROXY[1], _COLLECTOR[1])
    return _images(manifest, _is_agents_image) | _programs(manifest, lambda name: not name.startswith(others)) or None


def _base_image(manifest: Json) -> Json:
    return _images(manifest, _is_base_image) or None


def _service(service: str, program: str) -> Callable[[Json], Json]:
    def take(manifest: Json) -> Json:
        found = _images(manifest, lambda name: name == service)
        return found | _programs(manifest, lambda name: name.startswith(program)) or None

    return take


def _code(service: str, *parts: str) -> Callable[[Json], Json]:
    """The image that ran, and the parts of the checkout that are in it."""

    def take(manifest: Json) -> Json:
        code = manifest["dependencies"].get("labCode", {})
        image = {f"image {name}": digest for name, digest in _images(manifest, lambda name: name == service).items()}
        return image | {part: code[part] for part in parts if part in code} or None

    return take


def _agent_lock(manifest: Json) -> Json:
    locks = manifest["dependencies"].get("lockFiles", {})
    return {name: digest for name, digest in locks.items() if name.startswith(SUITE_LOCKS)} or None


def _lab_lock(manifest: Json) -> Json:
    dependencies = manifest["dependencies"]
    locks = dependencies.get("lockFiles", {})
    own = {name: digest for name, digest in locks.items() if not name.startswith(SUITE_LOCKS)}
    return own | dependencies.get("packages", {}) or None


def _host(host: Json) -> Json:
    return {name: value for name, value in host.items() if name not in {"engine", "compose"}}


def _engine(host: Json) -> Json:
    return {name: host[name] for name in ("engine", "compose") if name in host} or None


def _times(manifest: Json) -> Json:
    return {name: manifest[name] for name in ("startedAt", "finishedAt")}


def _limits(plan: Json) -> Json:
    timeout = plan.get("suiteTimeoutSeconds")
    return plan["conditions"]["limits"] | ({} if timeout is None else {"suiteTimeoutSeconds": timeout})


KEYS: tuple[Key, ...] = (
    _condition("agent", "subject", "the agent's name"),
    _condition("agentDigest", "subject", "its declaration and the files that it is made of"),
    _condition("adapter", "subject", "how it is run"),
    _condition("provider", "subject", "whose model it asks"),
    _condition("model", "subject", "the model's name"),
    _condition("modelDigest", "subject", "the rules of a scripted model, or an agent file's definition of its models"),
    _revision("prompt", "subject", "the prompt: its name and its text"),
    _revision("policy", "subject", "the policy: its revision and its text"),
    _revision("toolSchema", "subject", "the tools that the agent is offered"),
    _condition("temperature", "subject", "the model's temperature"),
    _condition("maxOutputTokens", "subject", "the longest reply that is asked for"),
    _made_of(
        "agentImage", "subject", "images and programs that the agent runs in, services of the suite", _agent_image
    ),
    _made_of("baseImage", "subject", "images that containers of attempts are made from", _base_image),
    _condition(
        "agentEnv", "subject", "variables that reach the agent: names, and digests of values that are not secret"
    ),
    _made_of("agentLock", "subject", "the suite's `lock_files`", _agent_lock),
    Key("source", "subject", evidence.ENVIRONMENT, "/source", "commit of the repository that holds the suite"),
    _revision("dataset", "drift", "routes and state"),
    _condition("clock", "drift", "the instant that the fixture API says"),
    _condition("clockReach", "drift", "whether the agent's own clock says it too"),
    _condition("timezone", "drift", "TZ of the agent"),
    _condition("locale", "drift", "LANG of the agent"),
    _condition("seed", "drift", "EVAL_SEED of the agent"),
    _condition("profiles", "drift", "profiles that were on"),
    Key(
        "faultPlan",
        "drift",
        evidence.ENVIRONMENT,
        "/conditions/faultPlanDigest",
        "the faults that were planned, where the fault profile is on",
    ),
    _condition("backend", "drift", "Compose or processes"),
    _condition("isolation", "drift", "one container for all attempts, or one for each"),
    Key("limits", "drift", evidence.PLAN, "", "bounds of attempts and of the suite", _limits),
    _condition("tools", "drift", "served by the lab, or live"),
    _condition("egress", "drift", "whether the network was open"),
    _condition("setupRoot", "drift", "whether setup ran as root"),
    _condition("noSetup", "drift", "whether setup was skipped"),
    _made_of("fixtureCode", "drift", "the fixture API", _code("fixture-api", "fixture_api", "contracts")),
    _made_of(
        "runnerCode",
        "drift",
        "runner and agent host",
        _code("eval-runner", "runner", "agent_host", "ledger", "providers", "contracts"),
    ),
    _made_of("proxyImage", "drift", "the fault proxy, of runs that started one", _service(*_PROXY), is_as_needed=True),
    _made_of("collectorImage", "drift", "the trace collector", _service(*_COLLECTOR)),
    _made_of("labLock", "drift", "the lab's own lock files and the versions of its packages", _lab_lock),
    _conditions(
        "drift",
        "judge",
        "who judges relevance, and how it is asked",
        *("judgeModel", "judgePromptDigest", "judgeVotes", "judgeSettings"),
    ),
    Key("host", "context", evidence.ENVIRONMENT, "/host", "the machine", _host),
    Key("engine", "context", evidence.ENVIRONMENT, "/host", "the container engine and Compose", _engine),
    _planned("labctl", "the version of labctl"),
    _planned("command", "the command line"),
    Key("times", "context", evidence.ENVIRONMENT, "", "when the run was made", _times),
    _planned("paths", "the suite as it was named", pointer="/suite"),
    _planned("runId", "the run's name"),
    _planned("concurrency", "attempts side by side"),
    Key("repeat", "context", evidence.PLAN, "/repeat", "how often each case was attempted"),
    _planned("capture", "what was kept of bodies"),
)
"""In the order in which differences are told."""

DRIFT_KEYS = tuple(key.name for key in KEYS if key.kind == "drift")
"""What `--allow-drift` takes."""
