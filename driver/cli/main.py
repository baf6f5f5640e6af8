"""The entry point: finds a command without importing the others, and turns errors into exit codes in one place."""

from __future__ import annotations

import importlib
import sys

import click

from driver.at_once import be_deaf, end_now
from driver.cli.discretion import tell
from driver.cli.output import open_missing_streams, status_of
from driver.cli.pages import say_help, say_version, show_help
from driver.interrupts import Interrupted, listen, on_its_way

_COMMANDS = {
    "run": "Run a suite once; the last line of stdout is the run directory.",
    "replay": "Run one case of a run again from its own evidence: reproduced, diverged, or cannot tell.",
    "resume": "Finish a run that was killed or interrupted, from its own evidence, and seal it.",
    "compare": "Which behaviour changed between two sealed runs?",
    "verify": "Is a run sealed, whole, unchanged, and does results.json follow from the attempts?",
    "show": "Show a run's summary, one trajectory, or its manifest.",
    "cases": "List the cases of a suite; `cases lint` reports every problem of it at once.",
    "jobs": "The named profile combinations of a suite; --json feeds a CI matrix.",
    "images": "What would run, with digests.",
    "doctor": "Report every environment problem at once, each with its next step.",
    "clean": "Remove what dead runs left behind, never what a live run owns.",
}


class _LazyGroup(click.Group):
    """Imports a command's module when the command is called, so that `--help` stays quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(_COMMANDS)

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        option = super().get_help_option(ctx)
        if option is not None:
            option.callback = show_help
        return option

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"driver.cli.{cmd_name}").command
        say_help(command, ctx)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.command(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=say_version,
    help="Show the version and exit.",
)
@click.option("--debug", is_flag=True, help="Show a traceback for errors.")
def cli(debug: bool) -> None:
    """An evaluation lab for agents: a controlled world, sealed evidence, and an answer to what changed.

    Exit codes: 0 yes, 1 no, 2 usage, 3 cannot tell, 4 environment, 5 evidence, 70 bug, 130/143 interrupted.
    """


def main() -> None:
    """Run the command line; every error ends here, as text on stderr and one exit code."""
    open_missing_streams()
    listen()
    try:
        status = _status()
        be_deaf()
    except Interrupted as error:
        if error.rest:
            tell(error.rest)
        error.kept = error.next_step = None  # they are told; a second signal would say them again
        end_now(error.exit_code, reason=error.word)  # whatever the signal cut off, also in the teardown, ends there
    sys.exit(status)


def _status() -> int:
    """The exit status of the command, once it is over and all is said."""
    try:
        status = cli.main(prog_name="labctl", standalone_mode=False)
    except click.exceptions.Abort:
        return 130
    except click.exceptions.NoArgsIsHelpError as error:
        tell(error.format_message())
        return 2
    except click.UsageError as error:
        return _report(_usage_error(error), debug=False)
    except Exception as error:
        if interrupted := on_its_way():
            raise interrupted from error
        return _report(error, debug="--debug" in sys.argv[1:])
    return status_of(status if isinstance(status, int) else 0)


def _usage_error(error: click.UsageError) -> Exception:
    from contracts.errors import ErrorCode, LabError  # noqa: PLC0415 - not needed for --help

    command = error.ctx.command_path if error.ctx else "labctl"
    return LabError(ErrorCode.BAD_USAGE, error.format_message(), next_step=f"{command} --help")


def _report(error: Exception, *, debug: bool) -> int:
    from contracts.errors import ErrorCode, LabError  # noqa: PLC0415 - not needed for --help
    from contracts.machine_limits import limit_error  # noqa: PLC0415 - as above

    if debug:
        import traceback  # noqa: PLC0415 - only for --debug

        tell("".join(traceback.format_exception(error)).rstrip("\n"))
    if not isinstance(error, LabError):
        error = limit_error(error) or LabError(
            ErrorCode.BUG,
            f"{type(error).__name__}: {error}",
            next_step="run the command again as `labctl --debug …` and report the traceback",
        )
    tell(str(error))
    return int(error.exit_code)


if __name__ == "__main__":
    main()
