"""A stack without processes: the test says which lines its runner prints, and what goes wrong when."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from contracts.attempt import AttemptRecord, Check, CheckType
from contracts.canonical import digest_of_json
from contracts.lines import RunnerAttempt, RunnerFinished, RunnerReady, RunnerStarted
from contracts.outcome import Outcome
from contracts.plan import Backend, ImageIdentity, Plan, Program
from contracts.suite.suite import Suite
from driver.ports import EngineFacts, KeptContainer, LogLine, RunnerTalk, UserServices, World


def passing_attempt(plan: Plan, case_id: str) -> RunnerAttempt:
    """The line of an attempt of a planned case that passed without any call."""
    case = next(case for case in plan.cases if case.case_id == case_id)
    return RunnerAttempt(
        record=AttemptRecord(
            case_id=case_id,
            title=case.title,
            protected=case.protected,
            case_digest=case.case_digest,
            attempt=1,
            repeat=1,
            outcome=Outcome.PASS,
            checks=(Check(name="no unmatched requests", type=CheckType.UNMATCHED_REQUESTS, outcome=Outcome.PASS),),
            trajectory_digest=digest_of_json([]),
            tool_calls=0,
            texts=("a text that is longer than sixty-four bytes, so that the capture level shows in it",),
            started_at="2026-09-01T12:00:00.000Z",
            duration_ms=1,
        )
    )


def all_pass(plan: Plan) -> Iterator[str]:
    """What a runner prints when everything goes well."""
    yield RunnerReady(runner="fake").to_line()
    for case in plan.cases:
        yield RunnerStarted(case_id=case.case_id, attempt=1, repeat=1).to_line()
        yield passing_attempt(plan, case.case_id).to_line()
    yield RunnerFinished(attempts=len(plan.cases)).to_line()


@dataclass
class FakeStack:
    """Implements `driver.ports.Stack`; `torn_down` says that the context was left."""

    says: Callable[[Plan], Iterable[str]] = all_pass
    backend: Backend = "process"
    not_enforced: tuple[str, ...] = ()
    kept: Sequence[KeptContainer] = ()
    torn_down: bool = False
    teardown_error: Exception | None = None
    """Raised when the context is left."""
    worlds: list[World] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    """The lines that the runner was given."""
    asked_proxy_for: list[Sequence[str]] = field(default_factory=list)
    """The cases that need the fault proxy, as each run told them."""

    def user_services(self, suite: Suite, *, profiles: tuple[str, ...], env: Mapping[str, str]) -> UserServices:
        return UserServices()

    def preflight(
        self, *, needs_agent: bool, bases: Mapping[str, str] | None = None, profiles: Sequence[str] = ()
    ) -> dict[str, ImageIdentity]:
        return {}

    def fault_proxy(self, cases: Sequence[str]) -> Program | None:
        self.asked_proxy_for.append(cases)
        return None

    def facts(self) -> EngineFacts:
        return EngineFacts()

    @contextmanager
    def running(self, world: World, *, log: LogLine) -> Iterator[RunnerTalk]:
        self.worlds.append(world)
        log("eval-runner", "hello")
        try:
            yield RunnerTalk(lines=iter(self.says(world.plan)), tell=self.told.append)
        finally:
            self.torn_down = True
            if self.teardown_error is not None:
                raise self.teardown_error
