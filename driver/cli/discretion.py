"""Standard error: what labctl tells a person, without any value that this process was given as a secret."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import click

from driver.standard_error import bearing_stderr

if TYPE_CHECKING:
    from ledger.redaction import Redactor

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)


def tell(text: object) -> None:
    """Print a line on stderr; errors and tracebacks quote what was given, so they are redacted as evidence is."""
    put(_redactor().redact_text(str(text)))


def put(text: str) -> None:
    """Print a line on stderr that was redacted already; where stderr takes nothing, nobody is told."""
    click.echo(text, file=bearing_stderr())


@cache
def _redactor() -> Redactor:
    from ledger.redaction import Redactor  # noqa: PLC0415 - a command that says nothing does not need it

    return Redactor(secrets_of(sys.argv[1:], os.environ)).writing("stderr", may_be_cut=True)


def secrets_of(arguments: Sequence[str], environ: Mapping[str, str]) -> dict[str, str]:
    """Secrets by name on a command line and in an environment, read before anybody has checked them.

    Those of -e (also where the flag was forgotten), of the file that --env-from-file names where it can be read, and
    of labctl's own environment; without those that --not-secret names.
    """
    from contracts.json_text import is_unicode  # noqa: PLC0415 - as above
    from driver.agent_env import PROVIDER_KEYS  # noqa: PLC0415 - as above
    from driver.secret_values import held_secrets, looks_secret  # noqa: PLC0415 - as above

    found = held_secrets(environ) | {key: environ[key] for key in PROVIDER_KEYS if key in environ}
    for name, value in [*_of_file(arguments, environ), *_given(arguments, environ)]:
        if looks_secret(name, value):
            found[f"{name}:{len(found)}" if found.get(name, value) != value else name] = value
    public = set(_values_of(arguments, "--not-secret"))
    return {name: value for name, value in found.items() if name not in public and is_unicode(value)}


def _given(arguments: Sequence[str], environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for argument in [*_values_of(arguments, "--env", short="-e"), *arguments]:
        if match := _ASSIGNMENT.fullmatch(argument):
            yield match[1], match[2]
        elif argument in environ and argument in _values_of(arguments, "--env", short="-e"):
            yield argument, environ[argument]


def _of_file(arguments: Sequence[str], environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    from contracts.errors import LabError  # noqa: PLC0415 - as above
    from driver.env_file import read_env_values  # noqa: PLC0415 - as above

    for path in _values_of(arguments, "--env-from-file"):
        try:
            yield from read_env_values(Path(path), host=environ).items()
        except (LabError, ValueError):
            continue  # the command itself says what is wrong with it, and quotes no value


def _values_of(arguments: Sequence[str], flag: str, *, short: str | None = None) -> list[str]:
    """What follows a flag, in each of the ways in which a command line may write it."""
    found = [after for before, after in pairwise(arguments) if before in {flag, short}]
    found += [one.removeprefix(f"{flag}=") for one in arguments if one.startswith(f"{flag}=")]
    if short:
        found += [one[2:] for one in arguments if one.startswith(short) and len(one) > len(short) and one[1] != "-"]
    return found
