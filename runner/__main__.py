"""`python -m runner attempts` for the driver, `python -m runner hand` (also without a word) for a person."""

from __future__ import annotations

import gc
import sys

USAGE = "usage: python -m runner [attempts | hand [--help]]\n"


def main(argv: list[str]) -> int:
    """The exit status of the command."""
    gc.disable()  # nothing dies while modules load: looking for it would take a tenth of a second
    command, *rest = argv or ["hand"]
    if command == "attempts" and not rest:
        from runner.serving import serve  # noqa: PLC0415 - each command imports its own work

        return serve()
    if command == "hand":
        from runner.hand import run_by_hand  # noqa: PLC0415

        return run_by_hand(rest)
    sys.stderr.write(USAGE)
    return 2


def _main() -> int:
    try:
        return main(sys.argv[1:])
    except Exception:  # noqa: BLE001 - the one place where a bug becomes its exit status
        import traceback  # noqa: PLC0415

        traceback.print_exc()
        return 70


if __name__ == "__main__":
    sys.exit(_main())
