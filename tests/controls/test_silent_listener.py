"""The one request without credentials, to listeners that never come to an answer: the run ends, it does not wait."""

from __future__ import annotations

import pytest

from contracts.errors import ErrorCode, LabError
from contracts.exits import Exit
from runner.agents.served_attempt import Endpoint
from runner.cuttable_calls import Address
from runner.serving_agents import Place, refuse_open_listener
from tests.fakes.socket_server import Deed, cut, drip, reply, silence, socket_server


def ask(deed: Deed, *, seconds: float) -> str:
    with socket_server([deed, silence]) as server:  # a request may come in two pieces
        refuse_open_listener(Endpoint(Address.of(server.url)), Place(server.url), seconds=seconds)
        return server.url


@pytest.mark.parametrize("deed", [silence, drip(every_s=0.01, part="head")])
def test_a_listener_that_does_not_answer_in_time_is_not_reachable(deed: Deed) -> None:
    with pytest.raises(LabError) as refused:
        ask(deed, seconds=0.2)

    assert (refused.value.code, refused.value.exit_code) == (ErrorCode.AGENT_UNREACHABLE, Exit.ENVIRONMENT)
    assert "http://127.0.0.1:" in str(refused.value)
    assert "no answer within 0.2 s" in str(refused.value.found[0])


def test_a_listener_that_cuts_is_told_apart_from_one_that_is_slow() -> None:
    with pytest.raises(LabError) as refused:
        ask(cut, seconds=30)

    assert (refused.value.code, refused.value.found) == (ErrorCode.AGENT_UNREACHABLE, ())


def test_only_a_refusal_lets_the_run_begin() -> None:
    ask(reply(status=401), seconds=30)
    with pytest.raises(LabError) as refused:
        ask(reply(status=200), seconds=30)
    assert refused.value.code is ErrorCode.LISTENER_OPEN
