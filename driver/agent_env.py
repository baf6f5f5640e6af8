"""Which variables reach the agent, which of their values are secret, and how they are recorded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from contracts.canonical import digest_of_bytes
from contracts.errors import ErrorCode, Found, LabError
from contracts.json_text import is_unicode
from contracts.lab_variables import LAB_VARIABLES
from driver.secret_values import looks_secret

PROVIDER_KEYS = (
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GOOGLE_API_KEY",
    "GEMINI_API_KEY",
    "MISTRAL_API_KEY",
    "XAI_API_KEY",
    "NEBIUS_API_KEY",
    "OPENROUTER_API_KEY",
    "BASETEN_API_KEY",
    "OVH_AI_ENDPOINTS_ACCESS_TOKEN",
    "GROQ_API_KEY",
    "FIREWORKS_API_KEY",
    "DEEPSEEK_API_KEY",
    "CEREBRAS_API_KEY",
    "TOGETHER_API_KEY",
    "MOONSHOT_API_KEY",
    "AZURE_API_KEY",
    "NVIDIA_API_KEY",
    "MINIMAX_API_KEY",
    "AI_GATEWAY_API_KEY",
    "REQUESTY_API_KEY",
    "ATLASCLOUD_API_KEY",
    "OPENCODE_API_KEY",
    "CLOUDFLARE_API_KEY",
    "CLOUDFLARE_API_TOKEN",
    "CLOUDFLARE_ACCOUNT_ID",
    "CLOUDFLARE_GATEWAY_ID",
    "HF_TOKEN",
)
"""Forwarded when the host has them; nothing else of the host's environment is, unless -e names it.

Every key that `driver.agent_models.KEYS` and `contracts.model_endpoint.PROVIDERS` ask for, but for what opens more than
a model: GITHUB_TOKEN, GH_TOKEN and the sets of a cloud account.
"""


MODELS_GATEWAY = "DOCKER_AGENT_MODELS_GATEWAY"
"""Where docker-agent sends its model requests; forwarded to such an agent when the host has it."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class AgentEnv:
    """Variables by name; `secret` names the ones whose values may reach no file."""

    values: Mapping[str, str]
    secret: frozenset[str]

    @property
    def secrets(self) -> dict[str, str]:
        """Secret values by name."""
        return {name: value for name, value in self.values.items() if name in self.secret}

    def recorded(self) -> dict[str, str]:
        """What the manifest says: a digest, or the word `secret`."""
        return {
            name: "secret" if name in self.secret else digest_of_bytes(value.encode())
            for name, value in sorted(self.values.items())
        }


def resolve_agent_env(
    named: Iterable[str], *, host: Mapping[str, str], secret: Iterable[str], not_secret: Iterable[str]
) -> AgentEnv:
    """The environment for agents from `-e` arguments and the host's provider keys.

    An explicit `KEY=VALUE` wins over the host's, wherever it stands, and is kept whole. A value is secret where
    `secret` names it, or where it looks so (`driver.secret_values`) and `not_secret` does not name it.

    Raises:
        LabError: UNSET_VARIABLE for all `KEY` without a value anywhere; BAD_USAGE for a name that no shell could set,
            for one that the lab keeps for itself, and for a value that is not UTF-8.

    """
    named = tuple(named)
    _refuse_lab_variables(named)
    values = {key: host[key] for key in PROVIDER_KEYS if host.get(key)}
    explicit, unset, unusable = set(), [], []
    for argument in named:
        key, given, value = argument.partition("=")
        if not _NAME.fullmatch(key) or "\0" in argument:
            unusable.append(key)
        elif given:
            values[key] = value
            explicit.add(key)
        elif key in explicit:
            pass  # it wins, wherever it stands
        elif key in host:
            values[key] = host[key]
        else:
            unset.append(key)
    if unusable:
        raise LabError(
            ErrorCode.BAD_USAGE,
            "-e needs KEY or KEY=VALUE, and KEY is letters, digits and underscores",
            found=[Found(repr(key), place="-e") for key in unusable],  # what follows the = may be a secret
        )
    _refuse_what_is_no_utf8(values)
    if unset:
        raise LabError(
            ErrorCode.UNSET_VARIABLE,
            f"-e names {', '.join(unset)}, which {'has' if len(unset) == 1 else 'have'} no value in this environment",
            expected="-e KEY=VALUE, or KEY set in the environment of labctl",
            next_step=f"export {unset[0]}=… or write -e {unset[0]}=…",
        )
    seen = {key for key, value in values.items() if key in PROVIDER_KEYS or looks_secret(key, value)}
    return AgentEnv(values=values, secret=frozenset(values) & ((seen - frozenset(not_secret)) | frozenset(secret)))


def _refuse_what_is_no_utf8(values: Mapping[str, str]) -> None:
    """No agent on another machine could be given such a value, and no evidence be searched for it."""
    if unusable := [key for key, value in values.items() if not is_unicode(value)]:
        raise LabError(
            ErrorCode.BAD_USAGE,
            f"the value of {', '.join(unusable)} is not UTF-8",
            found=[Found("its value is not UTF-8", place=key) for key in unusable],
            expected="values in UTF-8, of -e and of the provider keys in the environment of labctl",
        )


def _refuse_lab_variables(named: Iterable[str]) -> None:
    taken = [key for key in map(name_of, named) if key in LAB_VARIABLES]
    if taken:
        raise LabError(
            ErrorCode.BAD_USAGE,
            f"-e names {', '.join(taken)}, which the lab sets itself",
            found=[Found("the lab's own value would win", place=f"-e {key}") for key in taken],
            expected=f"any name but {', '.join(LAB_VARIABLES)}",
            next_step="leave it out; clock, timezone, locale and seed are keys of suite.toml",
        )


def name_of(argument: str) -> str:
    """The KEY of a `KEY` or `KEY=VALUE`."""
    return argument.partition("=")[0]


def without_values(arguments: Iterable[str]) -> tuple[str, ...]:
    """A command line for the record: the values of -e and --env are taken out."""
    shown: list[str] = []
    names_env = False
    for argument in arguments:
        if names_env:
            shown.append(name_of(argument))
        elif argument.startswith("--env="):
            shown.append("--env=" + name_of(argument.removeprefix("--env=")))
        elif argument.startswith("-e") and argument != "-e" and not argument.startswith("--"):
            shown.append("-e" + name_of(argument.removeprefix("-e")))
        else:
            shown.append(argument)
        names_env = argument in {"-e", "--env"}
    return tuple(shown)
