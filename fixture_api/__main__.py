"""`python -m fixture_api [stdin]`: settings in, one ready line out, then both ports until it is told to stop.

The settings are environment variables. With `stdin`, its first line overrides them and its end ends the process.
"""

from __future__ import annotations

import gc
import os
import sys

# Start-up is mostly pydantic: looking for plugins, and building validators, of which most that FastAPI defines are for
# OpenAPI documents that are never made here. Deferred, each is built when it is first used. And nothing dies while
# modules load, so the collector would only look. Together 0.15 s of 0.7 s.
os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
gc.disable()

from pydantic import BaseModel  # noqa: E402 - after what it reads

BaseModel.model_config["defer_build"] = True

from contracts.errors import LabError  # noqa: E402
from contracts.suite.loading import load_suite  # noqa: E402
from fixture_api.attempts import Attempts  # noqa: E402
from fixture_api.control import make_control_app  # noqa: E402
from fixture_api.data_plane import DataPlane  # noqa: E402
from fixture_api.serving import bind, serve  # noqa: E402
from fixture_api.settings import clock_of, settings_from, variables_of_line  # noqa: E402
from fixture_api.world import compile_world  # noqa: E402


def main(argv: list[str]) -> int:
    """Serves until it is told to stop: 0; what cannot be served: the error's own exit code, its text on stderr."""
    with_stdin = argv == ["stdin"]
    try:
        settings = settings_from({**os.environ, **(variables_of_line(sys.stdin.fileno()) if with_stdin else {})})
        suite = load_suite(settings.dataset_path)
        attempts = Attempts(compile_world(suite, clock_of(settings, suite.settings)), settings.selection)
        data = bind(settings.fixture_host, settings.fixture_port)
        control = bind(settings.control_host, settings.control_port)
    except LabError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    gc.collect()
    gc.freeze()  # the suite lives as long as the process; looking at it again in each collection would only cost
    gc.enable()
    serve(
        data_app=DataPlane(attempts),
        data=data,
        control_app=make_control_app(attempts),
        control=control,
        patience=settings.patience,
        exit_with_stdin=with_stdin,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
