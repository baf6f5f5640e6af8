"""What becomes of a run when the stack that carried it cannot be taken down: finished attempts are not lost for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TypeVar

from contracts.errors import LabError

Running = TypeVar("Running")


@contextmanager
def taken_down(
    running: AbstractContextManager[Running], *, is_finished: Callable[[], bool], tell: Callable[[str], None]
) -> Iterator[Running]:
    """The running stack. An error of its teardown is told where the attempts were finished by then, else raised.

    Errors of what happens within are always raised.
    """
    was_finished = False
    try:
        with running as runner:
            yield runner
            was_finished = is_finished()
    except Exception as error:
        if not was_finished:
            raise
        # whatever it is: the evidence is whole, and a person is told
        tell(f"the attempts are finished, but the stack could not be taken down: {_told(error)}; next: labctl clean")


def _told(error: BaseException) -> str:
    if not isinstance(error, LabError):
        return f"{type(error).__name__}: {error}"
    found = ", ".join(str(one) for one in error.found)
    return ": ".join(part for part in (error.message, found, error.cause) if part)
