"""What `labctl show RUN --case ID --timeline` prints: the spans of one case as a tree with bars of their time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from contracts import evidence
from contracts import span_names as names
from contracts.errors import ErrorCode, Found, LabError
from driver.otlp_lines import LineError, Span, parse_line, spans_of
from driver.shown_run import ShownRun, planned_case, shown_run
from ledger.screen_text import PLAIN_SCREEN, Screen, screen_text

WIDTH = 80
"""Columns where no terminal says how many there are."""
MOST_SPANS = 2000
"""Of one case; what comes after them is counted."""
_BAR = 28
_TIME = 9
_RED, _DIM, _PLAIN = "\x1b[31m", "\x1b[2m", "\x1b[0m"
_NS_OF_MS, _MS_OF_S = 1e6, 1000


def timeline_text(run: Path, *, case_id: str, screen: Screen = PLAIN_SCREEN) -> str:
    """The spans of a case, oldest first.

    Raises:
        LabError: UNKNOWN_CASE; NO_TRACE for a run without spans; ALTERED for spans that cannot be read; as `shown_run`.

    """
    with shown_run(run) as shown:
        planned_case(shown, case_id)
        spans = _spans_of_case(shown, case_id)
    lines = [] if shown.note is None else [shown.note, ""]
    return "\n".join([*lines, *timeline_lines(spans, case_id=case_id, screen=screen)])


def _spans_of_case(shown: ShownRun, case_id: str) -> list[Span]:
    path = shown.root / evidence.OTLP
    if not path.is_file():
        raise LabError(
            ErrorCode.NO_TRACE,
            f"{shown.shown} has no spans",
            found=[Found("not there", file=evidence.OTLP)],
            cause="it was made without the profile observe",
            next_step="labctl run --profile observe",
        )
    spans: list[Span] = []
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                spans += [span for span in spans_of(parse_line(line)) if span.attributes.get(names.CASE_ID) == case_id]
            except LineError as error:
                found = [Found(str(error), file=evidence.OTLP, place=f"line {number}")]
                raise LabError(ErrorCode.ALTERED, f"the spans of {shown.shown} cannot be read", found=found) from error
    return sorted(spans, key=lambda span: (span.began_at_ns, -span.ended_at_ns))


def timeline_lines(spans: Sequence[Span], *, case_id: str, screen: Screen = PLAIN_SCREEN) -> Iterator[str]:
    """One line that says what is below it, one scale, then one line for each span."""
    if not spans:
        yield screen_text(f"{case_id}: no spans; none of its attempts was made, or they were lost", ascii_only=False)
        return
    drawing = _Drawing.of(spans, screen)
    took = shown_time(drawing.ended_at_ns - drawing.began_at_ns)
    yield drawing.safe(f"{case_id}: {len(spans)} spans in {took}")
    yield drawing.scale()
    for number, (span, depth) in enumerate(_in_tree(spans)):
        if number == MOST_SPANS:
            yield f"and {len(spans) - MOST_SPANS} more spans"
            return
        yield drawing.line(span, depth=depth)


def _in_tree(spans: Sequence[Span]) -> Iterator[tuple[Span, int]]:
    """Each span after its parent; one whose parent is lost, or of another case, stands at the left."""
    known = {span.span_id for span in spans}
    children: dict[str | None, list[Span]] = defaultdict(list)
    for span in spans:
        children[span.parent_id if span.parent_id in known else None].append(span)
    seen: set[str] = set()
    waiting = [(span, 0) for span in reversed(children[None])]
    while waiting:
        span, depth = waiting.pop()
        if span.span_id in seen:
            continue
        seen.add(span.span_id)
        yield span, depth
        waiting += [(child, depth + 1) for child in reversed(children[span.span_id])]


@dataclass(frozen=True)
class _Drawing:
    """Where the columns are, and what the bars are made of."""

    screen: Screen
    began_at_ns: int
    ended_at_ns: int
    title: int
    """Columns of the names."""

    @classmethod
    def of(cls, spans: Sequence[Span], screen: Screen) -> _Drawing:
        width = screen.width if screen.is_terminal else WIDTH
        return cls(
            screen=screen,
            began_at_ns=min(span.began_at_ns for span in spans),
            ended_at_ns=max(span.ended_at_ns for span in spans),
            title=max(width - _BAR - _TIME - 3, 12),
        )

    def safe(self, text: str) -> str:
        return screen_text(text, ascii_only=self.screen.is_ascii)

    def scale(self) -> str:
        end = shown_time(self.ended_at_ns - self.began_at_ns)
        return f"{'':{self.title}} |0{end:>{_BAR - 1}}|"

    def line(self, span: Span, *, depth: int) -> str:
        name, said = self.safe("  " * depth + span.name), self.safe(_said(span.attributes))
        room = max(self.title - len(said), 8)
        title = (name if len(name) <= room else name[: room - 2] + "..") + said
        bar = self._bar(span)
        if self.screen.has_colour:
            bar = f"{_RED if span.is_error else _DIM}{bar}{_PLAIN}"
        took_ns = span.ended_at_ns - span.began_at_ns
        took = shown_time(took_ns) if took_ns else "-"
        return f"{title[: self.title]:{self.title}} |{bar}|{took:>{_TIME}}"

    def _bar(self, span: Span) -> str:
        whole = max(self.ended_at_ns - self.began_at_ns, 1)
        first = min(int((span.began_at_ns - self.began_at_ns) / whole * _BAR), _BAR - 1)
        last = min(max(int((span.ended_at_ns - self.began_at_ns) / whole * _BAR), first + 1), _BAR)
        mark = "!" if span.is_error else "="
        return " " * first + mark * (last - first) + " " * (_BAR - last)


def _said(attributes: Mapping[str, object]) -> str:
    """What a person looks for: the attempt's number, outcomes, statuses, planned faults."""
    attempt = attributes.get(names.ATTEMPT) if attributes.get(names.KIND) == "attempt" else None
    status = attributes.get(names.HTTP_STATUS, attributes.get(names.TOOL_STATUS))
    fault = attributes.get(names.FAULT)
    parts = [f"#{attempt}" if attempt is not None else None, attributes.get(names.OUTCOME), status]
    parts.append(f"fault {fault}" if fault else None)
    return "".join(f" {part}" for part in parts if part is not None)


def shown_time(took_ns: float) -> str:
    """A duration in the unit that suits it."""
    took_ms = took_ns / _NS_OF_MS
    if took_ms < 1:
        return f"{took_ms:.2f} ms"
    return f"{took_ms:.0f} ms" if took_ms < _MS_OF_S else f"{took_ms / _MS_OF_S:.2f} s"
