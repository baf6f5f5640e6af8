"""Which parts of a suite have the wrong shape, so that no rule judges what was put there instead of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from contracts.suite.places import Path
from contracts.suite.problems import Document, Place, Problem

UNKNOWN = "\0unknown key"
"""Below an object with a key that nobody knows: what a rule reads for which such a key could have been meant."""


@dataclass
class _Paths:
    """The broken paths of one document, and all that are above them."""

    broken: set[Path] = field(default_factory=set)
    above: set[Path] = field(default_factory=set)


@dataclass
class Broken:
    """The broken parts of all files of a suite."""

    _paths: dict[Document, _Paths] = field(default_factory=lambda: defaultdict(_Paths))

    def add(self, document: Document, paths: Iterable[Path]) -> None:
        """Takes over the paths of what is broken in a document."""
        for path in paths:
            here = self._paths[document]
            here.broken.add(path)
            here.above.update(path[:length] for length in range(len(path)))

    def is_lost(self, place: Place) -> bool:
        """True when what stands there is not what the suite says: it is broken, or part of something that is."""
        here = self._paths.get(place.document)
        return here is not None and any(place.path[:length] in here.broken for length in range(len(place.path) + 1))

    def is_doubtful(self, *places: Place) -> bool:
        """True when one of the places is lost, or holds something that is."""
        return any(self.is_lost(place) or self._holds_broken(place) for place in places)

    def _holds_broken(self, place: Place) -> bool:
        here = self._paths.get(place.document)
        return here is not None and place.path in here.above

    def without_consequences(self, problems: Iterable[Problem]) -> Iterator[Problem]:
        """The problems but for those of rules that read something broken: nobody can tell yet whether they hold."""
        for problem in problems:
            reads = (problem.place,) if problem.reads is None else problem.reads
            if not self._paths or not self.is_doubtful(*(place for place in reads if place)):
                yield problem
