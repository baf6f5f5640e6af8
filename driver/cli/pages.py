"""Help pages and the version: results like any other, so a stdout that does not take them is told and is no yes."""

from __future__ import annotations

from typing import Any

import click

from driver.cli.output import say
from driver.version import VERSION


def say_help(command: click.Command, context: click.Context) -> None:
    """From now on the command, and each one below it, says its help page as results are said."""
    option = command.get_help_option(context)
    if option is not None:
        option.callback = show_help
    for below in getattr(command, "commands", {}).values():
        say_help(below, context)


def show_help(context: click.Context, parameter: click.Parameter, value: Any) -> None:  # noqa: ARG001 - click's signature
    """The callback of --help."""
    if value and not context.resilient_parsing:
        say(context.get_help())
        context.exit()


def say_version(context: click.Context, parameter: click.Parameter, value: Any) -> None:  # noqa: ARG001 - as above
    """The callback of --version."""
    if value and not context.resilient_parsing:
        say(f"labctl, version {VERSION}")
        context.exit()
