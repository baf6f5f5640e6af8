"""Gathers what is wrong with independent flags, so that a person hears all of it at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from contracts.errors import Found, LabError

T = TypeVar("T")


class Refusals:
    """The errors of several decisions, of which none needs another one's value."""

    def __init__(self) -> None:
        self._errors: list[LabError] = []

    def value_of(self, decide: Callable[[], T]) -> T | None:
        """What was decided, or None after a refusal, which is remembered."""
        try:
            return decide()
        except LabError as error:
            self._errors.append(error)
            return None

    @property
    def any(self) -> bool:
        """Whether something was refused."""
        return bool(self._errors)

    def as_one(self) -> LabError:
        """The only refusal, or one that names all; its code and next step are the first one's."""
        first, *others = self._errors
        if not others:
            return first
        return LabError(
            first.code,
            f"{first.message} (and {len(others)} more: see `found`)",
            found=[
                *first.found,
                *(Found(f"{error.code.code}: {error.message}") for error in others),
                *(found for error in others for found in error.found),
            ],
            expected=first.expected,
            next_step=first.next_step,
        )
