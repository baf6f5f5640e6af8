"""The runner's stdout: one JSON record a line."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from contracts.attempt import AttemptRecord
from contracts.journal import JournalRow
from contracts.record import BUILT_AT_FIRST_USE, Record
from contracts.telemetry import SpanCount


class RunnerReady(Record):
    """Everything that the attempts need was reached."""

    type: Literal["ready"] = "ready"
    runner: str
    """Version of the runner's code."""


class RunnerStarted(Record):
    """An attempt begins: for live progress, and for the record of one that a dead runner leaves behind."""

    type: Literal["started"] = "started"
    case_id: str
    attempt: int
    repeat: int
    retry_of: int | None = None


class RunnerAttempt(Record):
    """A finished attempt with its journal rows; values are whole here, the driver cuts and redacts."""

    type: Literal["attempt"] = "attempt"
    record: AttemptRecord
    journal: tuple[JournalRow, ...] = ()
    traceparent: str | None = None
    """Of the attempt's span, where spans are made."""


class RunnerRefused(Record):
    """Nothing was run: the fields of an error of `contracts.errors`."""

    type: Literal["refused"] = "refused"
    code: str
    message: str
    found: tuple[str, ...] = ()
    expected: str | None = None
    cause: str | None = None
    next_step: str | None = None


class RunnerSpans(Record):
    """The spans of the whole run, after the last attempt; only where spans are made."""

    type: Literal["spans"] = "spans"
    count: SpanCount


class RunnerFinished(Record):
    """The last line of a runner that was not cut off."""

    type: Literal["finished"] = "finished"
    attempts: int


RunnerLine = RunnerReady | RunnerStarted | RunnerAttempt | RunnerRefused | RunnerSpans | RunnerFinished

runner_lines: TypeAdapter[RunnerLine] = TypeAdapter(
    Annotated[RunnerLine, Field(discriminator="type")], config=BUILT_AT_FIRST_USE
)
"""Parses one line of the runner; raises pydantic.ValidationError for anything else."""
