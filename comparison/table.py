"""The comparison as a person reads it on a screen (CONTRACT §8.8)."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from comparison.case_text import ARROW, case_head, case_lines
from comparison.difference_text import environment_lines
from comparison.metric_rows import COLUMNS, INFORMATIONAL, REGRESSED, MetricRow, metric_rows
from contracts.comparison import Comparison, Verdict
from ledger.screen_text import Screen, screen_text

MOST_CASES = 50
"""Of the changed cases that are explained."""
MOST_NAMED = 200
"""Of those that are named."""

_COLOURS = {"regressed": "31;1", "improved": "32", "unknown": "33", "removed": "33"}
_VERDICT_COLOURS = {Verdict.NO_REGRESSION: "32", Verdict.REGRESSION: "31;1", Verdict.CANNOT_TELL: "33"}
_GAP = 2
_OWN = (ARROW, INFORMATIONAL)
"""Characters of the table's own, which stay as they are off a terminal too."""


def table_text(comparison: Comparison, *, screen: Screen) -> str:
    """The whole text, with a line end: differences around the runs, metrics, changed cases, the verdict."""
    lines = [
        *_wrapped([f"{comparison.baseline} {ARROW} {comparison.candidate}, dataset {comparison.dataset}"], screen),
        *_wrapped(environment_lines(comparison), screen),
        "",
        *_metric_lines(list(metric_rows(comparison)), screen),
        "",
        *_statistic_lines(comparison, screen),
        *_case_lines(comparison, screen),
        *_verdict_lines(comparison, screen),
    ]
    return "\n".join(lines) + "\n"


def _metric_lines(rows: list[MetricRow], screen: Screen) -> Iterator[str]:
    cells = [("", *COLUMNS), *rows]
    widths = [max(len(row[column]) for row in cells) for column in range(5)]
    for row in cells:
        texts = [row[0].ljust(1), row[1].ljust(widths[1]), *(row[at].rjust(widths[at]) for at in (2, 3, 4))]
        line = f"{texts[0]} " + (" " * _GAP).join(texts[1:])
        yield _coloured(line.rstrip(), "31;1" if row[0] == REGRESSED else None, screen)


def _statistic_lines(comparison: Comparison, screen: Screen) -> Iterator[str]:
    lines = list(comparison.statistics.sentences) if comparison.statistics else []
    if comparison.repeats is not None:
        for name in ("baseline", "candidate"):
            means = getattr(comparison.repeats, name)
            if means is not None and means.pass_at_1 is not None:
                lines.append(
                    f"{name}: pass@1 {means.pass_at_1:.3f}, pass@{means.repeats} {means.pass_at_k:.3f}, "
                    f"pass^{means.repeats} {means.pass_hat_k:.3f}, {means.flaky} flaky"
                )
    if lines:
        yield from _wrapped(lines, screen)
        yield ""


def _case_lines(comparison: Comparison, screen: Screen) -> Iterator[str]:
    for change in comparison.cases[:MOST_NAMED]:
        mark = REGRESSED if change.kind == "regressed" else INFORMATIONAL if not change.gates else " "
        colour = _COLOURS.get(change.kind)
        for line in _wrapped([case_head(change)], screen, first=f"{mark} ", later="  "):
            yield _coloured(line, colour, screen)
        if change in comparison.cases[:MOST_CASES]:
            yield from _wrapped(case_lines(change), screen, first="    ", later="      ")
    more = max(0, len(comparison.cases) - MOST_NAMED) + comparison.left_out.get("cases", 0)
    if more:
        yield f"  and {more} more, in the JSON"
    if comparison.not_selected:
        yield f"  {len(comparison.not_selected)} cases are not selected on one side, and in no rate"
    if comparison.cases or comparison.not_selected:
        yield ""


def _verdict_lines(comparison: Comparison, screen: Screen) -> Iterator[str]:
    *_, code = comparison.verdict.value, int(comparison.verdict.exit_code)
    line = f"verdict: {comparison.verdict.value} ({code}): {'; '.join(comparison.reasons)}"
    yield _coloured(_on_screen(line, screen), _VERDICT_COLOURS[comparison.verdict], screen)


def _wrapped(lines: Iterable[str], screen: Screen, *, first: str = "", later: str = "  ") -> Iterator[str]:
    for line in lines:
        text = _on_screen(line, screen)
        indent = " " * (len(text) - len(text.lstrip(" ")))
        yield from textwrap.wrap(
            text.strip(" "),
            width=screen.width,
            initial_indent=first + indent,
            subsequent_indent=later + indent,
            break_on_hyphens=False,
        )


def _on_screen(text: str, screen: Screen) -> str:
    """Safe for a screen; plain ASCII off a terminal, but for the table's own marks."""
    pieces = [text]
    for mark in _OWN:
        pieces = [part for piece in pieces for part in _around(piece, mark)]
    return "".join(piece if piece in _OWN else screen_text(piece, ascii_only=screen.is_ascii) for piece in pieces)


def _around(text: str, mark: str) -> Iterator[str]:
    head, *rest = text.split(mark)
    yield head
    for part in rest:
        yield mark
        yield part


def _coloured(text: str, colour: str | None, screen: Screen) -> str:
    return text if colour is None or not screen.has_colour else f"\x1b[{colour}m{text}\x1b[0m"
