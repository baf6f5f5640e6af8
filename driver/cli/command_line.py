"""The command line as evidence keeps it: without values of variables, and refused where no file could hold it."""

from __future__ import annotations

import sys


def recorded_command() -> tuple[str, ...]:
    """The command line of this process for the record; raises LabError BAD_USAGE for what is not UTF-8."""
    from contracts.errors import ErrorCode, Found, LabError  # noqa: PLC0415 - `--help` imports no work
    from contracts.json_text import is_unicode  # noqa: PLC0415 - as above
    from driver.agent_env import without_values  # noqa: PLC0415 - as above

    command = ("labctl", *without_values(sys.argv[1:]))
    if unusable := [argument for argument in command if not is_unicode(argument)]:
        raise LabError(
            ErrorCode.BAD_USAGE,
            f"{unusable[0]!r} is not UTF-8",
            found=[Found(repr(argument), place="command line") for argument in unusable],
            expected="names in UTF-8: the command line is recorded, and evidence holds nothing else",
        )
    return command
