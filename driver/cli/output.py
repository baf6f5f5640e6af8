"""Standard output for results: a reader that went away changes no exit status, a result that was lost does."""

from __future__ import annotations

import os
import sys

import click

from driver.cli.discretion import tell

WRITE_FAILED = 5
"""`contracts.exits.Exit.EVIDENCE`, which no command has to load for this."""


_lost: list[str] = []
"""What stdout did not take, for another reason than that its reader went away."""


def say(text: object) -> None:
    """Print a result; where stdout takes no more, say so and what was lost on stderr, and go on."""
    if _lost:
        _tell_lost(str(text))
        return
    try:
        _echo(str(text))
    except OSError as error:
        if not isinstance(error, BrokenPipeError):
            tell(f"labctl: write-failed: stdout cannot be written: {error.strerror}")
            _tell_lost(str(text))
        # nothing more can be said there, nor may the interpreter's last flush fail
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _tell_lost(text: str) -> None:
    _lost.append(text)
    tell(f"labctl: lost on stdout: {text}")


def status_of(status: int) -> int:
    """The exit status of a command: a yes that nobody could be told is none, whoever reads it must find out."""
    return WRITE_FAILED if _lost and status == 0 else status


def _echo(text: str) -> None:
    """Print it, with escapes for what the encoding of stdout does not have."""
    try:
        click.echo(text)
    except UnicodeEncodeError as error:
        click.echo(text.encode(error.encoding, "backslashreplace").decode(error.encoding))


def open_missing_streams() -> None:
    """Give the process a stdout and a stderr where it was started without one; nothing is lost yet."""
    _lost.clear()
    for name, descriptor in (("stdout", 1), ("stderr", 2)):
        if getattr(sys, name) is None:
            handle = os.open(os.devnull, os.O_WRONLY)
            if handle != descriptor:
                os.dup2(handle, descriptor)
                os.close(handle)
            setattr(sys, name, open(descriptor, "w", closefd=False))  # noqa: SIM115 - it is a descriptor, for good
