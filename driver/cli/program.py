"""The program `labctl`: until it can take signals in order, an interrupt ends it without a word."""

from __future__ import annotations

import signal


def main() -> None:
    """Run the command line; nothing was started yet that an interrupt while it is loaded could leave behind."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from driver.cli.main import main as command_line  # noqa: PLC0415 - a tenth of a second, in which signals may come

    command_line()


if __name__ == "__main__":
    main()
