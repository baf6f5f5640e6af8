"""labctl clean: removes what dead runs left behind on the engine."""

from __future__ import annotations

import click


@click.command(name="clean")
def command() -> int:
    """Remove containers and networks of runs whose driver is gone; what a live run owns is left alone."""
    from driver.backends import require_engine  # noqa: PLC0415 - `--help` imports no work

    require_engine()
    from driver.cleaning import clean  # noqa: PLC0415 - as above

    cleaned = clean()
    for thing in cleaned.removed:
        click.echo(f"removed {thing.kind} {thing.name} of {thing.run}")
    for run in sorted({thing.run for thing in cleaned.spared}):
        click.echo(f"left alone: {run} is live", err=True)
    if not cleaned.removed:
        click.echo("nothing to remove", err=True)
    return 0
