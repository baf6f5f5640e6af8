"""labctl show: a run's summary, one trajectory, or its manifest."""

from __future__ import annotations

import os
from pathlib import Path

import click

from driver.cli.discretion import tell
from driver.cli.output import say
from driver.cli.paths import AnyPath


@click.command(name="show")
@click.argument("run", type=AnyPath())
@click.option("--case", "case_id", metavar="ID", help="One case: its trajectory and checks.")
@click.option("--timeline", is_flag=True, help="With --case: its spans, of a run with --profile observe.")
@click.option("--manifest", is_flag=True, help="The flat manifest: of the case with --case, else of the run.")
def command(run: Path, *, case_id: str | None, timeline: bool, manifest: bool) -> int:
    """Show RUN. An unsealed run is shown too, and said to be unsealed."""
    from driver import show  # noqa: PLC0415 - `--help` imports no work
    from driver.screen import screen_of_stdout  # noqa: PLC0415 - as above

    if timeline and (manifest or not case_id):
        raise click.UsageError("--timeline goes with --case ID, and not with --manifest")
    if timeline and case_id:
        from driver.timeline import timeline_text  # noqa: PLC0415 - as above

        say(timeline_text(run, case_id=case_id, screen=screen_of_stdout(os.environ)))
    elif manifest:
        if note := show.note_of(run):
            tell(note)
        say(show.manifest_text(run, case_id=case_id))
    elif case_id:
        say(show.case_text(run, case_id=case_id, screen=screen_of_stdout(os.environ)))
    else:
        say(show.summary_text(run, screen=screen_of_stdout(os.environ)))
    return 0
