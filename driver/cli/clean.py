"""labctl clean: removes what dead runs left behind, on the engine and on the disk."""

from __future__ import annotations

import click

from driver.cli.discretion import tell
from driver.cli.output import say


@click.command(name="clean")
@click.option("--kept", is_flag=True, help="Also what --keep-containers left running.")
def command(*, kept: bool) -> int:
    """Remove what runs left whose driver is gone; what a live run owns is left alone."""
    from contracts.errors import ErrorCode, LabError  # noqa: PLC0415 - `--help` imports no work
    from driver.backends import require_engine  # noqa: PLC0415 - as above
    from driver.cleaning import clean_disk, clean_engine  # noqa: PLC0415 - as above

    cleaned = [clean_disk()]
    try:
        require_engine()
        cleaned.append(clean_engine(kept=kept))
    except LabError as error:
        if error.code is not ErrorCode.NO_ENGINE:
            raise
        tell(f"labctl: no engine was cleaned: {error.message}")
    removed = [line for part in cleaned for line in part.removed]
    for line in removed:
        say(f"removed {line}")
    for run in sorted({run for part in cleaned for run in part.spared_runs}):
        tell(f"left alone: {run} is live")
    for name in sorted({name for part in cleaned for name in part.unseen}):
        tell(f"left alone: {name} is of another PID namespace or machine, so it may be live; next: labctl clean there")
    for run in sorted({run for part in cleaned for run in part.kept_runs}):
        tell(f"left alone: {run} kept its containers; next: labctl clean --kept")
    if not removed:
        tell("nothing to remove")
    return 0
