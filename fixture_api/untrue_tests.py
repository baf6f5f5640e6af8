"""Why a `test` of a route's effects is not true: because of what the request says, or of the suite alone."""

from __future__ import annotations

from contracts.control import RequestMiss
from contracts.record import Json
from fixture_api.pointers import PointerError, resolve, split
from fixture_api.templates import TESTED, Context, Template, told_by_request


def miss_of_test(
    template: Template | None, *, planned: str, path: str, context: Context, state: Json
) -> RequestMiss | None:
    """What of the request makes a value of the state another one than the test's; None: nothing does, or none is there.

    `planned` is the operation's path as the suite has it, `path` with the request's parameters in it.
    """
    try:
        resolve(state, split(path))
    except PointerError:
        return None
    told = told_by_request(template, context) if template is not None else None
    if told is not None:
        return (
            told if told.expected == TESTED else told.model_copy(update={"expected": f"what the state has at {path}"})
        )
    return RequestMiss(part="path", name=path, expected=TESTED) if path != planned else None
