"""Regular expressions in linear time (RE2), which is imported when used."""

from __future__ import annotations


class UnusableError(Exception):
    """The suite's pattern or schema cannot be used; the text says why."""


def search(text: str, pattern: str) -> bool:
    """Whether RE2 finds the pattern in the text; raises UnusableError for a pattern that RE2 refuses."""
    import re2  # noqa: PLC0415 - most runs need none

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.search(pattern, text, options) is not None
    except re2.error as trouble:
        raise UnusableError(f"RE2 refuses the expression: {trouble}") from trouble
