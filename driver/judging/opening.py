"""The judge's model behind its client library, which only a run with something to judge loads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from contracts.errors import ErrorCode, LabError
from contracts.suite.case import Case
from driver.judging import settings
from driver.judging.attempts import Judging
from driver.judging.judge import Judge
from driver.judging.plan import JudgePlan
from driver.judging.prompt import DESCRIPTION, SCHEMA, SYSTEM, TOOL
from providers.client import Client
from providers.conversation import ProviderError, Reply, Sampling, ToolOffer

_OFFER = ToolOffer(name=TOOL, description=DESCRIPTION, parameters=SCHEMA, strict=True)


class JudgeModel:
    """One request a time to the judge's model (`driver.judging.judge.AsksJudge`)."""

    def __init__(self, client: Client, *, seconds: float) -> None:
        self._client = client
        self._seconds = seconds

    def ask(self, text: str, *, seed: int, most_s: float) -> Reply:
        """Its reply to a text of its own; raises ProviderError."""
        sampling = Sampling(temperature=settings.TEMPERATURE, seed=seed, max_output_tokens=settings.MAX_OUTPUT_TOKENS)
        session = self._client.begin(system=SYSTEM, tools=[_OFFER], sampling=sampling, must_call=True)
        session.tell(text)
        return session.ask(seconds=min(self._seconds, most_s))


@contextmanager
def judging(plan: JudgePlan, cases: Mapping[str, Case]) -> Iterator[Judging]:
    """Within: attempts can be judged. After: no request is under way.

    Raises:
        LabError: UNKNOWN_MODEL where the client library takes no such model.

    """
    try:
        client = Client(plan.endpoint, key=plan.key)
    except ProviderError as trouble:
        raise LabError(
            ErrorCode.UNKNOWN_MODEL, f'the judge "{plan.endpoint.model}" cannot be asked', cause=trouble.detail
        ) from trouble
    open_judging = Judging(Judge(JudgeModel(client, seconds=plan.seconds), votes=plan.votes), cases)
    try:
        yield open_judging
    finally:
        open_judging.stop()
        client.close()
        open_judging.close()
