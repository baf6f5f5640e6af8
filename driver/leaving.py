"""What becomes of a run when the stack that carried it cannot be taken down: finished attempts are not lost for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TypeVar

from contracts.errors import LabError

Running = TypeVar("Running")


@contextmanager
def taken_down(running: AbstractContextManager[Running], *, tell: Callable[[str], None]) -> Iterator[Running]:
    """The running stack. Errors of its teardown are told, errors of what happens within are raised.

    Whatever took the stack away, every attempt that it carried has its line by then, or will be counted as not run.
    """
    was_carried_out = False
    try:
        with running as runner:
            yield runner
            was_carried_out = True
    except Exception as error:
        if not was_carried_out:
            raise
        # whatever it is: the evidence is whole, and a person is told
        tell(f"the attempts are over, but the stack could not be taken down: {_told(error)}; next: labctl clean")


def _told(error: BaseException) -> str:
    if not isinstance(error, LabError):
        return f"{type(error).__name__}: {error}"
    found = ", ".join(str(one) for one in error.found)
    return ": ".join(part for part in (error.message, found, error.cause) if part)
