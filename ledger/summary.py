"""The table that a person reads at the end of a run."""

from __future__ import annotations

import io
import shlex
from collections.abc import Iterator, Sequence
from typing import Protocol

from rich.console import Console
from rich.table import Table
from rich.text import Text

from contracts.outcome import Outcome
from contracts.results import AttemptResult, CaseResult, Metrics, Summary
from ledger.case_results import last_tries
from ledger.check_text import check_lines
from ledger.fault_text import fault_column
from ledger.measures import case_measures, metrics_line
from ledger.screen_text import Screen, screen_text
from ledger.totals import stable_rate

MOST_ROWS = 200
"""Of the table; more cases than that are counted, not listed."""

MOST_EXPLAINED = 20
"""Cases whose first failed check is shown."""

_STYLES = {Outcome.PASS: "green", Outcome.FAIL: "bold red", Outcome.UNKNOWN: "yellow"}


class Graded(Protocol):
    """A `ledger.grading.Grading`, or anything that lists cases as it does."""

    @property
    def summary(self) -> Summary:
        """The counts of outcomes."""
        ...

    @property
    def metrics(self) -> Metrics:
        """The measures."""
        ...

    @property
    def listed(self) -> Sequence[CaseResult]:
        """All cases, or of a large run those that did not pass."""
        ...

    @property
    def repeats_line(self) -> str | None:
        """What the repeats say, where cases were repeated."""
        ...


def summary_text(graded: Graded, *, run: str, screen: Screen) -> str:
    """The table, the totals, the first failed check of each case that did not pass, and the next command.

    Args:
        graded: the results.
        run: the run directory as a command line would name it.
        screen: where it is shown.

    """
    buffer = io.StringIO()
    console = Console(
        file=buffer,
        width=screen.width,
        force_terminal=screen.has_colour,
        color_system="standard" if screen.has_colour else None,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    console.print(_table(graded.listed[:MOST_ROWS], screen))
    for line in _left_out(graded):
        console.print(line, soft_wrap=True)
    console.print(totals_line(graded.summary), style="bold", soft_wrap=True)
    console.print(metrics_line(graded.metrics), soft_wrap=True)
    if graded.repeats_line:
        console.print(graded.repeats_line, soft_wrap=True)
    not_passing = [case for case in graded.listed if case.outcome is not Outcome.PASS]
    for case in not_passing[:MOST_EXPLAINED]:
        for line in _explanation(case, screen):
            console.print(line, soft_wrap=True)
    console.print(_next_line(not_passing, run=run, screen=screen), soft_wrap=True)
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines()) + "\n"


def totals_line(summary: Summary) -> str:
    """`12 planned: 11 passed, 1 failed, 0 unknown; pass rate [0.92, 0.92]`; 1.00 only when every case passed."""
    ends = (summary.passed, summary.passed + summary.unknown)
    low, high = (stable_rate(end, summary.planned, digits=2) if summary.planned else 0.0 for end in ends)
    return (
        f"{summary.planned} planned: {summary.passed} passed, {summary.failed} failed, {summary.unknown} unknown; "
        f"pass rate [{low:.2f}, {high:.2f}]"
    )


def _table(cases: Sequence[CaseResult], screen: Screen) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    longest = max((len(case.case_id) for case in cases), default=0)
    table.add_column("CASE", overflow="fold", no_wrap=longest <= 2 * screen.width // 5)
    table.add_column("OUTCOME", overflow="fold")
    table.add_column("CHECKS NOT PASSED", overflow="fold", ratio=1)
    faults = [fault_column(last_tries(case.attempts)) for case in cases]
    if any(faults):
        table.add_column("FAULTS", overflow="fold", max_width=screen.width // 4)
    table.add_column("MEASURED", overflow="fold", max_width=screen.width // 4)
    table.add_column("CALLS", justify="right", no_wrap=True)
    table.add_column("TIME", justify="right", no_wrap=True)
    for case, fault in zip(cases, faults, strict=True):
        tries = last_tries(case.attempts)
        table.add_row(
            Text(screen_text(case.case_id, ascii_only=screen.is_ascii)),
            Text(_outcome(case, tries), style=_STYLES[case.outcome]),
            Text(screen_text(_not_passed(tries), ascii_only=screen.is_ascii)),
            *([Text(fault)] if any(faults) else []),
            Text(case_measures(case)),
            str(sum(attempt.tool_calls for attempt in tries)),
            f"{sum(attempt.duration_ms for attempt in case.attempts) / 1000:.2f} s",
        )
    return table


def _outcome(case: CaseResult, tries: Sequence[AttemptResult]) -> str:
    passed = sum(attempt.outcome is Outcome.PASS for attempt in tries)
    of_repeats = f" {passed}/{len(tries)}" if len(tries) > 1 else ""
    return case.outcome.value + of_repeats + (" (flaky)" if case.flaky else "")


def _not_passed(tries: Sequence[AttemptResult]) -> str:
    names: dict[str, None] = {}
    for attempt in tries:
        if attempt.outcome_class is not None:
            names[attempt.outcome_class.value] = None
        names |= {check.name: None for check in attempt.checks if check.outcome is not Outcome.PASS}
    return ", ".join(names)


def _left_out(graded: Graded) -> Iterator[str]:
    if (rest := len(graded.listed) - MOST_ROWS) > 0:
        yield f"and {rest} more, in results.json"
    if passed := graded.summary.planned - len(graded.listed):
        yield f"{passed} cases that passed are not listed"


def _explanation(case: CaseResult, screen: Screen) -> Iterator[str]:
    """Why the case did not pass: the attempt's own reason, and its first check that did not pass."""
    plain = screen.is_ascii
    attempt = next(attempt for attempt in last_tries(case.attempts) if attempt.outcome is case.outcome)
    yield f"\n{screen_text(case.case_id, ascii_only=plain)}: {case.outcome.value}"
    check = next((check for check in attempt.checks if check.outcome is not Outcome.PASS), None)
    if attempt.outcome_class is not None or check is None:  # else the check itself is the reason
        parts = [attempt.outcome_class.value if attempt.outcome_class else "", attempt.reason or ""]
        yield "  " + screen_text(": ".join(part for part in parts if part), ascii_only=plain)
    if check is not None:
        yield from check_lines(check, ascii_only=plain)


def _next_line(not_passing: Sequence[CaseResult], *, run: str, screen: Screen) -> str:
    command = f"labctl show {shlex.quote(run)}"
    if not_passing:
        command += f" --case {shlex.quote(not_passing[0].case_id)}"
    return "\nnext: " + screen_text(command, ascii_only=screen.is_ascii)
