"""The rules of a scripted model, compiled: which one answers, and what the nearest one misses.

The first rule whose `when` holds answers. Where none does, the nearest is the one with the fewest parts that do not
hold, of equally many the one with the most that do, and then the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from contracts.suite.scripted_model import Reply, Rule
from fixture_api.answers import Answer, json_bytes
from fixture_api.completions import choice
from fixture_api.conversation import Conversation
from fixture_api.model_errors import planned_error
from fixture_api.patterns import Pattern, compile_pattern

_PARTS = ("case", "prompt", "turn", "lastTool", "lastStatus")
_MAX_SHOWN = 200

_Part = str | int | None


@dataclass(frozen=True, slots=True)
class Situation:
    """What a rule may look at beside the conversation: facts of the attempt, not of the request."""

    case: str
    prompt: str | None
    last_status: int | None
    """The HTTP status last served to a tool call of the attempt."""


class Facts(NamedTuple):
    """All that rules are compared with."""

    parts: tuple[_Part, ...]
    """In the order of _PARTS."""
    text: str


class CompiledRule(NamedTuple):
    """A rule, ready to be compared."""

    parts: tuple[_Part, ...]
    """What is expected, in the order of _PARTS; None: anything."""
    text: Pattern | None
    reply: Reply
    error: Answer | None
    """The planned error, ready to be sent."""


def compile_rule(rule: Rule) -> CompiledRule:
    """Raises ValueError for a `text` that is no regular expression and for a reply that cannot be sent."""
    when = rule.when
    text = None if when.text is None else compile_pattern(when.text)
    json_bytes(choice(rule.reply, turn=1))  # what could not be sent is found now
    planned = planned_error(rule.reply.error) if rule.reply.error else None
    parts = (when.case, when.prompt, when.turn, when.last_tool, when.last_status)
    return CompiledRule(parts, text, rule.reply, planned)


def facts_of(conversation: Conversation, situation: Situation) -> Facts:
    """What the rules look at; the last status counts only where a tool's result is the last message."""
    last_status = situation.last_status if conversation.last_tool is not None else None
    parts = (situation.case, situation.prompt, conversation.turn, conversation.last_tool, last_status)
    return Facts(parts, conversation.text)


def first_that_holds(rules: Sequence[CompiledRule], facts: Facts) -> int | None:
    """The place of the rule that answers."""
    return next((index for index, rule in enumerate(rules) if _holds(rule, facts)), None)


def nearest(rules: Sequence[CompiledRule], facts: Facts) -> tuple[int, list[str]]:
    """The place of the nearest rule and everything that it misses, each as a sentence."""
    misses = [list(_misses(rule, facts)) for rule in rules]
    index = min(range(len(rules)), key=lambda at: (len(misses[at]), len(misses[at]) - _given(rules[at])))
    return index, misses[index]


def _holds(rule: CompiledRule, facts: Facts) -> bool:
    for expected, found in zip(rule.parts, facts.parts, strict=True):
        if expected is not None and expected != found:
            return False
    return rule.text is None or rule.text.is_found_in(facts.text)


def _given(rule: CompiledRule) -> int:
    return sum(part is not None for part in (*rule.parts, rule.text))


def _misses(rule: CompiledRule, facts: Facts) -> Iterator[str]:
    for name, expected, found in zip(_PARTS, rule.parts, facts.parts, strict=True):
        if expected is not None and expected != found:
            yield f"{name} is {'nothing' if found is None else str(found)[:_MAX_SHOWN]}, expected {expected}"
    if rule.text and not rule.text.is_found_in(facts.text):
        yield f"text {rule.text.written!r} is not found in the last message"
