"""The chat loop's model outside: whose failure it is when its service gives no reply, and what the loop is told."""

from __future__ import annotations

from typing import cast

import pytest

from contracts.suite.settings import Limits
from providers.conversation import MAX_REPLY_BYTES, ProviderError, Session
from runner.agents.chat_model import ModelTroubleError
from runner.agents.interface import EndKind
from runner.agents.provider_failures import STATUSES
from runner.agents.provider_model import ProviderModelSession


class Failing:
    """A conversation that never gets a reply."""

    def __init__(self, trouble: ProviderError) -> None:
        self.trouble = trouble

    def ask(self, *, seconds: float) -> None:
        raise self.trouble


def ending_of(status: int | None) -> EndKind:
    trouble = ProviderError("the model's service did it", detail="in its words", status=status)
    with pytest.raises(ModelTroubleError) as told:
        ProviderModelSession(cast("Session", Failing(trouble)), Limits()).ask(seconds=1)
    assert (told.value.ending.reason, told.value.detail) == ("the model's service did it", "in its words")
    return told.value.ending.kind


@pytest.mark.parametrize("status", [400, 402, 404, 408, 409, 413, 415, 422])
def test_a_request_that_the_service_finds_wrong_is_the_agents_doing(status: int) -> None:
    assert ending_of(status) is EndKind.AGENT_ERROR


@pytest.mark.parametrize("status", [*STATUSES, 500, 502, 503, 504, 529])
def test_refusals_and_errors_of_the_service_are_the_providers(status: int) -> None:
    assert ending_of(status) is EndKind.PROVIDER


@pytest.mark.parametrize(("most", "kind"), [(MAX_REPLY_BYTES, EndKind.LIMIT), (MAX_REPLY_BYTES + 1, EndKind.PROVIDER)])
def test_a_reply_that_was_cut_off_is_past_a_limit_that_is_no_larger(most: int, kind: EndKind) -> None:
    trouble = ProviderError("the model's service answered more", is_too_long=True)
    with pytest.raises(ModelTroubleError) as told:
        ProviderModelSession(cast("Session", Failing(trouble)), Limits(output_bytes=most)).ask(seconds=1)
    assert told.value.ending.kind is kind


def test_no_answer_and_no_reply_are_the_providers() -> None:
    assert ending_of(None) is EndKind.PROVIDER
