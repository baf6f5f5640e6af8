"""Order, concurrency, retries, and what becomes of attempts when the world is lost."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from contracts.attempt import AttemptRecord
from contracts.canonical import digest_of_json
from contracts.lines import RunnerAttempt
from contracts.outcome import Outcome, OutcomeClass
from contracts.pace import Pace
from contracts.plan import AgentPlan, Plan, PlannedCase
from contracts.tries import LastTry
from runner.attempts import Task
from runner.gate import Gate
from runner.schedule import Schedule, plan_tasks
from tests.fakes.assignments import DIGEST, case_of, conditions_of_test

PATIENCE_S = 30.0


def plan_of(*case_ids: str, repeats: int = 1, select: str = "prefix") -> Plan:
    return Plan(
        run_id="run",
        labctl="0",
        command=(),
        suite="fixtures",
        agent=AgentPlan.model_validate({"name": "a", "adapter": "chat", "select": select, "digest": DIGEST}),
        conditions=conditions_of_test(),
        capture="metadata",
        concurrency=2,
        planned_at="2026-09-01T12:00:00Z",
        cases=tuple(
            PlannedCase(case_id=case_id, title=case_id, protected=False, case_digest=DIGEST, repeats=repeats)
            for case_id in case_ids
        ),
    )


@dataclass
class Cases:
    """As much of a suite as the schedule looks at."""

    cases: dict[str, object]

    def case(self, case_id: str) -> object:
        return self.cases[case_id]


def tasks_of(plan: Plan) -> list[tuple[Task, ...]]:
    suite = Cases({case.case_id: case_of(id=case.case_id) for case in plan.cases})
    return list(plan_tasks(plan, suite))  # type: ignore[arg-type]


@dataclass
class ScriptedMaker:
    """Implements `runner.schedule.Maker`: the classes of the first tries of a case, in order; then passes."""

    classes: dict[str, list[OutcomeClass | None]] = field(default_factory=dict)
    made: list[tuple[str, int, int, int | None]] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)

    def make(self, task: Task) -> RunnerAttempt:
        self.made.append((task.case.id, task.attempt, task.repeat, task.retry_of))
        script = self.classes.get(task.case.id, [])
        return _attempt(task, script.pop(0) if script else None)

    def skip(self, task: Task, *, reason: str) -> RunnerAttempt:
        self.skipped.append((task.case.id, reason))
        return _attempt(task, OutcomeClass.NOT_RUN)


def _attempt(task: Task, outcome_class: OutcomeClass | None) -> RunnerAttempt:
    return RunnerAttempt(
        record=AttemptRecord(
            case_id=task.case.id,
            title=task.planned.title,
            protected=False,
            case_digest=DIGEST,
            attempt=task.attempt,
            repeat=task.repeat,
            outcome=Outcome.UNKNOWN if outcome_class else Outcome.PASS,
            outcome_class=outcome_class,
            trajectory_digest=digest_of_json([]),
            tool_calls=0,
            started_at="2026-09-01T12:00:00Z",
            duration_ms=0,
        )
    )


def run(maker: ScriptedMaker, plan: Plan, *, retries: int = 0, lost_after: int | None = None) -> list[AttemptRecord]:
    finished: list[AttemptRecord] = []
    schedule = Schedule(
        maker,
        emit=lambda attempt: finished.append(attempt.record),
        lost=lambda: "gone" if lost_after is not None and len(maker.made) >= lost_after else None,
        abandon=lambda: None,
        retries=retries,
    )
    assert schedule.run(tasks_of(plan), concurrency=1) == len(finished)
    return finished


def test_cases_are_made_in_the_order_of_the_plan() -> None:
    maker = ScriptedMaker()

    run(maker, plan_of("c", "a", "b"))

    assert [case_id for case_id, *_ in maker.made] == ["c", "a", "b"]


def test_repeats_are_attempts_of_their_own() -> None:
    maker = ScriptedMaker()

    run(maker, plan_of("a", "b", repeats=2))

    assert maker.made == [("a", 1, 1, None), ("a", 2, 2, None), ("b", 1, 1, None), ("b", 2, 2, None)]


def test_repeats_of_a_case_follow_one_another_when_a_header_selects_the_case() -> None:
    assert [len(group) for group in tasks_of(plan_of("a", "b", repeats=3))] == [1] * 6
    assert [len(group) for group in tasks_of(plan_of("a", "b", repeats=3, select="header"))] == [3, 3]


@pytest.mark.parametrize("outcome_class", [OutcomeClass.INFRASTRUCTURE, OutcomeClass.PROVIDER])
def test_what_is_not_the_agents_failure_is_tried_again_and_every_try_is_kept(outcome_class: OutcomeClass) -> None:
    maker = ScriptedMaker(classes={"a": [outcome_class, outcome_class]})

    finished = run(maker, plan_of("a", repeats=2), retries=2)

    assert maker.made == [("a", 1, 1, None), ("a", 3, 1, 1), ("a", 5, 1, 3), ("a", 2, 2, None)]
    assert [record.outcome_class for record in finished] == [outcome_class, outcome_class, None, None]


@pytest.mark.parametrize("outcome_class", [OutcomeClass.AGENT_ERROR, OutcomeClass.LIMIT, OutcomeClass.SUITE])
def test_an_agents_failure_is_never_tried_again(outcome_class: OutcomeClass) -> None:
    maker = ScriptedMaker(classes={"a": [outcome_class]})

    assert len(run(maker, plan_of("a"), retries=5)) == 1


def test_after_the_world_is_lost_every_other_case_has_a_line_of_its_own() -> None:
    maker = ScriptedMaker(classes={"b": [OutcomeClass.INFRASTRUCTURE]})

    finished = run(maker, plan_of("a", "b", "c", "d"), retries=3, lost_after=2)

    assert [(record.case_id, record.outcome_class) for record in finished] == [
        ("a", None),
        ("b", OutcomeClass.INFRASTRUCTURE),
        ("c", OutcomeClass.NOT_RUN),
        ("d", OutcomeClass.NOT_RUN),
    ]
    assert maker.skipped == [("c", "gone"), ("d", "gone")]


def test_as_many_attempts_are_under_way_as_the_concurrency_allows() -> None:
    barrier = threading.Barrier(3, timeout=10)

    class Waiting(ScriptedMaker):
        def make(self, task: Task) -> RunnerAttempt:
            barrier.wait()
            return super().make(task)

    schedule = Schedule(Waiting(), emit=lambda _: None, lost=lambda: None, abandon=lambda: None, retries=0)

    assert schedule.run(tasks_of(plan_of("a", "b", "c")), concurrency=3) == 3


def test_an_exception_stops_the_other_threads_abandons_what_is_under_way_and_is_raised() -> None:
    class Broken(ScriptedMaker):
        def make(self, task: Task) -> RunnerAttempt:
            if task.case.id == "b":
                raise BrokenPipeError
            return super().make(task)

    maker = Broken()
    abandoned: list[bool] = []
    schedule = Schedule(
        maker, emit=lambda _: None, lost=lambda: None, abandon=lambda: abandoned.append(True), retries=0
    )

    with pytest.raises(BrokenPipeError):
        schedule.run(tasks_of(plan_of("a", "b", "c", "d")), concurrency=1)
    assert [case_id for case_id, *_ in maker.made] == ["a"]
    assert abandoned == [True]


class Held:
    """A schedule whose driver has told it to hold, on a thread of its own."""

    def __init__(self) -> None:
        self.maker, self.gate, self.lost = ScriptedMaker(), Gate(), list[str]()
        self._is_taken = threading.Event()
        self.pace(hold=True)
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        assert self._is_taken.wait(PATIENCE_S)

    def pace(self, *, hold: bool) -> None:
        self.gate.hear(Pace(hold=hold).to_line().encode())

    def end(self) -> None:
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()

    def _groups(self) -> Iterator[tuple[Task, ...]]:
        yield from tasks_of(plan_of("a", "b"))
        self._is_taken.set()

    def _run(self) -> None:
        schedule = Schedule(
            self.maker,
            emit=lambda _: None,
            lost=lambda: self.lost[0] if self.lost else None,
            abandon=lambda: None,
            retries=0,
            gate=self.gate,
        )
        schedule.run(self._groups(), concurrency=3)


def test_no_attempt_begins_while_the_driver_says_hold_and_all_do_once_it_does_not() -> None:
    held = Held()
    assert held.maker.made == []

    held.pace(hold=False)
    held.end()

    assert sorted(case_id for case_id, *_ in held.maker.made) == ["a", "b"]


def test_what_is_lost_while_the_driver_says_hold_is_skipped_at_once() -> None:
    held = Held()

    held.lost.append("the suite's time was over")
    held.end()

    assert held.maker.made == []
    assert sorted(held.maker.skipped) == [("a", "the suite's time was over"), ("b", "the suite's time was over")]


def test_a_thread_that_fails_lets_none_wait_that_the_driver_told_to_hold() -> None:
    gate, maker = Gate(), ScriptedMaker()

    def emit(_: RunnerAttempt) -> None:
        gate.hear(Pace(hold=True).to_line().encode())
        raise BrokenPipeError

    schedule = Schedule(maker, emit=emit, lost=lambda: None, abandon=lambda: None, retries=0, gate=gate)

    with pytest.raises(BrokenPipeError):
        schedule.run(tasks_of(plan_of("a", "b", "c", "d")), concurrency=2)
    assert len(maker.made) <= 2


def last(case_id: str, repeat: int, attempt: int, outcome_class: OutcomeClass | None = None) -> LastTry:
    return LastTry(case_id=case_id, repeat=repeat, attempt=attempt, outcome_class=outcome_class)


def gone_on_with(plan: Plan, *finished: LastTry, retries: int = 0) -> tuple[Plan, list[tuple[Task, ...]]]:
    limits = plan.conditions.limits.model_copy(update={"infrastructure_retries": retries})
    plan = plan.model_copy(update={"conditions": plan.conditions.model_copy(update={"limits": limits})})
    suite = Cases({case.case_id: case_of(id=case.case_id) for case in plan.cases})
    return plan, list(plan_tasks(plan, suite, finished))  # type: ignore[arg-type]


def test_finished_repeats_are_not_made_again_and_the_others_keep_their_numbers() -> None:
    plan, tasks = gone_on_with(plan_of("a", "b", repeats=2), last("a", 1, 1), last("b", 2, 2), last("a", 2, 2))
    assert [(task.case.id, task.attempt, task.repeat) for (task,) in tasks] == [("b", 1, 1)]
    plan, groups = gone_on_with(plan_of("a", "b", repeats=2, select="header"), last("a", 1, 1))
    assert [[task.attempt for task in group] for group in groups] == [[2], [1, 2]]
    assert plan.agent.select == "header"


@pytest.mark.parametrize(
    ("attempt", "outcome_class", "retries", "made"),
    [
        (1, OutcomeClass.INFRASTRUCTURE, 0, []),
        (1, OutcomeClass.INFRASTRUCTURE, 2, [(3, 1), (5, 3)]),
        (3, OutcomeClass.PROVIDER, 2, [(5, 3)]),
        (5, OutcomeClass.PROVIDER, 2, []),
        (1, OutcomeClass.AGENT_ERROR, 2, []),
        (1, OutcomeClass.NOT_RUN, 0, [(3, 1)]),
        (1, OutcomeClass.JUDGE, 2, []),
    ],
)
def test_the_tries_of_a_repeat_go_on_where_a_kill_cut_them_off(
    attempt: int, outcome_class: OutcomeClass, retries: int, made: list[tuple[int, int]]
) -> None:
    before = last("a", 1, attempt, outcome_class)
    plan, tasks = gone_on_with(plan_of("a", repeats=2), before, last("a", 2, 2), retries=retries)
    maker = ScriptedMaker(classes={"a": [OutcomeClass.INFRASTRUCTURE] * 9})
    schedule = Schedule(maker, emit=lambda _: None, lost=lambda: None, abandon=lambda: None, retries=retries)
    schedule.run(tasks, concurrency=1)
    assert [(number, retry_of) for _, number, _, retry_of in maker.made] == made
    assert plan.cases[0].repeats == 2
