"""Asks the judge about one statement: votes, tries and what they cost."""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from contracts.attempt import JudgeVote
from contracts.outcome import Outcome
from driver import clock
from driver.judging.answers import answer_of
from driver.judging.prompt import question
from driver.judging.settings import WAITS_S
from providers.conversation import ProviderError, Reply

N = TypeVar("N", int, float)

_TOO_LATE = "the suite's time was over before the judge had told"


class AsksJudge(Protocol):
    """One request to the judge's model; safe for many threads (`driver.judging.opening.JudgeModel`)."""

    def ask(self, text: str, *, seed: int, most_s: float) -> Reply:
        """Its reply, within its own limit and `most_s`; raises ProviderError."""
        ...


@dataclass(frozen=True)
class Told:
    """What the votes on a statement come to."""

    outcome: Outcome
    reason: str
    """The judge's own text where it told, else ours."""
    votes: tuple[JudgeVote, ...]


class Judge:
    """Judges statements, from many threads at once; no trouble with the judge ever holds a statement to be true."""

    def __init__(self, model: AsksJudge, *, votes: int, waits_s: Sequence[float] = WAITS_S) -> None:
        self._model = model
        self._votes = votes
        self._waits_s = waits_s
        self._over = threading.Event()
        self._until_s = math.inf

    def end_in(self, seconds: float) -> None:
        """After so many seconds nobody is asked any more: what is not told then is unknown."""
        self._until_s = clock.monotonic_s() + seconds

    def tell(self, statement: str, transcript: str) -> Told:
        """The verdict on a statement; voting ends as soon as the votes cannot agree any more."""
        text = question(statement, transcript)
        votes: list[JudgeVote] = []
        for number in range(self._votes):
            votes.append(self._vote(text, seed=number))
            if votes[-1].outcome is Outcome.UNKNOWN or votes[-1].outcome is not votes[0].outcome:
                break
        return _told(tuple(votes))

    def stop(self) -> None:
        """Try nothing again."""
        self._over.set()

    def _vote(self, text: str, *, seed: int) -> JudgeVote:
        requests = 0
        for wait_s in (*self._waits_s, None):
            left_s = self._until_s - clock.monotonic_s()
            if left_s <= 0:
                return JudgeVote(outcome=Outcome.UNKNOWN, trouble=_TOO_LATE, requests=requests)
            requests += 1
            try:
                reply = self._model.ask(text, seed=seed, most_s=left_s)
            except ProviderError as trouble:
                if wait_s is None or not trouble.may_pass or self._over.wait(min(wait_s, left_s)):
                    return JudgeVote(outcome=Outcome.UNKNOWN, trouble=f"the judge: {trouble}", requests=requests)
                continue
            answer = answer_of(reply)
            return JudgeVote(
                outcome=answer.outcome,
                reason=answer.reason,
                trouble=answer.trouble,
                requests=requests,
                input_tokens=reply.input_tokens,
                output_tokens=reply.output_tokens,
                cost_usd=reply.cost_usd,
            )
        raise AssertionError("the last try returns")


def _told(votes: tuple[JudgeVote, ...]) -> Told:
    last = votes[-1]
    if last.outcome is Outcome.UNKNOWN:
        tries = f" ({last.requests} tries)" if last.requests > 1 else ""
        return Told(Outcome.UNKNOWN, f"no verdict: {last.trouble}{tries}", votes)
    counts = Counter(vote.outcome.value for vote in votes)
    if len(counts) > 1:
        said = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))
        return Told(Outcome.UNKNOWN, f"no verdict: the votes disagree ({said})", votes)
    return Told(last.outcome, votes[0].reason or "", votes)
