"""Which judge a run has: the flags over the suite's, and its key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from contracts.errors import ErrorCode, Found, LabError
from contracts.model_endpoint import PROVIDERS, SCRIPTED, Endpoint
from contracts.record import Json
from contracts.suite.case import Case
from contracts.suite.suite import Suite
from driver.judging import settings
from driver.judging.prompt import prompt_digest
from driver.model_access import require_key
from driver.request import RunRequest

_HOW = "--judge-model PROVIDER/MODEL, or judge_model in suite.toml"


@dataclass(frozen=True)
class JudgePlan:
    """A judge that will be asked."""

    endpoint: Endpoint
    key: str | None
    votes: int
    seconds: float
    """Of one request."""

    @property
    def secrets(self) -> dict[str, str]:
        """Its key by a name, for the redaction."""
        return {f"judge:{self.endpoint.key_names[0]}": self.key} if self.key else {}

    def conditions(self) -> dict[str, Json]:
        """What the manifest says of it, as fields of `contracts.plan.Conditions`."""
        return {
            "judge_model": self.endpoint.model,
            "judge_prompt_digest": prompt_digest(),
            "judge_votes": self.votes,
            "judge_settings": {
                **({"url": self.endpoint.url} if self.endpoint.url else {}),
                "temperature": settings.TEMPERATURE,
                "maxOutputTokens": settings.MAX_OUTPUT_TOKENS,
                "seconds": self.seconds,
                "tries": settings.TRIES,
                "textBytes": settings.TEXT_BYTES,
                "transcriptBytes": settings.TRANSCRIPT_BYTES,
            },
        }


def judge_endpoint(suite: Suite, *, model: str, is_flag: bool) -> Endpoint:
    """The judge as it is asked; `is_flag` says where its name comes from. Raises LabError UNKNOWN_MODEL."""
    endpoint = Endpoint(model, url=suite.settings.judge_url)
    provider, _, name = endpoint.model.partition("/")
    if provider and name and provider != SCRIPTED and endpoint.is_known:
        return endpoint
    where = {"place": "--judge-model"} if is_flag else {"file": suite.shown("suite.toml"), "place": "judge_model"}
    raise LabError(
        ErrorCode.UNKNOWN_MODEL,
        f'the judge "{endpoint.model}" is no model that can be asked',
        found=[
            Found("a scripted model answers agents only" if provider == SCRIPTED else repr(endpoint.model), **where)
        ],
        expected=f"PROVIDER/MODEL with one of {', '.join(PROVIDERS)}, or any name with a judge_url",
        next_step="judge_url in suite.toml: any endpoint that speaks OpenAI's protocol",
    )


def plan_judge(
    suite: Suite, cases: Iterable[Case], *, request: RunRequest, values: Mapping[str, str], seconds: float
) -> JudgePlan | None:
    """The judge of a run, or None where no selected case has a statement for it, or none is named.

    `values` are the variables that may hold a key.

    Raises:
        LabError: UNKNOWN_MODEL, KEY_MISSING.

    """
    chosen = request.judge_model or suite.settings.judge_model
    if chosen is None or not any(case.expect.relevance for case in cases):
        return None
    endpoint = judge_endpoint(suite, model=chosen, is_flag=request.judge_model is not None)
    require_key(endpoint, values=values, asker="the relevance judge", flag="export {name}=…, or --env-from-file FILE")
    return JudgePlan(endpoint=endpoint, key=endpoint.key(values), votes=request.judge_votes, seconds=seconds)


def missing_judge(cases: Iterable[Case]) -> str:
    """What to tell a person when statements will stay unknown."""
    count = sum(bool(case.expect.relevance) for case in cases)
    return f"{count} of the selected cases expect relevance, and no judge is named: they stay unknown; next: {_HOW}"
