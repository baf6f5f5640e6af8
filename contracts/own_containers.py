"""Which cases need a container of their own, and the refusals where there is none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from contracts.errors import ErrorCode, Found, LabError
from contracts.suite.case import Case

_NEEDING = ("setup", "working_dir", "image")
_SHOWN_NAMES = 10


def own_container_needs(cases: Iterable[Case], *, no_setup: bool = False) -> dict[str, tuple[str, ...]]:
    """Case id to the keys that need a container; without the cases that have none. `no_setup`: setup is skipped."""
    keys = _NEEDING[1:] if no_setup else _NEEDING
    needs = {case.id: tuple(key for key in keys if getattr(case, key) is not None) for case in cases}
    return {case_id: needing for case_id, needing in needs.items() if needing}


def no_container(needs: Mapping[str, Sequence[str]], *, code: ErrorCode, why: str, next_step: str) -> LabError:
    """The refusal that names every case in need and the keys it has; `why` says why it gets no container."""
    names = [f'"{case_id}"' for case_id in needs]
    more = f" and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else ""
    verb = "needs a container of its own" if len(names) == 1 else "need containers of their own"
    return LabError(
        code,
        f"{', '.join(names[:_SHOWN_NAMES])}{more} {verb}, and {why}",
        found=[Found(f'the case "{case_id}" has {", ".join(keys)}') for case_id, keys in needs.items()],
        next_step=next_step,
    )
