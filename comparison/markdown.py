"""The comparison as a job summary in Markdown: verdict and regressions first, never more than a service takes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from comparison.case_text import ARROW, case_head, case_lines
from comparison.difference_text import environment_lines
from comparison.metric_rows import COLUMNS, metric_rows
from contracts.comparison import CaseChange, Comparison

MOST_BYTES = 1_000_000
"""Of the whole text; job summaries of CI services end at 1 MiB."""

_KEPT_BYTES = 200_000
"""Of these, for what comes after the cases."""
_TITLES = {
    "regressed": "Regressed",
    "unknown": "Could not be told",
    "removed": "Removed",
    "improved": "Improved",
    "changed": "Same outcome, other behaviour",
    "added": "Added",
}
_MOST_LINES = 300
_MOST_CHARS = 2000
_TICKS = re.compile("`+")


def markdown_text(comparison: Comparison) -> str:
    """The whole text; what does not fit is counted, and stands in the JSON."""
    parts = [_head(comparison)]
    left_bytes = MOST_BYTES - _KEPT_BYTES - len(parts[0].encode())
    for kind, title in _TITLES.items():
        changes = [change for change in comparison.cases if change.kind == kind]
        section, left_bytes = _section(title, changes, left_bytes)
        parts.append(section)
    if more := comparison.left_out.get("cases"):
        parts.append(f"And {more} cases more that are in no list of this length.\n")
    parts += [_metrics(comparison), _environment(comparison)]
    return "\n".join(part for part in parts if part)


def _head(comparison: Comparison) -> str:
    title = f"{_code(comparison.baseline)} {ARROW} {_code(comparison.candidate)}"
    reasons = "".join(f"- {_code(reason)}\n" for reason in comparison.reasons)
    runs = f"Runs {_code(comparison.baseline_run)} and {_code(comparison.candidate_run)}"
    return f"## {comparison.verdict.value}: {title}\n\n{reasons}\n{runs}, dataset {_code(comparison.dataset)}.\n"


def _section(title: str, changes: list[CaseChange], left_bytes: int) -> tuple[str, int]:
    """As many cases as fit, then how many do not; and the bytes that are left."""
    if not changes:
        return "", left_bytes
    pieces = [f"### {title} ({len(changes)})\n"]
    for number, change in enumerate(changes):
        piece = f"{_code(case_head(change))}\n\n{_block(case_lines(change))}"
        left_bytes -= len(piece.encode())
        if left_bytes < 0:
            pieces.append(f"And {len(changes) - number} more, in the JSON.\n")
            break
        pieces.append(piece)
    return "\n".join(pieces), max(left_bytes, 0)


def _metrics(comparison: Comparison) -> str:
    rows = ["| | " + " | ".join(COLUMNS) + " |\n", "|---|---|--:|--:|--:|\n"]
    rows += [f"| {row.mark.strip()} | {' | '.join(row[1:])} |\n" for row in metric_rows(comparison)]
    sentences = " ".join(comparison.statistics.sentences) if comparison.statistics else ""
    return "### Metrics\n\n" + "".join(rows) + (f"\n{sentences}\n" if sentences else "")


def _environment(comparison: Comparison) -> str:
    return "### What differs around the behaviour\n\n" + _block(environment_lines(comparison))


def _block(lines: Iterable[str]) -> str:
    """Lines that no Markdown reads anything into; nothing where there is none."""
    kept = list(_bounded(lines))
    if not kept:
        return ""
    text = "\n".join(kept)
    fence = "`" * max(3, 1 + max((len(ticks) for ticks in _TICKS.findall(text)), default=0))
    return f"{fence}\n{text}\n{fence}\n"


def _bounded(lines: Iterable[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        if number == _MOST_LINES:
            yield "..."
            return
        yield _one_line(line)[:_MOST_CHARS]


def _code(text: str) -> str:
    """A text of the evidence, which may hold anything, in a span of code."""
    shown = _one_line(text)[:_MOST_CHARS]
    fence = "`" * (1 + max((len(ticks) for ticks in _TICKS.findall(shown)), default=0))
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def _one_line(text: str) -> str:
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
