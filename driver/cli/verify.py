"""labctl verify: is a run sealed, whole, unchanged, and does results.json follow from the attempts."""

from __future__ import annotations

from pathlib import Path

import click

from driver.cli.discretion import tell
from driver.cli.output import say
from driver.cli.paths import AnyPath


@click.command(name="verify")
@click.argument("runs", nargs=-1, required=True, type=AnyPath(), metavar="RUN…")
def command(runs: tuple[Path, ...]) -> int:
    """Verify each RUN; every problem of every run is named. Exit 5 when one is not what was sealed."""
    from contracts.errors import LabError  # noqa: PLC0415 - `--help` imports no work
    from driver.verify import verify_run  # noqa: PLC0415 - as above

    status = 0
    for run in runs:
        try:
            verified = verify_run(run)
        except LabError as error:
            tell(str(error))
            status = max(status, int(error.exit_code))
        else:
            say(f"{run}: sealed, whole and unchanged: {verified.files} files, {verified.cases} cases")
    return status
