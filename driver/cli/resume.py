"""labctl resume: the rest of a run that was killed or interrupted, and its seal."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import click

from driver.cli.command_line import recorded_command
from driver.cli.discretion import put
from driver.cli.ending import load_ending
from driver.interrupts import Interrupted


@click.command(name="resume")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("-e", "--env", metavar="KEY[=VALUE]", multiple=True, help="A value that the run had: it is on no disk.")
@click.option("--env-from-file", type=click.Path(path_type=Path), metavar="FILE", help="KEY=VALUE lines, likewise.")
def command(run: Path, *, env: tuple[str, ...], env_from_file: Path | None) -> int:
    """Finish the unsealed RUN from its own suite/ and agent/, then seal it; the last line of stdout is its path.

    Finished attempts are kept and never made again. Exits as `labctl run` would have; 3 where RUN is live, was made by
    hand, or would go on with another agent, image or labctl: nothing is written then.
    """
    try:
        return _gone_on(run, env=env, env_from_file=env_from_file)
    except Interrupted as error:
        from driver.abort import tell_what_is_left  # noqa: PLC0415 - as below

        tell_what_is_left(error, run)
        raise


def _gone_on(run: Path, *, env: tuple[str, ...], env_from_file: Path | None) -> int:
    from driver.backends import stack_of  # noqa: PLC0415 - `--help` imports no work
    from driver.progress import progress_line  # noqa: PLC0415 - as above
    from driver.rerun import Anew  # noqa: PLC0415 - as above
    from driver.resume import resume  # noqa: PLC0415 - as above

    anew = Anew(
        command=recorded_command(),
        evidence=run.parent,
        env=env,
        env_from_file=env_from_file,
        host_env=os.environ,
    )
    with ExitStack() as started, ThreadPoolExecutor(1, "ending") as ahead, progress_line() as progress:
        ending = ahead.submit(load_ending)
        outcome = resume(
            run,
            anew=anew,
            stack_of=lambda backend, images: stack_of(backend, images, started=started),
            progress=progress.begin,
            tell=lambda text: put(f"labctl: {text}"),
        )
    return ending.result()(outcome)
