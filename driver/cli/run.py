"""labctl run: a suite, once, into a sealed run directory."""

from __future__ import annotations

import gc
import math
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal

import click

from driver.cli.command_line import recorded_command
from driver.cli.discretion import put, tell
from driver.cli.ending import load_ending
from driver.cli.gate_options import ALLOW_DRIFT, ALLOW_REMOVED, TOLERANCE
from driver.cli.paths import AnyPath, path_problem


def _filled(context: click.Context, parameter: click.Parameter, value: Any) -> Any:  # noqa: ARG001 - click's signature
    """An empty name is most often an unset variable of a script; a default would run something else than was meant."""
    if value == "":
        raise click.BadParameter("is empty")
    return value


def _path(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """What may be a path: empty is most often an unset variable, see `_filled`."""
    value = _filled(context, parameter, value)
    if value is not None and (problem := path_problem(value)):
        raise click.BadParameter(problem)
    return value


def _finite(context: click.Context, parameter: click.Parameter, value: float | None) -> float | None:  # noqa: ARG001
    if value is not None and not math.isfinite(value):
        raise click.BadParameter("is no number of seconds; 0 means no limit")
    return value


@click.command(name="run")
@click.argument("suite", required=False, type=AnyPath())
@click.option(
    "--agent",
    metavar="NAME|FILE|REF",
    callback=_path,
    help="An agent of the suite, a docker-agent file (SUITE is then evals/ beside it) or a registry reference; "
    "default: the suite's default_agent.",
)
@click.option("--model", metavar="PROVIDER/MODEL", callback=_filled, help="Override the agent's model.")
@click.option("--prompt", metavar="NAME", callback=_filled, help="Override the agent's prompt.")
@click.option(
    "--case",
    "case_ids",
    metavar="ID",
    multiple=True,
    help="Run this case; exact id; repeatable; with --only: both must hold.",
)
@click.option(
    "--only",
    metavar="PATTERN",
    multiple=True,
    help="Run matching cases: comma list, case-insensitive; a glob when it has * ? [, else a substring.",
)
@click.option(
    "--repeat",
    type=click.IntRange(1, 1000),
    default=1,
    show_default=True,
    metavar="N",
    help="Attempt each case N times; it passes when all of them do.",
)
@click.option(
    "-c",
    "--concurrency",
    type=click.IntRange(1, 256),
    default=lambda: len(os.sched_getaffinity(0)),
    show_default="CPUs",
    help="Attempts side by side.",
)
@click.option("--seed", type=click.IntRange(0, 2**53 - 1), help="Seed for the agent; default: the suite's.")
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(0, 1e7),
    callback=_finite,
    metavar="SECONDS",
    help="Per attempt, over [limits]; 0: none.",
)
@click.option(
    "--suite-timeout",
    "suite_timeout_s",
    type=click.FloatRange(0, 1e7, min_open=True),
    callback=_finite,
    metavar="SECONDS",
    help="For the whole suite, from its first attempt on; default: none.",
)
@click.option(
    "--profile",
    "profiles",
    metavar="NAME",
    multiple=True,
    callback=lambda context, parameter, names: tuple(_filled(context, parameter, name) for name in names),
    help="observe: write a trace; else a profile that compose_files of the suite declare; repeatable.",
)
@click.option(
    "--job", metavar="NAME", callback=_filled, help="A named combination of profiles; `labctl jobs` lists them."
)
@click.option(
    "--backend",
    type=click.Choice(["auto", "compose", "process"]),
    default="auto",
    show_default=True,
    help="auto: Compose where a usable engine answers, else processes.",
)
@click.option(
    "--isolation",
    type=click.Choice(["shared", "container"]),
    help="One container for all attempts, or one for each; default: container for a docker-agent agent, or when a "
    "selected case has setup, working_dir or image.",
)
@click.option("--base-image", metavar="IMAGE", callback=_filled, help="What the containers of attempts are made from.")
@click.option("--setup-root", is_flag=True, help="Run each case's setup as root with a writable root; agents never.")
@click.option("--no-setup", is_flag=True, help="Skip each case's setup; recorded as drift.")
@click.option("--egress", is_flag=True, help="Let what talks to the model out of the closed network.")
@click.option("--keep-containers", is_flag=True, help="Leave the containers of attempts running, to look into them.")
@click.option(
    "--container-runtime",
    metavar="EXE",
    callback=_filled,
    help="A program like docker, on the same engine, for the containers of attempts.",
)
@click.option(
    "--evidence",
    "--output",
    default="evidence",
    show_default=True,
    callback=lambda context, parameter, value: Path(_path(context, parameter, value) or ""),
    metavar="DIR",
    help="Folder for run directories.",
)
@click.option("--run-id", metavar="ID", help="Name of the run directory; default: from time and chance.")
@click.option(
    "--capture",
    type=click.Choice(["metadata", "payloads"]),
    default="metadata",
    show_default=True,
    help="payloads keeps bodies and texts: review before sharing.",
)
@click.option(
    "-e",
    "--env",
    metavar="KEY[=VALUE]",
    multiple=True,
    help="A variable for the agent; what looks secret is in no file. Known provider keys of the host reach it unasked.",
)
@click.option(
    "--env-from-file",
    type=AnyPath(),
    metavar="FILE",
    help="KEY=VALUE lines: values for the judge, the provider keys and -e KEY; names nothing by itself.",
)
@click.option(
    "--judge-model", metavar="PROVIDER/MODEL", callback=_filled, help="Who judges relevance; over the suite's."
)
@click.option(
    "--judge-votes",
    type=click.IntRange(1, 25),
    default=1,
    show_default=True,
    metavar="N",
    help="Verdicts on each statement; they must agree, else it is unknown.",
)
@click.option(
    "--baseline",
    type=AnyPath(),
    metavar="RUN",
    help="Compare with this sealed run before sealing; the exit status is then the comparison's.",
)
@TOLERANCE
@ALLOW_DRIFT
@ALLOW_REMOVED
@click.option("--not-secret", metavar="KEY", multiple=True, help="The value of this -e variable may be recorded.")
def command(*, backend: Literal["auto", "compose", "process"], **flags: Any) -> int:
    """Run SUITE (default: fixtures) once; the last line of stdout is the run directory."""
    from driver.backends import choose_stack  # noqa: PLC0415 - `--help` imports no work

    gc.disable()  # nothing dies while modules load: looking for it would take a tenth of a second
    with ExitStack() as started, ThreadPoolExecutor(1, "backend") as ahead:
        choice = ahead.submit(choose_stack, backend, started=started)  # its processes work while this one imports
        from driver.agent_names import default_suite  # noqa: PLC0415 - as above
        from driver.pipeline import run_suite  # noqa: PLC0415 - as above
        from driver.progress import progress_line  # noqa: PLC0415 - as above
        from driver.request import RunRequest  # noqa: PLC0415 - as above

        flags["suite"] = flags["suite"] or default_suite(flags["agent"])
        request = RunRequest(command=recorded_command(), **flags)
        stack, why = choice.result()
        gc.enable()
        if why:
            tell(f"labctl: {why}")
        if request.capture == "payloads":
            _warn("SHARING: review before sharing: --capture payloads keeps bodies and texts")
        ending = ahead.submit(load_ending)
        with progress_line() as progress:
            outcome = run_suite(request, stack=stack, host_env=os.environ, progress=progress.begin, warn=_warn)
    return ending.result()(outcome)


def _warn(text: str) -> None:
    put(f"labctl: warning: {text}")  # the pipeline, which knows every secret, has redacted it
