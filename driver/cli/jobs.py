"""labctl jobs: the named profile combinations of a suite, for people and for a CI matrix."""

from __future__ import annotations

import json
from pathlib import Path

import click

from contracts.errors import one_line
from driver.cli.discretion import tell
from driver.cli.output import say
from driver.cli.paths import AnyPath


@click.command(name="jobs")
@click.argument("suite", default="fixtures", type=AnyPath())
@click.option(
    "--json", "as_json", is_flag=True, help='One line for a CI matrix: {"include": [{"job": NAME, "profiles": […]}]}.'
)
def command(suite: Path, *, as_json: bool) -> int:
    """List the jobs that SUITE (default: fixtures) declares; `labctl run --job NAME` runs one."""
    from contracts.suite.loading import load_suite  # noqa: PLC0415 - `--help` imports no work

    jobs = {name: list(job.profiles) for name, job in load_suite(suite).settings.jobs.items()}
    if as_json:
        include = [{"job": name, "profiles": profiles} for name, profiles in jobs.items()]
        say(json.dumps({"include": include}, ensure_ascii=False))
        return 0
    width = max(map(len, jobs), default=0)
    for name, profiles in jobs.items():
        say(one_line(f"{name:<{width}}  {', '.join(profiles) or 'no profile'}"))
    if not jobs:
        tell(f"labctl: {suite} declares no [jobs.NAME]")
    return 0
