"""labctl doctor: every environment problem at once, each with its next step; --self-test: can this lab be believed."""

from __future__ import annotations

from contextlib import ExitStack, closing
from pathlib import Path
from typing import Literal

import click

from driver.cli.discretion import put
from driver.cli.output import say
from driver.cli.paths import AnyPath

_WIDTH = 9


@click.command(name="doctor")
@click.option("--evidence", type=AnyPath(), default=Path("evidence"), show_default=True, help="Evidence folder.")
@click.option(
    "--self-test",
    is_flag=True,
    help="Run controls of known outcome instead: agents, a fault, tampered runs, a planted regression.",
)
@click.option(
    "--backend",
    type=click.Choice(["auto", "compose", "process"]),
    help="Where the self-test runs; default: auto, as `labctl run` has it.",
)
def command(*, evidence: Path, self_test: bool, backend: Literal["auto", "compose", "process"] | None) -> int:
    """Look at everything a run needs; exit 4 when something is wrong.

    With --self-test: exit 0 when this machine's lab can be believed, 1 when it said something untrue, 3 when it could
    not tell, 4 when it could not be started. Nothing is left, and no network is needed.
    """
    if self_test:
        _refuse_idle("evidence", "--evidence: the self-test keeps no evidence")
        return _self_test(backend or "auto")
    _refuse_idle("backend", "--backend is for --self-test")
    return _examine(evidence)


def _refuse_idle(name: str, text: str) -> None:
    given = click.get_current_context().get_parameter_source(name)
    if given is click.core.ParameterSource.COMMANDLINE:
        raise click.UsageError(text)


def _examine(evidence: Path) -> int:
    from driver.doctor import examine  # noqa: PLC0415 - `--help` imports no work

    status = 0
    for finding in examine(evidence):
        _tell("ok" if finding.error is None else "problem", finding.name, finding.text, error=finding.error)
        if finding.error is not None:
            status = 4
    return status


def _self_test(backend: Literal["auto", "compose", "process"]) -> int:
    from driver.backends import choose_stack  # noqa: PLC0415 - `--help` imports no work
    from driver.ports import Stack  # noqa: PLC0415 - as above
    from driver.progress import progress_line  # noqa: PLC0415 - as above
    from driver.self_test.controls import self_test  # noqa: PLC0415 - as above
    from driver.self_test.looked import verdict  # noqa: PLC0415 - as above

    told: set[str] = set()

    def tell_once(text: str) -> None:
        if text not in told:
            told.add(text)
            put(f"labctl: {text}")

    def stack_of(started: ExitStack) -> Stack:
        stack, why = choose_stack(backend, started=started)
        if why:
            tell_once(why)
        return stack

    looked = []
    with progress_line() as progress:
        controls = self_test(stack_of, progress=progress.begin, warn=lambda text: tell_once(f"warning: {text}"))
        with closing(controls):  # what it made goes with it, also when a signal comes between two controls
            for one in controls:
                looked.append(one)
                _tell(one.mark, one.name, one.text, error=one.error)
    status, sentence = verdict(looked)
    say(sentence)
    return int(status)


def _tell(mark: str, name: str, text: str, *, error: Exception | None) -> None:
    say(f"{mark:<{_WIDTH}}{name}: {text}")
    for line in str(error or "").splitlines()[1:]:
        say(" " * _WIDTH + line)
