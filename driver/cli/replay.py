"""labctl replay: one case of a sealed run again, under its recorded conditions."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from driver.cli.command_line import recorded_command
from driver.cli.discretion import put
from driver.cli.output import say
from driver.cli.paths import AnyPath

if TYPE_CHECKING:
    from collections.abc import Iterator

    from driver.replay import Replayed


@click.command(name="replay")
@click.argument("run", type=AnyPath())
@click.option("--case", "case_id", metavar="ID", required=True, help="The case; exact id.")
@click.option("-e", "--env", metavar="KEY[=VALUE]", multiple=True, help="A value that the run had: it is on no disk.")
@click.option("--env-from-file", type=AnyPath(), metavar="FILE", help="KEY=VALUE lines, likewise.")
@click.option(
    "--evidence",
    "--output",
    default="evidence",
    show_default=True,
    type=AnyPath(),
    metavar="DIR",
    help="Folder for the new run directory.",
)
@click.option("--run-id", metavar="ID", help="Name of the new run directory; default: from time and chance.")
def command(  # noqa: PLR0913 - the flags
    run: Path,
    case_id: str,
    *,
    env: tuple[str, ...],
    env_from_file: Path | None,
    evidence: Path,
    run_id: str | None,
) -> int:
    """Run a case of RUN again from RUN's own suite/ and agent/; the last line of stdout is the new run directory.

    RUN is a run directory, an archive of one, or latest:JOB. Exit 0: reproduced, a failure too; 1: diverged; 3: cannot
    tell.
    """
    from driver.backends import stack_of  # noqa: PLC0415 - `--help` imports no work
    from driver.progress import progress_line  # noqa: PLC0415 - as above
    from driver.replay import replay  # noqa: PLC0415 - as above
    from driver.rerun import Anew  # noqa: PLC0415 - as above

    anew = Anew(
        command=recorded_command(),
        evidence=evidence,
        run_id=run_id,
        env=env,
        env_from_file=env_from_file,
        host_env=os.environ,
    )
    with ExitStack() as started, progress_line() as progress:
        replayed = replay(
            run,
            case_id,
            anew=anew,
            stack_of=lambda backend, images: stack_of(backend, images, started=started),
            progress=progress.begin,
            warn=lambda text: put(f"labctl: warning: {text}"),
        )
    for line in _lines(replayed, run=run, case_id=case_id):
        say(line)
    say(replayed.path)
    return int(replayed.reproduction.exit_code)


def _lines(replayed: Replayed, *, run: Path, case_id: str) -> Iterator[str]:
    from comparison.case_text import case_head, case_lines  # noqa: PLC0415 - `--help` imports no work
    from comparison.difference_text import difference_line  # noqa: PLC0415 - as above

    for name in replayed.unset:
        yield f"not restored: the value of {name}; next: -e {name}"
    for difference in replayed.not_restored:
        yield f"not restored: {difference_line(difference)}"
    for change in replayed.changed_since:
        yield f"changed since, and not used: {change}"
    if replayed.change is not None:
        yield case_head(replayed.change)
        yield from (f"  {line}" for line in case_lines(replayed.change))
    yield f"{replayed.reproduction.word}: {case_id} of {run}: {replayed.outcome.value}"
