"""Reads a docker-agent agent file: what it is made of, or everything that is wrong with it at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from contracts.canonical import digest_of_json
from contracts.errors import ErrorCode, Found, LabError
from contracts.record import Json
from contracts.suite.links import leads_inside
from driver.yaml_values import NoYamlError, read_yaml

_MOST_BYTES = 1 << 20
_MAPPINGS = ("models", "providers", "mcps")
_KINDS: dict[type, str] = {str: "text", list: "a list", dict: "a mapping"}
_OF_AN_AGENT: dict[str, type] = {"instruction": str, "model": str, "toolsets": list}


@dataclass(frozen=True)
class AgentFile:
    """An agent file that can be used."""

    path: Path
    text: str
    document: Mapping[str, Json]

    @property
    def agents(self) -> Mapping[str, Mapping[str, Json]]:
        """The agents by name, in the order of the file."""
        agents: Mapping[str, Mapping[str, Json]] = self.document["agents"]
        return agents

    @property
    def models(self) -> Mapping[str, Mapping[str, Json]]:
        """The named models."""
        return self.document.get("models") or {}

    @property
    def providers(self) -> Mapping[str, Mapping[str, Json]]:
        """The providers that the file defines."""
        return self.document.get("providers") or {}

    def main(self, args: tuple[str, ...]) -> str:
        """The agent that runs: the one that docker-agent's `--agent` names, else `root`, else the first."""
        for option, value in zip(args, (*args[1:], ""), strict=False):
            if option in {"-a", "--agent"} and value in self.agents:
                return value
            if option.startswith("--agent=") and option.removeprefix("--agent=") in self.agents:
                return option.removeprefix("--agent=")
        return "root" if "root" in self.agents else next(iter(self.agents))

    @property
    def instruction_digest(self) -> str:
        """Over what every agent is told."""
        return digest_of_json({name: agent.get("instruction") for name, agent in self.agents.items()})

    @property
    def models_digest(self) -> str:
        """Over the agents' models and everything that says what these are."""
        named = {name: agent.get("model") for name, agent in self.agents.items()}
        return digest_of_json({"agents": named, "models": self.models, "providers": self.providers})

    @property
    def toolsets_digest(self) -> str:
        """Over the agents' toolsets and the servers that they name."""
        given = {name: agent.get("toolsets") for name, agent in self.agents.items()}
        return digest_of_json({"agents": given, "mcps": self.document.get("mcps")})


def read_agent_file(path: Path, *, shown: str, place: str) -> AgentFile:
    """The agent file at the path.

    Args:
        path: where it is.
        shown: how the user named it.
        place: the flag or key that names it.

    Raises:
        LabError: AGENT_FILE_INVALID, naming every problem with file and key.

    """
    if why := _refusal(path):
        raise unusable_file(shown, why, place=place)
    try:
        text = path.read_bytes().decode("utf-8")
        document = read_yaml(text)
    except UnicodeDecodeError as error:
        raise _invalid(shown, [Found(f"byte {error.start} is not UTF-8", shown)]) from error
    except NoYamlError as error:
        raise _invalid(shown, [Found(error.what, shown, error.where)]) from error
    if problems := [Found(text, shown, key) for key, text in _problems(document)]:
        raise _invalid(shown, problems)
    return AgentFile(path=path, text=text, document=document)


def unusable_file(shown: str, why: str, *, place: str) -> LabError:
    """The error for an agent file that cannot be used as a whole."""
    return _invalid(shown, [Found(why, shown, place)])


def _invalid(shown: str, found: list[Found]) -> LabError:
    return LabError(
        ErrorCode.AGENT_FILE_INVALID,
        f"the agent file {shown} cannot be used",
        found=found,
        expected="a docker-agent file: YAML with at least one agent below `agents`",
    )


def _refusal(path: Path) -> str | None:
    if path.is_symlink() and not leads_inside(path, path.parent):
        return "is a link that leads out of its folder, or nowhere"
    if not path.is_file():
        return "is a folder, expected a file" if path.is_dir() else "is not there"
    if path.stat().st_size > _MOST_BYTES:
        return f"has more than {_MOST_BYTES} bytes"
    return None


def _problems(document: Json) -> Iterator[tuple[str | None, str]]:
    """Key and text of each."""
    if not isinstance(document, dict):
        yield None, "holds no mapping"
        return
    for key in _MAPPINGS:
        value = document.get(key)
        if value is not None and not isinstance(value, dict):
            yield key, "is no mapping"
        elif value:
            yield from ((f"{key}.{name}", "is no mapping") for name, one in value.items() if not isinstance(one, dict))
    agents = document.get("agents")
    if not isinstance(agents, dict) or not agents:
        yield "agents", "is no mapping" if agents else "there are no agents"
        return
    for name, agent in agents.items():
        yield from _problems_of_agent(f"agents.{name}", agent)


def _problems_of_agent(place: str, agent: Json) -> Iterator[tuple[str, str]]:
    if not isinstance(agent, dict):
        yield place, "is no mapping"
        return
    for key, kind in _OF_AN_AGENT.items():
        value = agent.get(key)
        if value is not None and not isinstance(value, kind):
            yield f"{place}.{key}", f"is not {_KINDS[kind]}"
