"""labctl compare: which behaviour changed between two sealed runs."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import click

from driver.cli.gate_options import ALLOW_DRIFT, ALLOW_REMOVED, TOLERANCE
from driver.cli.output import say
from driver.cli.paths import AnyPath


@click.command(name="compare")
@click.argument("baseline", type=AnyPath())
@click.argument("candidate", type=AnyPath())
@TOLERANCE
@ALLOW_DRIFT
@ALLOW_REMOVED
@click.option(
    "--format",
    "format_name",
    type=click.Choice(["table", "json", "markdown"]),
    default="table",
    show_default=True,
    help="markdown fits a job summary.",
)
@click.option("--output", type=AnyPath(), metavar="FILE", help="Write there instead of to stdout.")
def command(  # noqa: PLR0913 - the flags
    baseline: Path,
    candidate: Path,
    *,
    regression_tolerance: str | None,
    allow_drift: tuple[str, ...],
    allow_removed: bool,
    format_name: str,
    output: Path | None,
) -> int:
    """Compare BASELINE with CANDIDATE: run directories, archives of them, or latest:JOB.

    Exit 0: no regression; 1: a regression; 3: cannot tell, or not comparable.
    """
    gc.disable()  # nothing of a comparison has cycles, and looking for them would take a tenth of the time
    from comparison.compare import compare  # noqa: PLC0415 - `--help` imports no work
    from comparison.formats import text_of  # noqa: PLC0415 - as above
    from driver.allowances import NO_TOLERANCE, allowance_of  # noqa: PLC0415 - as above
    from driver.output_file import require_output, write_output  # noqa: PLC0415 - as above
    from driver.screen import screen_of_stdout  # noqa: PLC0415 - as above
    from driver.two_runs import verified_sides  # noqa: PLC0415 - as above
    from ledger.screen_text import PLAIN_SCREEN  # noqa: PLC0415 - as above

    allowance = allowance_of(
        NO_TOLERANCE if regression_tolerance is None else regression_tolerance, drift=allow_drift, removed=allow_removed
    )
    if output is not None:
        require_output(output, inputs=(baseline, candidate))
    with verified_sides(baseline, candidate) as sides:
        found = compare(*sides, allowance=allowance)
    if output is None:
        say(text_of(found, format_name, screen=screen_of_stdout(os.environ)).removesuffix("\n"))
    else:
        write_output(output, text_of(found, format_name, screen=PLAIN_SCREEN))
    return int(found.verdict.exit_code)
