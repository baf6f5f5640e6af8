"""Attempts at docker-agent sessions as sessions again: the one source of sessions.json and sessions.db."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from contracts.attempt import AttemptRecord, TrajectoryCall
from contracts.plan import Plan, PlannedCase
from contracts.record import Json
from contracts.suite.case import Case
from ledger.attempts_file import AttemptIndex
from ledger.capture import captured_text
from ledger.session_verdict import eval_result


@dataclass(frozen=True)
class SessionRun:
    """A run over sessions: a pure function of its plan, its attempts as they were written, and its sessions."""

    plan: Plan
    index: AttemptIndex
    """Of the attempts; scanned."""
    cases: Mapping[str, Case]
    """The sessions of the suite, as it is kept beside the attempts, by their ids."""

    def planned(self) -> Iterator[tuple[PlannedCase, list[AttemptRecord]]]:
        """The planned sessions with their attempts, in the order of the plan."""
        planned = [case for case in self.plan.cases if case.case_id in self.cases]
        yield from zip(planned, self.index.by_case(case.case_id for case in planned), strict=True)

    def sessions(self) -> Iterator[dict[str, Json]]:
        """One session for each attempt, retries among them, in docker-agent's shape."""
        for planned, attempts in self.planned():
            for attempt in sorted(attempts, key=lambda one: one.attempt):
                yield self._session(planned, attempt)

    def _session(self, planned: PlannedCase, attempt: AttemptRecord) -> dict[str, Json]:
        case, usage = self.cases[planned.case_id], attempt.usage
        number = f" #{attempt.repeat}" if planned.repeats > 1 else ""
        return {
            "id": f"{self.plan.run_id}/{planned.case_id}/{attempt.attempt}",
            "title": planned.title + number,
            "evals": _evals(case),
            "eval_result": eval_result(attempt),
            "messages": [{"message": message} for message in _messages(case, attempt, agent=self.plan.agent.name)],
            "created_at": attempt.started_at,
            "tools_approved": True,
            "non_interactive": True,
            "hide_tool_results": False,
            "SendUserMessage": True,
            "max_iterations": 0,
            "starred": False,
            "input_tokens": usage.input_tokens or 0,
            "output_tokens": usage.output_tokens or 0,
            "cost": usage.cost_usd or 0.0,
        }


def _evals(case: Case) -> dict[str, Json]:
    expect = case.expect
    given = {
        "working_dir": case.working_dir,
        "size": expect.size,
        "setup": case.setup,
        "image": case.image,
        "assertions": [one.model_dump(mode="json", exclude_unset=True) for one in expect.assertions],
    }
    return {"relevance": list(expect.relevance), **{key: value for key, value in given.items() if value}}


def _messages(case: Case, attempt: AttemptRecord, *, agent: str) -> Iterator[dict[str, Json]]:
    """What the user said, then the calls, then the texts: how they took turns is not part of an attempt's record."""
    at = {"created_at": attempt.started_at}
    for message in case.messages:
        if message.content:  # else it is a session that is not kept
            # the suite's own words, so plain at every level, but bounded like all that is kept
            yield _said("", {"role": "user", "content": captured_text(message.content, level="payloads"), **at})
    for number, call in enumerate((call for call in attempt.trajectory if call.counts), start=1):
        call_id = f"call_{number}"
        yield _said(agent, {"role": "assistant", "content": "", "tool_calls": [_tool_call(call_id, call)], **at})
        yield _said(agent, {"role": "tool", "content": call.result or "", "tool_call_id": call_id, **at})
    for text in attempt.texts:
        yield _said(agent, {"role": "assistant", "content": text, **at})


def _said(agent: str, chat: dict[str, Json]) -> dict[str, Json]:
    """A message under both names that docker-agent has had for its agent."""
    return {"agent_name": agent, "agentName": agent, "message": chat}


def _tool_call(call_id: str, call: TrajectoryCall) -> dict[str, Json]:
    arguments = "" if call.arguments is None else json.dumps(call.arguments, ensure_ascii=False)
    return {"id": call_id, "type": "function", "function": {"name": call.tool, "arguments": arguments}}
