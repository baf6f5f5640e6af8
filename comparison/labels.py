"""What the two sides of a comparison are called: by the first subject that differs, else by their run ids."""

from __future__ import annotations

from collections.abc import Callable, Collection

from comparison.differences import Differences
from comparison.sides import Side
from contracts.plan import Conditions
from contracts.record import Json

_SHOWN_DIGITS = 12


def labels_of(baseline: Side, candidate: Side, found: Differences) -> tuple[str, str]:
    """The labels of both sides; of equal ones each with the beginning of the digest that differs."""
    differing = {difference.key for difference in found.subject}
    for keys, label, content in _SUBJECTS:
        if differing.isdisjoint(keys):
            continue
        was, now = (label(side) for side in (baseline, candidate))
        if was == now:
            was, now = (f"{label(side) or 'none'}@{_short(content(side))}" for side in (baseline, candidate))
        if was != now:
            return was or "none", now or "none"
    return baseline.plan.run_id, candidate.plan.run_id


def _of_conditions(label: str, content: str) -> tuple[Callable[[Side], str | None], Callable[[Side], Json]]:
    def take(name: str) -> Callable[[Side], Json]:
        return lambda side: getattr(_conditions(side), name)

    return take(label), take(content)


def _conditions(side: Side) -> Conditions:
    return side.manifest.conditions


def _image(side: Side) -> str:
    images = side.manifest.images
    own = images.get("base") or images.get("agent")
    return "none" if own is None else _short(own.content_digest or own.digest)


def _commit(side: Side) -> str | None:
    source = side.manifest.source
    return None if source.commit is None else source.commit[:_SHOWN_DIGITS] + ("+changes" if source.dirty else "")


def _short(digest: Json) -> str:
    return "none" if digest is None else str(digest).removeprefix("sha256:")[:_SHOWN_DIGITS]


_Subject = tuple[Collection[str], Callable[[Side], str | None], Callable[[Side], Json]]
_SUBJECTS: tuple[_Subject, ...] = (
    ({"prompt"}, *_of_conditions("prompt_revision", "prompt_digest")),
    ({"model", "modelDigest", "provider"}, *_of_conditions("model", "model_digest")),
    ({"agent", "agentDigest", "adapter"}, *_of_conditions("agent", "agent_digest")),
    ({"policy"}, *_of_conditions("policy_revision", "policy_digest")),
    ({"toolSchema"}, *_of_conditions("tool_schema_revision", "tool_schema_digest")),
    ({"agentImage", "baseImage"}, _image, _image),
    ({"source"}, _commit, _commit),
)
"""In the order in which they name a comparison: their KEYs, their label, and what tells equal labels apart."""
