"""Seeded command lines of labctl over right and broken inputs, which stand below the working folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import NamedTuple

import click

from driver.cli.main import cli
from tests.fakes.generated_suites import break_tree
from tests.fakes.hostile_archives import write_archive
from tests.fakes.hostile_values import PATHS, WORDS
from tests.fakes.run_mutations import forge, mutate

_NOT_CALLED = {("images", "lock"), ("clean",)}
"""They ask registries, and touch what others started."""
_RUN = ["run", "suite", "--backend", "process", "--evidence", "evidence", "--timeout", "5", "--suite-timeout", "8"]
_OF_A_SUITE = (["cases"], ["cases", "--json"], ["cases", "lint"], ["cases", "list"], ["jobs"], ["jobs", "--json"])
_OF_A_RUN = (
    ["verify"],
    ["show"],
    ["show", "--manifest"],
    ["show", "--case", "approval"],
    ["show", "--case", "recovery", "--manifest"],
    ["show", "--case", "approval", "--timeline"],
    ["replay", "--case", "approval"],
    ["compare", "run2"],
    ["compare", "run2", "--format", "json"],
)
_SHARE_OF_RUNS = 0.02
_OTLP_LINES = (
    *("{}", "[]", "x", '{"resourceSpans": 1}', '{"resourceSpans": [1]}', '{"resourceSpans": [{"scopeSpans": [{}]}]}'),
    *('{"resourceSpans": [{"scopeSpans": [{"spans": [{}]}]}]}', '{"resourceSpans": [{"scopeSpans": {"spans": 1}}]}'),
)
_SPAN = {
    "spanId": "1",
    "name": "attempt",
    "startTimeUnixNano": "1",
    "endTimeUnixNano": "2",
    "attributes": [{"key": "lab.case.id", "value": {"stringValue": "approval"}}],
}
_ODD: tuple[object, ...] = (
    None,
    1,
    -1,
    "x",
    "",
    [],
    {},
    "9" * 5000,
    1e300,
    [{}],
    [{"key": 1}],
    [{"key": "a", "value": 1}],
    "-5",
    {"code": {}},
)


class Generated(NamedTuple):
    """What is called, and what was broken for it."""

    argv: list[str]
    told: str


def generate(world: Path, rng: Random) -> Generated:
    """A command line; `world` is the working folder, of `write_world` with run/ and run2/ beside, and is changed."""
    return rng.choices([one for one, _ in _KINDS], [weight for _, weight in _KINDS])[0](world, rng)


def _suite(world: Path, rng: Random) -> Generated:
    told = break_tree(world / "suite", rng, times=rng.randrange(1, 4))
    argv = [*_RUN] if rng.random() < _SHARE_OF_RUNS else [*rng.choice(_OF_A_SUITE), "suite"]
    return Generated(argv, "; ".join(told))


def _sessions(world: Path, rng: Random) -> Generated:
    told = break_tree(world / "sessions", rng, times=rng.randrange(1, 4))
    words = [*_OF_A_SUITE, ["cases", "import", "--to", "imported"], ["cases", "import", "--to", "imported"]]
    return Generated([*rng.choice(words), "sessions"], "; ".join(told))


def _agent(world: Path, rng: Random) -> Generated:
    folder = rng.choice([world / "evals", None, None])
    told = break_tree(folder, rng, times=1) if folder else _break_agent(world, rng)
    return Generated(["run", "--backend", "process", "--agent", "agent.yaml"], "; ".join(told))


def _break_agent(world: Path, rng: Random) -> list[str]:
    """Alone in a folder, for all else there is no agent's."""
    alone = world / "alone"
    alone.mkdir()
    (world / "agent.yaml").rename(alone / "agent.yaml")
    told = break_tree(alone, rng, times=rng.randrange(1, 4))
    for path in alone.iterdir():
        path.rename(world / path.name)
    alone.rmdir()
    return told


def _values(world: Path, rng: Random) -> Generated:
    folder = world / "values"
    folder.mkdir()
    (world / "values.env").rename(folder / "values.env")
    told = break_tree(folder, rng, times=1)
    file = next((path.relative_to(world).as_posix() for path in folder.iterdir()), "values/values.env")
    more = ["--env-from-file", file, "-e", rng.choice(["KEY", "OTHER", "NOWHERE", "A"]), "--case", "none"]
    return Generated([*_RUN, *more], "; ".join(told))


def _archive(world: Path, rng: Random) -> Generated:
    name = write_archive(world, world / "run", rng)
    return Generated([*rng.choice(_OF_A_RUN), name], name)


def _run(world: Path, rng: Random) -> Generated:
    if rng.random() < 0.2:
        _write_spans(world / "run", rng)
        return Generated(["show", "run", "--case", "approval", "--timeline"], "odd spans")
    told = rng.choice([mutate, forge, forge])(world / "run", rng).told
    return Generated([*rng.choice(_OF_A_RUN), "run"], told)


def _write_spans(run: Path, rng: Random) -> None:
    lines = []
    for _ in range(rng.randrange(1, 4)):
        span = {**_SPAN, rng.choice([*_SPAN, "parentSpanId", "status"]): rng.choice(_ODD)}
        right = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})
        lines.append(rng.choice([right, right, *_OTLP_LINES]))
    (run / "traces" / "otlp.jsonl").write_text("\n".join(lines) + rng.choice(["", "\n"]))


def _flags(world: Path, rng: Random) -> Generated:
    """Any command with any of its flags."""
    path, command = rng.choice(_commands())
    argv = list(path)
    for _ in range(rng.randrange(5)):
        argv += _option(command, rng)
    for parameter in command.params:
        if isinstance(parameter, click.Argument) and rng.random() < 0.9:
            argv += [_likely_path(rng) for _ in range(1 if parameter.nargs == 1 else rng.randrange(1, 3))]
    if path[0] in {"run", "replay"} and "--evidence" not in argv:
        argv += ["--evidence", "evidence"]
    if path == ("run",):  # it would run the suite, and take its time
        argv += ["--case", "none"]
    if rng.random() < 0.05:
        argv.insert(rng.randrange(len(argv)), rng.choice(WORDS))
    return Generated(argv, "flags")


def _likely_path(rng: Random) -> str:
    return rng.choice(["suite", "run", "run2", "sessions", rng.choice(PATHS), rng.choice(PATHS), rng.choice(WORDS)])


def _option(command: click.Command, rng: Random) -> list[str]:
    options = [one for one in command.params if isinstance(one, click.Option)]
    if not options:
        return []
    option = rng.choice(options)
    name = rng.choice(option.opts)
    if option.is_flag:
        return [name]
    takes_path = isinstance(option.type, click.Path) or option.name in {"evidence", "agent"}
    value = rng.choice(PATHS if takes_path and rng.random() < 0.7 else WORDS)
    return [f"{name}={value}"] if name.startswith("--") and rng.random() < 0.3 else [name, value]


def _commands() -> list[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(cli)
    found: list[tuple[tuple[str, ...], click.Command]] = []
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        found.append(((name,), command))
        if isinstance(command, click.Group):
            found += [((name, sub), one) for sub, one in command.commands.items()]
    return [(path, command) for path, command in found if path not in _NOT_CALLED]


_KINDS: tuple[tuple[Callable[[Path, Random], Generated], int], ...] = (
    (_suite, 35),
    (_sessions, 12),
    (_agent, 10),
    (_values, 4),
    (_archive, 14),
    (_run, 10),
    (_flags, 25),
)
