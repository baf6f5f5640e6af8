"""Spans on their way to a sink: none is lost unseen, and nothing about a sink holds an attempt up."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import ReadableSpan

from contracts.telemetry import SpansToFile
from driver.otlp_lines import parse_line, spans_of
from runner.span_queue import BATCH, SinkError, SpanQueue
from runner.span_sinks import CollectorSink, FileSink, sink_of
from tests.fakes.spans import KeepingSink, StuckSink, tracer_into


def make(queue: SpanQueue, count: int, *, threads: int = 1) -> None:
    tracer = tracer_into(queue)

    def work() -> None:
        for number in range(count // threads):
            tracer.start_span(f"span {number}").end()

    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def test_five_thousand_spans_of_eight_threads_all_reach_the_sink() -> None:
    sink = KeepingSink()
    queue = SpanQueue(sink)
    make(queue, 5000, threads=8)
    count = queue.finish()
    assert (count.made, count.refused, count.trouble) == (5000, 0, None)
    assert len({span.context.span_id for span in sink.taken if span.context}) == 5000
    assert sink.is_closed


def test_a_batch_that_the_sink_refuses_is_counted_and_the_next_one_is_taken() -> None:
    sink = KeepingSink(refuses=frozenset({1}))
    queue = SpanQueue(sink)
    make(queue, BATCH + 7)
    count = queue.finish()
    assert (count.made, count.trouble) == (BATCH + 7, "the disk is full")
    assert count.refused + len(sink.taken) == BATCH + 7
    assert count.refused > 0


def test_a_sink_that_is_stuck_costs_the_end_of_a_run_no_more_than_the_stated_time() -> None:
    sink = StuckSink()
    queue = SpanQueue(sink)
    make(queue, 3)
    count = queue.finish(seconds=0.05)
    assert count.made == 3
    assert count.trouble == "the sink took longer than 0.05 s to take the last spans"
    sink.go_on.set()


def test_what_a_full_queue_cannot_hold_is_counted_and_holds_nobody_up() -> None:
    sink = StuckSink()
    queue = SpanQueue(sink, most_waiting=BATCH)
    make(queue, 4 * BATCH)
    sink.go_on.set()
    count = queue.finish()
    assert count.made == 4 * BATCH
    assert count.refused + sink.taken == count.made
    assert count.refused >= 2 * BATCH
    assert count.trouble == f"more than {BATCH} spans were waiting for the sink"


def test_a_span_after_the_end_is_counted_as_lost() -> None:
    queue = SpanQueue(KeepingSink())
    queue.finish()
    make(queue, 2)
    assert (queue.finish().made, queue.finish().refused) == (2, 2)


def test_the_file_has_a_line_for_each_batch_that_reads_back_as_the_same_spans(tmp_path: Path) -> None:
    path = tmp_path / "otlp.jsonl"
    queue = SpanQueue(sink_of(SpansToFile(path=str(path))))
    make(queue, BATCH + 1)
    assert queue.finish().refused == 0
    lines = path.read_bytes().splitlines()
    spans = [span for line in lines for span in spans_of(parse_line(line))]
    assert len({span.span_id for span in spans}) == BATCH + 1
    assert all(span.ended_at_ns >= span.began_at_ns for span in spans)
    assert path.stat().st_mode & 0o077 == 0


def test_a_file_that_cannot_be_made_is_a_loss_and_no_crash(tmp_path: Path) -> None:
    queue = SpanQueue(FileSink(tmp_path / "nowhere" / "otlp.jsonl"))
    make(queue, 3)
    count = queue.finish()
    assert (count.made, count.refused) == (3, 3)
    assert count.trouble == "the file of spans cannot be written: No such file or directory"


def test_a_full_disk_is_said(tmp_path: Path) -> None:
    full = Path("/dev/full")
    queue = SpanQueue(FileSink(full))
    make(queue, 3)
    count = queue.finish()
    assert (count.made, count.refused) == (3, 3)
    assert count.trouble == "the file of spans cannot be written: No space left on device"


class Posts:
    """The library's exporter: says what it is told to."""

    def __init__(self, says: str = "") -> None:
        """`says` has a letter for each batch: `y` it takes it, `n` it does not."""
        self.says = list(says)
        self.is_shut = False

    def export(self, spans: list[ReadableSpan]) -> bool:
        return self.says.pop(0) == "y"

    def shutdown(self) -> None:
        self.is_shut = True


def collector(posts: Posts, *health: str | None) -> CollectorSink:
    answers = list(health)
    return CollectorSink(posts, is_success=bool, health=lambda: answers.pop(0))


def test_the_collector_is_awaited_once_and_asked_again_only_after_a_loss() -> None:
    sink = collector(Posts("yyny"), "not yet", None, "gone", None)
    until_s = float("inf")
    sink.take([], until_s=until_s)
    sink.take([], until_s=until_s)
    with pytest.raises(SinkError, match="did not take a batch"):
        sink.take([], until_s=until_s)
    sink.take([], until_s=until_s)  # it said `gone`, then it was healthy again


def test_a_collector_that_is_not_healthy_in_time_is_said_to_be_so() -> None:
    sink = collector(Posts(), *["connection refused"] * 3)
    with pytest.raises(SinkError, match="the collector is not healthy: connection refused"):
        sink.take([], until_s=0.0)
