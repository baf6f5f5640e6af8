"""A comparison as a file or a screen takes it: table, json or markdown."""

from __future__ import annotations

from collections.abc import Callable

from comparison.markdown import markdown_text
from comparison.table import table_text
from contracts.comparison import Comparison
from ledger.record_file import record_file
from ledger.screen_text import Screen


def json_text(comparison: Comparison) -> str:
    """comparison.json: equal comparisons give equal bytes."""
    return record_file(comparison).decode()


def text_of(comparison: Comparison, format_name: str, *, screen: Screen) -> str:
    """The text of a format, with its line end; raises KeyError for an unknown one."""
    formats: dict[str, Callable[[], str]] = {
        "table": lambda: table_text(comparison, screen=screen),
        "json": lambda: json_text(comparison),
        "markdown": lambda: markdown_text(comparison),
    }
    return formats[format_name]()
