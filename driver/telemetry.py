"""Takes the spans of a run into its evidence: redacted, counted, and compared with what the runner says it made."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from contracts import evidence
from contracts.plan import Plan
from contracts.telemetry import OBSERVE_PROFILE, SpanCount, Telemetry
from driver.judge_spans import JudgeSpans
from driver.otlp_lines import LineError, parse_line, raw_spans
from driver.scratch import scratch_folder
from ledger.redaction import Redactor
from ledger.run_directory import RunDirectory

MAX_BYTES = 256 * 1024 * 1024
"""Of traces/otlp.jsonl; lines after it are left out and counted."""
SPANS_FILE = "otlp.jsonl"
"""In the folder that the sink writes to."""


def is_observed(plan: Plan) -> bool:
    """Whether spans of the run are made."""
    return OBSERVE_PROFILE in plan.conditions.profiles


@contextmanager
def spans_folder(plan: Plan) -> Iterator[Path | None]:
    """A folder of its own for whoever writes the spans, gone at the end; None where none are made."""
    if not is_observed(plan):
        yield None
        return
    with scratch_folder() as folder:
        yield folder


@dataclass
class _Copy:
    """The lines on their way, each whole and redacted."""

    redactor: Redactor
    span_ids: set[str] = field(default_factory=set)
    """A batch that the sink took twice counts once."""
    dropped_lines: int = 0
    _bytes: int = 0

    def pieces(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """What is written into the evidence."""
        for line in lines:
            if (kept := self._kept(line)) is None:
                self.dropped_lines += 1
            else:
                yield kept

    def _kept(self, line: bytes) -> bytes | None:
        if not line.endswith(b"\n"):
            return None  # cut: its writer died over it
        try:
            value = parse_line(line)
            ids = [str(raw.get("spanId")) for raw in raw_spans(value)]
        except (LineError, AttributeError):
            return None
        redacted = self.redactor.redact_json(value)
        if redacted is not value:
            line = json.dumps(redacted, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"
        self._bytes += len(line)
        if self._bytes > MAX_BYTES:
            return None
        self.span_ids.update(ids)
        return line


def keep_spans(  # noqa: PLR0913 - what was said, and where it is
    run: RunDirectory, plan: Plan, folder: Path, *, said: SpanCount | None, judged: JudgeSpans, redactor: Redactor
) -> Telemetry:
    """Write traces/otlp.jsonl from what the sink left in the folder, and the judge's; raises LabError WRITE_FAILED.

    `said` is what the runner says of its spans; None: it ended before it could.
    """
    copy = _Copy(redactor.writing(evidence.OTLP, may_be_cut=True))
    troubles = [said.trouble] if said is not None and said.trouble else []
    with ExitStack() as opened:
        lines: Iterable[bytes] = ()
        try:
            lines = opened.enter_context(_plain_file(folder / SPANS_FILE))
        except OSError as error:  # a trace that is lost costs no run its seal
            troubles.append(f"the sink's file cannot be read: {error.strerror}")
        run.write_whole(evidence.OTLP, copy.pieces(chain(lines, judged.lines)))
    if said is None:
        troubles.append("the runner ended before it could say how many spans it made")
    if copy.dropped_lines:
        troubles.append(
            f"lines of the sink's file that were cut, unreadable or over {MAX_BYTES} bytes in all: {copy.dropped_lines}"
        )
    made, written = said.made + judged.made if said else None, len(copy.span_ids)
    return Telemetry(
        sink="json-lines" if plan.conditions.backend == "process" else "otlp-http",
        spans_made=made,
        spans_written=written,
        spans_lost=None if made is None else max(made - written, 0),
        dropped_lines=copy.dropped_lines,
        troubles=tuple(troubles),
    )


def _plain_file(path: Path) -> BinaryIO:
    """The file, opened; raises OSError for one that is not there or, like a link to a device, may have no end."""
    if path.is_symlink() or not path.is_file():
        raise FileNotFoundError(errno.ENOENT, "there is none")
    return path.open("rb")


def tell_losses(telemetry: Telemetry, *, warn: Callable[[str], None]) -> None:
    """Say on stderr what is missing of the trace; nothing where all of it is there."""
    why = f": {'; '.join(telemetry.troubles)}" if telemetry.troubles else ""
    if telemetry.spans_lost is None:
        warn(f"the trace may be incomplete ({telemetry.spans_written} spans written){why}; no verdict depends on it")
    elif telemetry.spans_lost:
        warn(f"{telemetry.spans_lost} of {telemetry.spans_made} spans were lost{why}; no verdict depends on them")
