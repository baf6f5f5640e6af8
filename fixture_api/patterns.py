"""Regular expressions of scripted models, in linear time (RE2): no agent's text can hang the world of the others."""

from __future__ import annotations

from typing import Any, NamedTuple


class Pattern(NamedTuple):
    """A compiled expression."""

    written: str
    compiled: Any

    def is_found_in(self, text: str) -> bool:
        """Whether it is found anywhere in the text."""
        return self.compiled.search(text) is not None


def compile_pattern(written: str) -> Pattern:
    """The expression, compiled; raises ValueError for one that RE2 refuses. A suite without any never loads RE2."""
    import re2  # noqa: PLC0415 - see above

    options = re2.Options()
    options.log_errors = False
    try:
        return Pattern(written, re2.compile(written, options))
    except re2.error as error:
        raise ValueError(f"when.text {written!r} is no regular expression (RE2): {error}") from error
