"""labctl doctor: every environment problem at once, each with its next step."""

from __future__ import annotations

from pathlib import Path

import click

from driver.cli.output import say
from driver.cli.paths import AnyPath


@click.command(name="doctor")
@click.option("--evidence", type=AnyPath(), default=Path("evidence"), show_default=True, help="Evidence folder.")
def command(evidence: Path) -> int:
    """Look at everything a run needs; exit 4 when something is wrong."""
    from driver.doctor import examine  # noqa: PLC0415 - `--help` imports no work

    status = 0
    for finding in examine(evidence):
        say(f"{'ok     ' if finding.error is None else 'problem'}  {finding.name}: {finding.text}")
        if finding.error is not None:
            status = 4
            for line in str(finding.error).splitlines()[1:]:
                say(f"         {line}")
    return status
