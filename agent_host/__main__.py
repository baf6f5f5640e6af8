"""agent_host as a program: one runner is served over stdin and stdout, or over one TCP connection."""

import argparse
import gc
import os
import signal
import socket
import sys
from pathlib import Path
from typing import NoReturn

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # started by its path, with nothing else to import from

from agent_host.agent_host import LEAVING, Host
from agent_host.door import admitted
from agent_host.given_folder import copy_given


def main() -> NoReturn:
    """Serve one runner, as the command line says."""
    options = _options()
    # the first process of a container gets no signal from inside that it has no handler for: an agent cannot end it,
    # and with it all others; from outside there is SIGKILL, and the runner that leaves
    leaving = {} if os.getpid() == 1 else LEAVING
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGPIPE}:
        signal.signal(number, leaving.get(number, signal.SIG_DFL))  # the default is what an agent inherits
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.makedirs(options.work, exist_ok=True)  # noqa: PTH103 - as everything below it
    trouble = copy_given(*options.given) if options.given else ""
    source, sink = 0, 1
    if options.listen is not None:
        with socket.create_server((options.host, options.listen)) as listener:
            source = admitted(listener, token_sha256=options.token_sha256)
        sink = os.dup(source)
    for descriptor in (source, sink):
        os.set_blocking(descriptor, False)
    gc.freeze()  # else a collection in a warden copies the memory that it shares with the host
    try:
        work = os.path.abspath(options.work)  # noqa: PTH100 - a text is needed
        Host(source=source, sink=sink, work=work, trouble=trouble).run()
    except SystemExit as leaving:
        while options.stay and not leaving.code:
            signal.pause()
        raise


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="agent_host", description=__doc__)
    way = parser.add_mutually_exclusive_group(required=True)
    way.add_argument("--stdio", action="store_true", help="serve the runner on stdin and stdout")
    way.add_argument("--listen", type=int, metavar="PORT", help="serve one connection to this port")
    parser.add_argument("--host", default="", help="address to listen on; default: all")
    parser.add_argument("--token-sha256", metavar="HEX", help="of that connection's first line; default: any will do")
    parser.add_argument("--stay", action="store_true", help="do not exit when the runner leaves")
    parser.add_argument("--given", nargs=2, metavar=("FROM", "TO"), help="copy what is in FROM to TO first")
    parser.add_argument("--work", required=True, help="where the work directories of attempts are made")
    return parser.parse_args()


if __name__ == "__main__":
    main()
