"""The cases of a suite as JSON text: each is a record only while somebody looks at it, so that many take no memory."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import overload

from pydantic_core import from_json

from contracts.record import Json
from contracts.suite.case import Case
from contracts.suite.session import SessionCase

_DIGEST_PREFIX = "sha256:"
_DIGEST_BYTES = 32
_MARKED = ("state", "routes", "faults", "setup", "working_dir", "image", "relevance")
"""What few cases have; who wants only those that do need not look at the others."""
_IS_SESSION = 1 << len(_MARKED)


@dataclass(frozen=True, slots=True, eq=False)
class _Kept:
    """Every case in the order in which it was taken; of none is there more than its text, its id and some numbers."""

    text: bytearray
    ends: array[int]
    """Where the text of each case ends, which is where that of the next one begins."""
    marks: array[int]
    positions: Mapping[str, int]
    """By case id."""

    def text_of(self, position: int) -> bytearray:
        return self.text[self.ends[position - 1] if position else 0 : self.ends[position]]

    def case(self, position: int) -> Case:
        kind = SessionCase if self.marks[position] & _IS_SESSION else Case
        return kind.model_validate_json(self.text_of(position), by_alias=True, by_name=False)


class CaseKeeper:
    """Takes cases one by one."""

    def __init__(self) -> None:
        self._text = bytearray()
        self._ends = array("Q")
        self._marks = array("B")
        self._positions: dict[str, int] = {}
        self._protected = array("L")
        self._digests = bytearray()

    def add(self, case: Case, *, text: bytes | None = None, digest: str = "") -> None:
        """Keep the case; `text` is its JSON and `digest` its digest, where somebody has them."""
        if case.protected:
            self._protected.append(len(self._ends))
        self._positions[case.id] = len(self._ends)
        self._text += case.model_dump_json(by_alias=True, exclude_unset=True).encode() if text is None else text
        self._ends.append(len(self._text))
        self._marks.append(_marks_of(case))
        self._digests += bytes.fromhex(digest.removeprefix(_DIGEST_PREFIX))

    def digests(self) -> CaseDigests:
        """The digests, where every case came with one."""
        return CaseDigests(self._positions, bytes(self._digests))

    def kept(self) -> KeptCases:
        """All of them: protected ones first, then in the order in which they came. Nothing is taken after it."""
        kept = _Kept(self._text, self._ends, self._marks, self._positions)
        order: Sequence[int] = range(len(self._ends))
        if self._protected:
            first = set(self._protected)
            order = array("L", [*self._protected, *(position for position in order if position not in first)])
        return KeptCases(kept, order)


class KeptCases(Sequence[Case]):
    """Cases in an order; each access makes the record anew, so equal ones are equal and not the same."""

    def __init__(self, kept: _Kept, order: Sequence[int]) -> None:
        """Made by a `CaseKeeper`, or by `of`."""
        self._kept = kept
        self._order = order

    @classmethod
    def of(cls, cases: Iterable[Case]) -> KeptCases:
        """The cases, protected ones first."""
        keeper = CaseKeeper()
        for case in cases:
            keeper.add(case)
        return keeper.kept()

    def __len__(self) -> int:
        return len(self._order)

    @overload
    def __getitem__(self, index: int) -> Case: ...

    @overload
    def __getitem__(self, index: slice) -> KeptCases: ...

    def __getitem__(self, index: int | slice) -> Case | KeptCases:
        if isinstance(index, slice):
            return KeptCases(self._kept, self._order[index])
        return self._kept.case(self._order[index])

    def __iter__(self) -> Iterator[Case]:
        return map(self._kept.case, self._order)

    def ids(self) -> list[str]:
        """Their ids in order."""
        names = list(self._kept.positions)
        return [names[position] for position in self._order]

    def case(self, case_id: str) -> Case:
        """The case of that id; raises KeyError."""
        return self._kept.case(self._kept.positions[case_id])

    def having(self, *keys: str) -> Iterator[Case]:
        """Those that have one of the keys, of `state routes faults setup working_dir image relevance`."""
        wanted = _mask(keys)
        return (self._kept.case(position) for position in self._order if self._kept.marks[position] & wanted)

    def only(self, ids: Collection[str]) -> KeptCases:
        """Those of the ids, in the same order."""
        wanted = {self._kept.positions[case_id] for case_id in ids if case_id in self._kept.positions}
        return KeptCases(self._kept, array("L", [position for position in self._order if position in wanted]))

    @property
    def by_id(self) -> Mapping[str, Case]:
        """All cases of the suite by their ids."""
        return _ById(self._kept)

    def as_written(self) -> WrittenCases:
        """All cases of the suite as the file has them, in its order."""
        return WrittenCases(self._kept)

    def placed(self) -> PlacedCases:
        """All cases of the suite with their places in the file, in its order."""
        return PlacedCases(self._kept)


class _ById(Mapping[str, Case]):
    def __init__(self, kept: _Kept) -> None:
        self._kept = kept

    def __getitem__(self, case_id: str) -> Case:
        return self._kept.case(self._kept.positions[case_id])

    def __contains__(self, case_id: object) -> bool:
        return case_id in self._kept.positions

    def __iter__(self) -> Iterator[str]:
        return iter(self._kept.positions)

    def __len__(self) -> int:
        return len(self._kept.positions)


class PlacedCases(Collection[tuple[int, Case]]):
    """Cases with their indexes in the file."""

    def __init__(self, kept: _Kept) -> None:
        self._kept = kept

    def __len__(self) -> int:
        return len(self._kept.ends)

    def __iter__(self) -> Iterator[tuple[int, Case]]:
        return ((position, self._kept.case(position)) for position in range(len(self)))

    def __contains__(self, placed: object) -> bool:
        return any(one == placed for one in self)

    def having(self, *keys: str) -> Iterator[tuple[int, Case]]:
        """As `KeptCases.having`."""
        wanted = _mask(keys)
        return ((at, self._kept.case(at)) for at, marks in enumerate(self._kept.marks) if marks & wanted)


class WrittenCases(Sequence[Json]):
    """Cases as JSON values."""

    def __init__(self, kept: _Kept) -> None:
        self._kept = kept

    def __len__(self) -> int:
        return len(self._kept.ends)

    def __getitem__(self, index: int | slice) -> Json:
        if isinstance(index, slice):
            return [self[position] for position in range(len(self))[index]]
        return from_json(self._kept.text_of(range(len(self))[index]))


class CaseDigests(Mapping[str, str]):
    """Digests by case id, each in as many bytes as it has."""

    def __init__(self, positions: Mapping[str, int], raw: bytes) -> None:
        """`raw` has the bytes of all digests, at the position of each id."""
        self._positions = positions
        self._raw = raw

    @classmethod
    def of(cls, digests: Mapping[str, str]) -> CaseDigests:
        """Of digests as `sha256:` and hexadecimal digits."""
        raw = b"".join(bytes.fromhex(digest.removeprefix(_DIGEST_PREFIX)) for digest in digests.values())
        return cls({case_id: position for position, case_id in enumerate(digests)}, raw)

    def __getitem__(self, case_id: str) -> str:
        start = self._positions[case_id] * _DIGEST_BYTES
        return _DIGEST_PREFIX + self._raw[start : start + _DIGEST_BYTES].hex()

    def __contains__(self, case_id: object) -> bool:
        return case_id in self._positions

    def __iter__(self) -> Iterator[str]:
        return iter(self._positions)

    def __len__(self) -> int:
        return len(self._positions)


def _marks_of(case: Case) -> int:
    held = (case.state is not None, case.routes, case.faults, case.setup, case.working_dir, case.image)
    has = [*(one is not None and one != () for one in held[1:]), bool(case.expect.relevance)]
    marks = sum(1 << bit for bit, is_there in enumerate([held[0], *has]) if is_there)
    return marks | (_IS_SESSION if isinstance(case, SessionCase) else 0)


def _mask(keys: Iterable[str]) -> int:
    return sum(1 << _MARKED.index(key) for key in keys)
