"""The flags of a comparison, which `run` and `compare` share."""

from __future__ import annotations

import click

TOLERANCE = click.option(
    "--regression-tolerance",
    metavar="F",
    default=None,
    help="From 0 to 1: by how much a rate may get worse; a case that passed and fails now gates all the same.",
)
ALLOW_DRIFT = click.option(
    "--allow-drift",
    metavar="KEY",
    multiple=True,
    help="Compare although the world differs in KEY, such as profiles or limits; repeatable.",
)
ALLOW_REMOVED = click.option(
    "--allow-removed", is_flag=True, help="Cases that the candidate lacks do not gate, but for protected ones."
)
