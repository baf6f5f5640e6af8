"""Which rules of a scripted model can never answer, because an earlier one takes everything that they would.

The first rule whose `when` holds answers. So a rule is dead when an earlier one asks for no more than it does: each
part of the earlier `when` is in the later one too, with the same value. Of two regular expressions it is known that
the earlier asks for no more when both are the same, or when both are plain words and the later contain the earlier.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from contracts.suite.scripted_model import Rule, When

_Key = tuple[str | int | None, ...]

_SPECIAL = re.compile(r"[\\.^$*+?{}\[\]|()]")


def never_reached(rules: Sequence[Rule]) -> Iterator[tuple[int, int]]:
    """The places of the rules that can never answer, each with that of the first earlier rule that answers instead."""
    earlier: dict[_Key, dict[str | None, int]] = {}
    for index, rule in enumerate(rules):
        key, text = _key(rule.when), rule.when.text
        no_more = product(*(dict.fromkeys((part, None)) for part in key))
        first = min((place for weaker in no_more for place in _takers(earlier.get(weaker, {}), text)), default=None)
        if first is None:
            earlier.setdefault(key, {})[text] = index
        else:
            yield index, first  # what it would take goes to that one too, so it need not be looked at again


def _key(when: When) -> _Key:
    return (when.case, when.prompt, when.turn, when.last_tool, when.last_status)


def _takers(earlier: Mapping[str | None, int], text: str | None) -> Iterator[int]:
    """The places of the expressions that are found in each text in which the later one is."""
    yield from (earlier[other] for other in (None, text) if other in earlier)
    if text is not None and not _SPECIAL.search(text):
        yield from (place for other, place in earlier.items() if other and other in text and not _SPECIAL.search(other))
