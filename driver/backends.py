"""Which backend a run gets: the one that was asked for, or Compose where a usable engine answers."""

from __future__ import annotations

import shutil
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Literal

from contracts.errors import ErrorCode, LabError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from contracts.plan import Backend, ImageIdentity
    from driver.ports import Stack  # the records behind it take a fifth of a second to load


def choose_stack(backend: Literal["auto", "compose", "process"], *, started: ExitStack) -> tuple[Stack, str | None]:
    """The stack, and for `auto` the sentence that says why it is not Compose; `started` ends what it began to start.

    Raises:
        LabError: NO_ENGINE when compose was asked for and no usable engine answers.

    """
    if backend == "process":
        return _process(started), None
    if backend == "auto" and shutil.which("docker") is None:
        return _process(started), "backend process: there is no `docker` command on PATH"
    from driver.stacks.compose import ComposeStack  # noqa: PLC0415 - costs 0.2 s, only where used
    from driver.stacks.engine import engine_facts  # noqa: PLC0415 - as above

    try:
        return ComposeStack(engine_facts()), None
    except LabError as error:
        if backend == "compose" or error.code is not ErrorCode.NO_ENGINE:
            raise
        return _process(started), f"backend process: {error.message}"


def stack_of(backend: Backend, images: Mapping[str, ImageIdentity], *, started: ExitStack) -> Stack:
    """The stack of a backend, on those of the images that are still here; raises LabError NO_ENGINE."""
    if backend == "process":
        return _process(started)
    from driver.stacks.compose import ComposeStack  # noqa: PLC0415 - costs 0.2 s, only where used
    from driver.stacks.engine import engine_facts  # noqa: PLC0415 - as above

    return ComposeStack(engine_facts(), recorded=images)


def _process(started: ExitStack) -> Stack:
    from driver.stacks.standby import Standby  # noqa: PLC0415 - the other backend may be the one

    standby = started.enter_context(closing(Standby()))
    from driver.stacks.process import ProcessStack  # noqa: PLC0415 - after the start, so that both load meanwhile

    return ProcessStack(standby)


def require_engine() -> None:
    """Raise LabError NO_ENGINE unless a usable engine answers, before anything that needs it is imported."""
    if shutil.which("docker") is None:
        raise LabError(
            ErrorCode.NO_ENGINE,
            "there is no `docker` command on PATH",
            next_step="install and start a Docker engine; `labctl run --backend process` works without",
        )
    from driver.stacks.engine import engine_facts  # noqa: PLC0415 - costs 0.2 s

    engine_facts()
