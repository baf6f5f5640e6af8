"""Which attempts are made, in which order, by how many threads, and what becomes of those that cannot be made."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from itertools import groupby
from typing import Protocol

from contracts.lines import RunnerAttempt
from contracts.plan import Plan
from contracts.suite.suite import Suite
from contracts.tries import RETRIED, LastTry, attempt_of_try, next_tries, number_of_try
from runner.attempts import Task
from runner.gate import Gate


class Maker(Protocol):
    """Makes attempts (`runner.attempts.AttemptMaker`)."""

    def make(self, task: Task) -> RunnerAttempt:
        """The finished attempt."""
        ...

    def skip(self, task: Task, *, reason: str) -> RunnerAttempt:
        """The record of an attempt that is not made."""
        ...


def plan_tasks(plan: Plan, suite: Suite, finished: Iterable[LastTry] = ()) -> Iterator[tuple[Task, ...]]:
    """The first try of each repeat, or the one after its last finished one, in plan order.

    They come in groups whose members must follow one another.

    A header selects a case, not an attempt: then the repeats of one case cannot be under way together.
    """
    cases = {planned.case_id: planned for planned in plan.cases}
    for case_id, tries in groupby(next_tries(plan, finished), key=lambda one: one.case_id):
        planned, case = cases[case_id], suite.case(case_id)
        tasks = [
            Task(planned=planned, case=case, attempt=one.attempt, repeat=one.repeat, retry_of=one.retry_of)
            for one in tries
        ]
        if plan.agent.select == "header":
            yield tuple(tasks)
        else:
            yield from ((task,) for task in tasks)


class Schedule:
    """Runs groups of tasks on threads.

    `emit` gets every attempt as it is finished, `lost` says why no further one can be made, `abandon` ends those that
    are under way when a thread fails, `gate` is where each repeat waits before it begins, and `over` is told when no
    further try of a repeat will come.
    """

    def __init__(  # noqa: PLR0913 - each is another part of a run
        self,
        maker: Maker,
        *,
        emit: Callable[[RunnerAttempt], None],
        lost: Callable[[], str | None],
        abandon: Callable[[], None],
        retries: int,
        gate: Gate | None = None,
        over: Callable[[Task], None] = lambda _: None,
    ) -> None:
        self._maker = maker
        self._emit = emit
        self._lost = lost
        self._abandon = abandon
        self._retries = retries
        self._gate = gate or Gate()
        self._broken = threading.Event()
        self._over = over
        self._lock = threading.Lock()
        self._made = 0

    def run(self, groups: Iterable[tuple[Task, ...]], *, concurrency: int) -> int:
        """Make all attempts and return how many; the first exception of a thread stops the others and is raised."""
        waiting = iter(groups)

        def work() -> None:
            try:
                while not self._broken.is_set() and (group := self._take(waiting)) is not None:
                    for task in group:
                        self._make(task)
            except BaseException:
                self._broken.set()
                raise

        with ThreadPoolExecutor(concurrency, thread_name_prefix="attempt") as pool:
            workers = [pool.submit(work) for _ in range(concurrency)]
            wait(workers, return_when=FIRST_EXCEPTION)
            if self._broken.is_set():
                self._abandon()
        for worker in workers:
            worker.result()
        return self._made

    def _take(self, waiting: Iterator[tuple[Task, ...]]) -> tuple[Task, ...] | None:
        with self._lock:
            return next(waiting, None)

    def _make(self, task: Task) -> None:
        """One repeat: its first try, and others while they die of what is not the agent's."""
        try:
            self._make_tries(task)
        finally:
            self._over(task)

    def _make_tries(self, task: Task) -> None:
        self._gate.wait(unless=lambda: self._broken.is_set() or self._lost() is not None)
        if self._broken.is_set():
            return
        lost = self._lost()
        if lost is not None:
            self._finish(self._maker.skip(task, reason=lost))
            return
        first = number_of_try(task.attempt, repeat=task.repeat, repeats=task.planned.repeats)
        for number in range(first, max(first, self._retries) + 1):
            finished = self._maker.make(task)
            self._finish(finished)
            if finished.record.outcome_class not in RETRIED or self._lost() is not None:
                return
            task = _next_try(task, number=number + 1)

    def _finish(self, attempt: RunnerAttempt) -> None:
        self._emit(attempt)
        with self._lock:
            self._made += 1


def _next_try(task: Task, *, number: int) -> Task:
    """The next try of the same repeat: numbers are unique in the case and do not depend on who was first."""
    return Task(
        planned=task.planned,
        case=task.case,
        attempt=attempt_of_try(number, repeat=task.repeat, repeats=task.planned.repeats),
        repeat=task.repeat,
        retry_of=task.attempt,
    )
