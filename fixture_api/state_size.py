"""How much the effects of an attempt add to its state, counted as if nothing in it were shared.

Values in a state are shared, so that a copy of all of it costs nothing to make; but whoever reads or writes it meets
every copy. Twenty doublings would be a million times as much to send, and would stop this process for everybody.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from contracts.record import Json
from fixture_api.pointers import PointerError, resolve, split

MAX_STATE_VALUES = 250_000
"""As many values more than a case starts with, objects and lists included, may come into the state of an attempt."""

MAX_STATE_BYTES = 32 * 1024 * 1024
"""As many bytes more: of texts and keys, in UTF-8."""


class StateTooLargeError(Exception):
    """An operation that would make the state larger than it may get."""

    def __init__(self) -> None:
        super().__init__(
            f"the state would grow by more than {MAX_STATE_VALUES} values or {MAX_STATE_BYTES // 1024 // 1024} MiB "
            "over what the case starts with"
        )


class Size(NamedTuple):
    """Of JSON values, each counted as often as it is met."""

    values: int = 0
    text_bytes: int = 0

    @property
    def is_too_large(self) -> bool:
        """More than an attempt may add."""
        return self.values > MAX_STATE_VALUES or self.text_bytes > MAX_STATE_BYTES


def grown(before: Size, operation: Mapping[str, Json], state: Json) -> Size:
    """What effects have added to the state after one more operation of JSON Patch, worked out before it is applied.

    Of an operation that leads nowhere it says nothing useful: it cannot apply.

    Raises:
        StateTooLargeError: it would be too much.

    """
    op, tokens = operation["op"], split(operation["path"])
    if op == "test":
        return before
    after = before
    parent = _at(state, tokens[:-1]) if tokens else None
    key_bytes = _bytes_of(tokens[-1]) if isinstance(parent, dict) else 0
    is_replaced = not tokens or (isinstance(parent, dict) and tokens[-1] in parent)
    if is_replaced or op in ("remove", "replace"):
        gone = size_of(_at(state, tokens))
        after = Size(after.values - gone.values, after.text_bytes - gone.text_bytes)
        key_bytes = -key_bytes if op == "remove" else 0
    after = after._replace(text_bytes=after.text_bytes + key_bytes)
    if op in ("remove", "move"):  # what a move takes away it puts back
        return after
    after = size_of(operation["value"] if "value" in operation else _at(state, split(operation["from"])), onto=after)
    if after.is_too_large:
        raise StateTooLargeError
    return after


def size_of(value: Json, *, onto: Size | None = None) -> Size:
    """The size of a value; `onto` what was counted before, counting ends as soon as that is too large. No recursion."""
    values, text_bytes = onto or Size()
    waiting: list[Json] = [value]
    while waiting:
        one = waiting.pop()
        values += 1
        if isinstance(one, str):
            text_bytes += _bytes_of(one)
        elif isinstance(one, dict):
            text_bytes += sum(map(_bytes_of, one))
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
        if onto is not None and (values > MAX_STATE_VALUES or text_bytes > MAX_STATE_BYTES):
            break
    return Size(values, text_bytes)


def _bytes_of(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _at(state: Json, tokens: tuple[str, ...]) -> Json:
    try:
        return resolve(state, tokens)
    except PointerError:
        return None
