"""What the user lets pass: the tolerance of the rates and the KEYs of drift, as they were typed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from comparison.keys import DRIFT_KEYS, KEYS
from comparison.sides import Allowance
from contracts.errors import ErrorCode, Found, LabError
from contracts.suite.problems import nearest
from driver.refusals import Refusals

NO_TOLERANCE = "0"
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,6})?")


def allowance_of(tolerance: str, *, drift: Sequence[str], removed: bool) -> Allowance:
    """The flags as one value.

    Raises:
        LabError: BAD_TOLERANCE, UNKNOWN_DRIFT; both at once where both are wrong.

    """
    flags = Refusals()
    number = flags.value_of(lambda: tolerance_of(tolerance))
    keys = flags.value_of(lambda: _drift_keys(drift))
    if number is None or keys is None:
        raise flags.as_one()
    return Allowance(tolerance=number, drift=keys, removed=removed)


def tolerance_of(text: str) -> Decimal:
    """The tolerance exactly as it was typed, from 0 to 1; raises LabError BAD_TOLERANCE.

    A number that a reader of comparison.json would not get back is refused too: 1e-400 would be read as 0.
    """
    if not _NUMBER.fullmatch(text):
        raise _bad_tolerance(text, "is no number")
    number = abs(Decimal(text)) if Decimal(text) == 0 else Decimal(text)  # -0 is 0
    if not 0 <= number <= 1:
        raise _bad_tolerance(text, "is not from 0 to 1")
    if Decimal(repr(float(number))) != number:
        raise _bad_tolerance(text, "has more digits than can be recorded")
    return number


def _bad_tolerance(text: str, why: str) -> LabError:
    return LabError(
        ErrorCode.BAD_TOLERANCE,
        f"the tolerance {text!r} {why}",
        found=[Found(repr(text), place="--regression-tolerance")],
        expected="a decimal from 0 to 1, such as 0.05: by how much a rate may get worse",
    )


def _drift_keys(given: Sequence[str]) -> frozenset[str]:
    unknown = [key for key in given if key not in DRIFT_KEYS]
    if not unknown:
        return frozenset(given)
    raise LabError(
        ErrorCode.UNKNOWN_DRIFT,
        f"--allow-drift does not know {', '.join(unknown)}",
        found=[Found(_what_it_is(key), place="--allow-drift") for key in unknown],
        expected=f"one of: {', '.join(DRIFT_KEYS)}",
    )


def _what_it_is(key: str) -> str:
    other = next((one for one in KEYS if one.name == key), None)
    if other is not None:
        return f'"{key}" is {other.kind}: it is named and stops nothing'
    near = nearest(key, list(DRIFT_KEYS))
    return f'"{key}" is no KEY' + (f'; did you mean "{near}"?' if near else "")
