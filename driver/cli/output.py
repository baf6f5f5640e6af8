"""Standard output for results: a reader that went away never changes what the exit status says."""

from __future__ import annotations

import os
import sys

import click

from driver.cli.discretion import tell


def say(text: object) -> None:
    """Print a result; where stdout takes no more, say so on stderr once and go on."""
    try:
        _echo(str(text))
    except OSError as error:
        if not isinstance(error, BrokenPipeError):
            tell(f"labctl: warning: stdout cannot be written: {error.strerror}; it would have said: {text}")
        # nothing more can be said there, nor may the interpreter's last flush fail
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _echo(text: str) -> None:
    """Print it, with escapes for what the encoding of stdout does not have."""
    try:
        click.echo(text)
    except UnicodeEncodeError as error:
        click.echo(text.encode(error.encoding, "backslashreplace").decode(error.encoding))


def open_missing_streams() -> None:
    """Give the process a stdout and a stderr where it was started without one."""
    for name, descriptor in (("stdout", 1), ("stderr", 2)):
        if getattr(sys, name) is None:
            handle = os.open(os.devnull, os.O_WRONLY)
            if handle != descriptor:
                os.dup2(handle, descriptor)
                os.close(handle)
            setattr(sys, name, open(descriptor, "w", closefd=False))  # noqa: SIM115 - it is a descriptor, for good
