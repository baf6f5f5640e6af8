"""The outcome table of CONTRACT §4: for each row and adapter an agent's deed, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.fakes.docker_agent_streams import begins, called, event
from tests.fakes.docker_agent_suites import FAILED, SAID
from tests.fakes.outcome_table.combinations import ADAPTERS
from tests.fakes.outcome_table.deeds import (
    LOOKED_UP,
    RIGHT,
    WAITS,
    Deed,
    chat,
    command,
    docker_agent,
    http,
    judged,
    set_up,
    talking,
)

PLAIN, WORLD_LOST, TIME_OVER, UNSTARTABLE, FULL_DISK = "plain", "world-lost", "time-over", "unstartable", "full-disk"
"""What a run meets: nothing, its fixture API killed, its suite's time over, a docker-agent that cannot be started,
containers in which no file can be made."""


@dataclass(frozen=True)
class Row:
    """One line of the table, or one of the ways into it."""

    what: str
    outcome: str
    outcome_class: str | None
    deeds: Mapping[str, Deed | str]
    """By adapter; a text says why the row is not for it."""
    during: str = PLAIN
    needs_container: str | None = None
    """Why it is for containers of attempts only."""
    is_session: bool = False
    """The case is a docker-agent session."""


def nobody(why: str) -> dict[str, Deed | str]:
    """A row that no adapter can be brought to."""
    return dict.fromkeys(ADAPTERS, why)


SCRIPTED = "the lab's own loop says what it does itself, and counts it"
ONLY_SAYS_SO = "its event says that it was the provider, and not what the provider did"
SHORT: dict[str, Any] = {"limits": {"seconds": 1}}
CHEAP: dict[str, Any] = {"limits": {"cost_usd": 0.1}}
NEEDS_FAULTS = "needs --profile fault, which no run of the table has: tests/faults brings the proxy"
SET_UP = "attempts have no containers of their own, and a case with a setup is refused before it starts"
ON_DISK = (
    "its folder lies where those of all attempts do, on a disk that no test fills; where no evidence can be written "
    "there is no attempt to grade: the run ends with write-failed, unsealed (tests/unit/test_ledger_run_directory.py)"
)
HANGS = {"act": "hang"}
BREAKS = called("lookup", {"id": "broken"})


def _provider_says(error: str) -> dict[str, Any]:
    return {"stderr": f"{FAILED}{error}\n", "exit_code": 1}


ROWS = (
    Row("checks all hold", "pass", None, RIGHT),
    Row(
        "a check does not hold",
        "fail",
        None,
        {
            "chat": chat("talk", expect={"toolCalls": [{"name": "lookup"}]}),
            "command": command("says-nothing"),
            "http": http("says-nothing"),
            "docker-agent": docker_agent("is-wrong", *SAID, expect={"toolCalls": [{"name": "pay"}]}),
        },
    ),
    Row(
        "it fails by itself",
        "fail",
        "agent-error",
        {
            "chat": chat("fail"),
            "command": command("crashes"),
            "http": http("answers-500"),
            "docker-agent": docker_agent("exits", *SAID, ends={"stderr": "Error: no such tool\n", "exit_code": 1}),
        },
    ),
    Row(
        "it breaks the protocol",
        "fail",
        "agent-error",
        {
            "chat": SCRIPTED,
            "command": command("breaks-the-protocol"),
            "http": http("breaks-the-protocol"),
            "docker-agent": docker_agent("breaks", *SAID, ends={"more": '{"type":"tool_call"}\n'}),
        },
    ),
    Row(
        "it is gone in the middle",
        "fail",
        "agent-error",
        {
            "chat": SCRIPTED,
            "command": command("dies-of-a-signal"),
            "http": http("is-cut-off-in-a-chunk"),
            "docker-agent": docker_agent("is-killed", *SAID, ends={"act": "kill"}),
        },
    ),
    Row(
        "it reports an error",
        "fail",
        "agent-error",
        {
            "chat": SCRIPTED,
            "command": command("reports-an-error"),
            "http": http("reports-an-error"),
            "docker-agent": docker_agent("reports", *SAID, event("error", error="private"), ends={"exit_code": 1}),
        },
    ),
    Row(
        "past its time",
        "fail",
        "limit",
        {
            "chat": chat("wait", **SHORT),
            "command": command("hangs", **SHORT),
            "http": http("hangs", **SHORT),
            "docker-agent": docker_agent("hangs", *SAID, ends=HANGS, **SHORT),
        },
    ),
    Row(
        "past its tool calls",
        "fail",
        "limit",
        {
            "chat": chat("call", limits={"tool_calls": 2}),
            "command": command("loops-on-tools"),
            "http": http("loops-on-tools"),
            "docker-agent": docker_agent("calls", *LOOKED_UP, *LOOKED_UP, ends=HANGS, limits={"tool_calls": 1}),
        },
    ),
    Row(
        "past its model calls",
        "fail",
        "limit",
        {
            "chat": chat("loop"),
            "command": command("loops-on-the-model", agent="modelled"),
            "http": http("loops-on-the-model", agent="served-modelled"),
            "docker-agent": docker_agent("talks", *talking(6), ends=HANGS),
        },
    ),
    Row(
        "past its cost",
        "fail",
        "limit",
        {
            "chat": "a scripted model costs nothing, and no endpoint but a provider's own has a list of prices",
            "command": command("spends-too-much", **CHEAP),
            "http": http("spends-too-much", **CHEAP),
            "docker-agent": docker_agent("spends", *SAID, ends=HANGS, **CHEAP),
        },
    ),
    Row(
        "past its output",
        "fail",
        "limit",
        {
            "chat": chat("flood"),
            "command": command("floods"),
            "http": http("floods"),
            "docker-agent": docker_agent("floods", *SAID, ends={"act": "flood"}),
        },
    ),
    Row(
        "it cannot be started",
        "unknown",
        "infrastructure",
        {
            "chat": "no program of it is started",
            "command": command("cannot-be-started", agent="missing"),
            "http": "one process for the whole run: exit 4 agent-not-reachable before any attempt",
            "docker-agent": "its own row below: a program that is not there at all is exit 4 before any attempt",
        },
    ),
    Row(
        "docker-agent cannot be started",
        "unknown",
        "infrastructure",
        {
            **nobody("`it cannot be started` is its row"),
            "docker-agent": docker_agent("cannot-be-started", *SAID),
        },
        during=UNSTARTABLE,
    ),
    Row("the fixture API died under it", "unknown", "infrastructure", WAITS, during=WORLD_LOST),
    Row("its stack was lost before it started", "unknown", "not-run", RIGHT, during=WORLD_LOST),
    Row("the suite's time was over under it", "unknown", "infrastructure", WAITS, during=TIME_OVER),
    Row("the suite's time was over before it started", "unknown", "not-run", RIGHT, during=TIME_OVER),
    Row("the fault proxy died", "unknown", "infrastructure", nobody(NEEDS_FAULTS)),
    Row("a planned fault could not be applied", "unknown", "infrastructure", nobody(NEEDS_FAULTS)),
    Row("a planned fault was never experienced", "unknown", "fault-not-exposed", nobody(NEEDS_FAULTS)),
    Row(
        "the disk is full",
        "unknown",
        "infrastructure",
        {
            "chat": "it has no folder",
            "command": RIGHT["command"],
            "http": "its folder is made once, for the whole run: exit 4 before any attempt",
            "docker-agent": RIGHT["docker-agent"],
        },
        during=FULL_DISK,
        needs_container=ON_DISK,
    ),
    Row(
        "the provider refused the credentials",
        "unknown",
        "provider",
        {
            "chat": chat("denied", agent="outside"),
            "command": command("blames-its-provider"),
            "http": http("blames-its-provider"),
            "docker-agent": docker_agent("denied", *begins("go"), ends=_provider_says("HTTP 401: no")),
        },
    ),
    Row(
        "the provider had too many requests",
        "unknown",
        "provider",
        {
            "chat": chat("busy", agent="outside"),
            "command": ONLY_SAYS_SO,
            "http": ONLY_SAYS_SO,
            "docker-agent": docker_agent("busy", *begins("go"), ends=_provider_says("HTTP 429: later")),
        },
    ),
    Row(
        "the provider failed",
        "unknown",
        "provider",
        {
            "chat": chat("broken", agent="outside"),
            "command": ONLY_SAYS_SO,
            "http": ONLY_SAYS_SO,
            "docker-agent": docker_agent("broken", *begins("go"), ends=_provider_says("HTTP 500: oh")),
        },
    ),
    Row(
        "the provider could not be reached",
        "unknown",
        "provider",
        {
            "chat": chat("cut", agent="outside"),
            "command": ONLY_SAYS_SO,
            "http": ONLY_SAYS_SO,
            "docker-agent": docker_agent(
                "cut", *begins("go"), ends=_provider_says('Post "http://x": dial tcp: connection refused')
            ),
        },
    ),
    Row(
        "it blames a provider, and its model is the lab's own",
        "fail",
        "agent-error",
        {
            "chat": "the lab's own loop blames nobody; its model that fails is `it fails by itself`",
            "command": command("blames-its-provider", agent="modelled"),
            "http": http("blames-its-provider", agent="served-modelled"),
            "docker-agent": docker_agent("blames", *SAID, agent="scripted-desk", ends=_provider_says("HTTP 500: oh")),
        },
    ),
    Row("its setup failed", "unknown", "setup", set_up("echo not there >&2; exit 9"), needs_container=SET_UP),
    Row("its setup ran out of time", "unknown", "setup", set_up("sleep 60"), needs_container=SET_UP),
    Row("the judge says that it holds", "pass", None, judged("it is done")),
    Row("the judge says that it does not hold", "fail", None, judged("it is polite")),
    Row("the judge cannot be reached", "unknown", "judge", judged("nobody answers")),
    Row("the judge's answer is no verdict", "unknown", "judge", judged("it rambles")),
    Row("the judge's votes disagree", "unknown", "judge", judged("they disagree")),
    Row(
        "an effect of the suite could not apply",
        "unknown",
        "suite",
        {
            "chat": chat("broken"),
            "command": command("meets-a-broken-suite"),
            "http": http("meets-a-broken-suite"),
            "docker-agent": docker_agent("meets-a-broken-suite", *BREAKS, *SAID, agent="bound", ends={"act": "mcp"}),
        },
    ),
    Row("a session that expects nothing", "unknown", "no-expectation", RIGHT, is_session=True),
)
