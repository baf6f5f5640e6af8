"""`python bound_program.py PARENT PROGRAM ARGUMENT…` becomes that program, which ends when the process PARENT does.

For programs that are not the lab's own and so do not end with their standard input. It runs by its path, before
anything of the checkout can be imported. What the program prints goes to standard error, as its log.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1
_GONE = 1


def main(argv: list[str]) -> None:
    """Never returns where all goes well."""
    parent, program = int(argv[0]), argv[1:]
    if sys.platform == "linux":
        # it outlives the change of the program, but not the thread that started this process: the driver's main one
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit(_GONE)
    os.dup2(2, 1)
    os.execv(program[0], program)  # noqa: S606 - no shell is wanted


if __name__ == "__main__":
    main(sys.argv[1:])
