"""labctl cases: lists the cases of a suite, reports every problem of it at once, or makes one of sessions."""

from __future__ import annotations

import json
from pathlib import Path

import click

from contracts.errors import one_line
from driver.cli.discretion import tell
from driver.cli.output import say
from driver.cli.paths import AnyPath

_SUITE = click.argument("suite", default="fixtures", type=AnyPath())


class _SuiteOrSubcommand(click.Group):
    """`cases [SUITE]` lists; `cases lint [SUITE]` lints: a first word that is no subcommand is a suite."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not any(argument in self.commands or argument in ctx.help_option_names for argument in args):
            args = ["list", *args]
        return super().parse_args(ctx, args)


@click.group(name="cases", cls=_SuiteOrSubcommand)
def command() -> None:
    """List the cases of a suite, check it, or make one of docker-agent sessions.

    `labctl cases [SUITE]`, `labctl cases lint [SUITE]`, `labctl cases import DIR --to DIR`.
    """


@command.command(name="list")
@_SUITE
@click.option("--json", "as_json", is_flag=True, help="A JSON array, one object a case.")
def list_cases(suite: Path, *, as_json: bool) -> int:
    """List the cases in the order in which they run (also: `labctl cases [SUITE]`)."""
    from contracts.suite.loading import load_suite  # noqa: PLC0415 - `--help` imports no work

    loaded = load_suite(suite)
    rows = [
        {
            "id": case.id,
            "title": case.shown_title,
            "protected": case.protected,
            "tags": list(case.tags),
            "caseDigest": loaded.case_digests[case.id],
        }
        for case in loaded.cases
    ]
    if as_json:
        say(json.dumps(rows, indent=2, ensure_ascii=False))
        return 0
    width = max(len(case.id) for case in loaded.cases)
    for case in loaded.cases:
        mark = "protected" if case.protected else ""
        say(one_line(f"{case.id:<{width}}  {mark:<9}  {case.shown_title}"))  # sessions are other people's texts
    return 0


@command.command(name="lint")
@_SUITE
def lint(suite: Path) -> int:
    """Report every problem of a suite at once; exit 2 when there is one."""
    from contracts.suite.loading import load_suite  # noqa: PLC0415 - `--help` imports no work

    loaded = load_suite(suite)
    say(f"{suite}: {len(loaded.cases)} cases, {len(loaded.routes)} routes, {len(loaded.tools)} tools: no problem")
    return 0


@command.command(name="import")
@click.argument("sessions", metavar="DIR", type=AnyPath())
@click.option("--to", "target", metavar="DIR", required=True, type=AnyPath(), help="New or empty.")
def import_cases(sessions: Path, target: Path) -> int:
    """Make a suite of cases.json of a folder of docker-agent sessions; the last line of stdout is its folder."""
    from driver.session_import import import_sessions  # noqa: PLC0415 - `--help` imports no work

    imported = import_sessions(sessions, target)
    for name, case_id in imported.renamed:
        tell(f'labctl: the session "{one_line(name)}" is the case "{case_id}"')
    for line in imported.left_out:
        tell(f"labctl: left out: {one_line(line)}")
    tell(f"labctl: {imported.cases} cases; next: labctl cases lint {target}")
    say(target)
    return 0
