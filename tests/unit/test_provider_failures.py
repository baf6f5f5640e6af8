"""The one table that tells a provider's failure from the agent's own."""

from __future__ import annotations

import pytest

from runner.agents.provider_failures import NETWORK, STATUSES, provider_failure

FAILED = "Error: model failed: error receiving from stream: "


@pytest.mark.parametrize("status", [*STATUSES, 500, 502, 503, 504, 529, 599])
def test_refusals_of_a_provider_and_its_own_errors_are_its_failures(status: int) -> None:
    for line in (f"{FAILED}HTTP {status}: says so", f'{FAILED}POST "https://x/v1/chat": {status} Bad Thing {{}}'):
        said = provider_failure(line)
        assert said is not None
        assert str(status) in said


@pytest.mark.parametrize("status", [400, 402, 404, 408, 413, 422, 499, 600])
def test_a_request_that_was_wrong_is_the_agents_doing(status: int) -> None:
    assert provider_failure(f"{FAILED}HTTP {status}: connection refused, HTTP 500, i/o timeout") is None


@pytest.mark.parametrize("word", [word for word, _ in NETWORK])
def test_a_network_that_failed_is_the_providers_failure(word: str) -> None:
    assert provider_failure(f'{FAILED}Post "https://api.example/v1": dial tcp: {word.title()}') is not None


@pytest.mark.parametrize(
    "line",
    [
        "Error: all models failed: HTTP 503: busy",
        "Error: running agent: model failed: HTTP 503: busy",
        "Error: error receiving from stream: HTTP 503: busy",
    ],
)
def test_other_words_for_a_model_that_failed_count_too(line: str) -> None:
    assert provider_failure(line) == "failed (HTTP 503)"


@pytest.mark.parametrize(
    "line",
    [
        "Error: tool failed: HTTP 500",
        "Error: failed to read agent.yaml: connection refused",
        "model failed: HTTP 500",
        "WARN Error: model failed: HTTP 500",
        "Error: model failed: something else",
        "Error: HTTP 500 before it says model failed",
        "",
    ],
)
def test_nothing_else_is_a_provider_failure(line: str) -> None:
    assert provider_failure(line) is None
