"""`python -m runner attempts`: an order on stdin, one JSON line for each finished attempt on stdout."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import closing

from pydantic import ValidationError

from contracts.errors import ErrorCode, LabError
from contracts.exits import Exit
from contracts.first_line import read_first_line
from contracts.lines import RunnerFinished, RunnerReady, RunnerRefused, RunnerSpans, RunnerStarted
from contracts.order import RunnerOrder
from contracts.record import Record
from runner import VERSION
from runner.attempts import Task
from runner.execution import Execution
from runner.leaving import Watch


class LineWriter:
    """Writes whole lines, from any thread."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()

    def write(self, record: Record) -> None:
        """One record as one line, at once; raises BrokenPipeError when nobody reads any more."""
        line = memoryview(record.to_line().encode() + b"\n")
        with self._lock:
            while line:
                line = line[os.write(self._descriptor, line) :]


def serve() -> int:
    """Run the order of stdin and return the exit status."""
    lines = LineWriter(sys.stdout.fileno())
    stdin = sys.stdin.fileno()
    try:
        order = read_order(stdin)
        if order is None:
            return Exit.TERMINATED
        execution = Execution.of(order)
        watch = Watch(end=execution.end)
        watch.start(stdin=stdin, hear=execution.hear)
        execution.reach(tell=lines.write)
    except LabError as error:
        lines.write(_refusal(error))
        return error.exit_code
    with closing(execution):
        try:
            lines.write(RunnerReady(runner=VERSION))
            attempts = execution.run(started=lambda task: lines.write(_started(task)), emit=lines.write)
            if (count := execution.tracing.finish()) is not None:
                lines.write(RunnerSpans(count=count))
            watch.stop()
            lines.write(RunnerFinished(attempts=attempts))
        except BrokenPipeError:
            return Exit.TERMINATED  # the driver is gone
    return Exit.YES


def _started(task: Task) -> RunnerStarted:
    return RunnerStarted(case_id=task.case.id, attempt=task.attempt, repeat=task.repeat, retry_of=task.retry_of)


def read_order(stdin: int) -> RunnerOrder | None:
    """The first line of stdin, which stays open; None when it ends before: there is no driver. Raises LabError."""
    line = read_first_line(stdin)
    if not line:
        return None
    try:
        return RunnerOrder.model_validate_json(line)
    except ValidationError as trouble:
        raise LabError(ErrorCode.BUG, "the order on stdin is none", cause=str(trouble)) from trouble


def _refusal(error: LabError) -> RunnerRefused:
    return RunnerRefused(
        code=error.code.code,
        message=error.message,
        found=tuple(map(str, error.found)),
        expected=error.expected,
        cause=error.cause,
        next_step=error.next_step,
    )
