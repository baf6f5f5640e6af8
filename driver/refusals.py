"""Gathers what is wrong with independent flags, so that a person hears all of it at once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TypeVar

from contracts.errors import ErrorCode, Found, LabError
from contracts.plan import OWN_PROFILES
from contracts.suite.problems import unknown_name

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
            if str(error) not in map(str, self._errors):  # one cause, met twice: a run compared with itself
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


def refuse_unknown_profiles(profiles: Iterable[str], *, known: Collection[str]) -> None:
    """Raise LabError UNKNOWN_PROFILE for profiles that neither the lab nor a compose file of the suite has."""
    known = {*known, *OWN_PROFILES}
    unknown = [profile for profile in profiles if profile not in known]
    if unknown:
        raise LabError(
            ErrorCode.UNKNOWN_PROFILE,
            unknown_name("profile", unknown[0], known),
            found=[Found(f'"{profile}"', place="--profile") for profile in unknown],
            expected=f"one of: {', '.join(sorted(known))}",
        )
