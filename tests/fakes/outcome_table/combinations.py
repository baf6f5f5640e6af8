"""Adapter, backend and isolation: the ways in which an attempt can be made, and why some are none."""

from __future__ import annotations

import itertools
from typing import NamedTuple

ADAPTERS = ("chat", "command", "http", "docker-agent")
BACKENDS = ("process", "compose")
ISOLATIONS = ("shared", "container")


class Combination(NamedTuple):
    """One way in which an attempt is made."""

    adapter: str
    backend: str
    isolation: str

    def __str__(self) -> str:
        """As the id of a test."""
        return "-".join(self)


class Refusal(NamedTuple):
    """How labctl refuses a combination before anything starts."""

    exit_code: int
    code: str
    why: str


COMBINATIONS = tuple(Combination(*parts) for parts in itertools.product(ADAPTERS, BACKENDS, ISOLATIONS))


def refusal_of(combination: Combination) -> Refusal | None:
    """None where it can be run."""
    if combination.isolation == "shared":
        return None
    if combination.adapter in ("chat", "http"):
        return Refusal(2, "bad-usage", f"a {combination.adapter} agent is no process of an attempt")
    if combination.backend == "process":
        return Refusal(4, "isolation-missing", "the process backend knows shared isolation only")
    return None


def runnable(backend: str) -> tuple[Combination, ...]:
    """Those of a backend that can be run."""
    return tuple(one for one in COMBINATIONS if one.backend == backend and refusal_of(one) is None)


def refused(backend: str) -> tuple[Combination, ...]:
    """Those of a backend that cannot."""
    return tuple(one for one in COMBINATIONS if one.backend == backend and refusal_of(one) is not None)
