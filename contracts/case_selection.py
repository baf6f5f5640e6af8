"""Which cases of a suite a run takes: `--case` and `--only`."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence

from contracts.errors import ErrorCode, Found, LabError
from contracts.suite.kept_cases import KeptCases
from contracts.suite.problems import nearest, unknown_name
from contracts.suite.suite import Suite

_GLOB = re.compile(r"[*?\[]")
_SHOWN_NAMES = 10


def select_cases(suite: Suite, *, case_ids: Sequence[str] = (), only: Sequence[str] = ()) -> KeptCases:
    """The selected cases in the suite's order; without any selection all of them.

    `case_ids` are exact. Each text of `only` is a comma list of patterns: case-insensitive, a glob when it has `*`, `?`
    or `[`, else a substring, looked for in id, id.json and title. Within each of the two any match selects; where both
    are given a case must be selected by both.

    Raises:
        LabError: unknown-case; no-cases where a pattern matches nothing, or nothing is left.

    """
    patterns = [pattern for text in only for part in text.split(",") if (pattern := part.strip())]
    if only and not patterns:
        raise LabError(ErrorCode.BAD_USAGE, "--only names no pattern", found=[Found(repr(list(only)), place="--only")])
    chosen = suite.cases
    if case_ids:
        _refuse_unknown_cases(suite, case_ids)
        chosen = chosen.only(case_ids)
    if patterns:
        matching = _matching(suite, patterns)
        chosen = chosen.only(matching)
    if not chosen:
        raise LabError(
            ErrorCode.NO_CASES,
            "--case and --only together select no case",
            expected="a case that is named by --case and matches --only",
            next_step="leave out one of the two",
        )
    return chosen


def _refuse_unknown_cases(suite: Suite, case_ids: Sequence[str]) -> None:
    known = suite.cases.ids()
    unknown = [case_id for case_id in dict.fromkeys(case_ids) if case_id not in set(known)]
    if unknown:
        raise LabError(
            ErrorCode.UNKNOWN_CASE,
            f"the suite {suite.root} has no case {_quoted(unknown)}",
            found=[Found(unknown_name("case", name, known), place="--case") for name in unknown],
            next_step=f"labctl cases {suite.root}",
        )


def _matching(suite: Suite, patterns: Sequence[str]) -> set[str]:
    texts = {
        case.id: (case.id.casefold(), f"{case.id}.json".casefold(), (case.title or "").casefold())
        for case in suite.cases
    }
    matching: set[str] = set()
    idle: list[str] = []
    for pattern in patterns:
        hits = {
            case_id for case_id, searched in texts.items() if any(_fits(pattern.casefold(), text) for text in searched)
        }
        matching |= hits
        if not hits:
            idle.append(pattern)
    if idle:
        raise LabError(
            ErrorCode.NO_CASES,
            f"--only {_quoted(idle)} matches no case of {suite.root}",
            found=[Found(_near_ids(pattern, list(texts)), place="--only") for pattern in idle],
            expected="a glob or a part of an id or title",
            next_step=f"labctl cases {suite.root}",
        )
    return matching


def _fits(pattern: str, text: str) -> bool:
    return fnmatch.fnmatchcase(text, pattern) if _GLOB.search(pattern) else pattern in text


def _near_ids(pattern: str, ids: list[str]) -> str:
    near = nearest(_GLOB.sub("", pattern.casefold()), ids)
    if near:
        return f'nothing matches "{pattern}"; did you mean "{near}"?'
    listed = ", ".join(ids[:_SHOWN_NAMES]) + (", …" if len(ids) > _SHOWN_NAMES else "")
    return f'nothing matches "{pattern}"; the ids are {listed}'


def _quoted(names: Sequence[str]) -> str:
    shown = ", ".join(f'"{name}"' for name in names[:_SHOWN_NAMES])
    return shown + (f" and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else "")
