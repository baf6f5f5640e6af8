"""The process backend's two interpreters, started before their work is known, so that all load at the same time.

This module imports no records: what it saves is the time that loading them takes.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack

from driver.checkout import ROOT
from driver.stacks.children import Child, child_env, ended

_FIXTURE_GRACE_S = 1.0
_RUNNER_GRACE_S = 3.0


class Standby:
    """Both wait for the first line of their stdin, and end with it: the fixture API's settings, the runner's order."""

    def __init__(self) -> None:
        with ExitStack() as started:
            self.fixture = _start(started, "fixture-api", ["fixture_api", "stdin"], grace_s=_FIXTURE_GRACE_S)
            self.runner = _start(started, "eval-runner", ["runner", "attempts"], grace_s=_RUNNER_GRACE_S)
            self._started = started.pop_all()

    def close(self) -> None:
        """End both, whether they were given work or not; a second time does nothing."""
        self._started.close()


def _start(stack: ExitStack, service: str, module: list[str], *, grace_s: float) -> Child:
    child = Child.start(service, [sys.executable, "-m", *module], cwd=ROOT, env=child_env())
    return stack.enter_context(ended(child, grace_s=grace_s))
