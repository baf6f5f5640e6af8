"""Controls of the verdicts: each known agent got its outcome, each fault its witness, and no file has the secret."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

from contracts import evidence
from contracts.exits import Exit
from contracts.outcome import OutcomeClass
from contracts.results import AttemptResult, Results
from driver.self_test.expected import EXPECTED, NETWORK, SECRET, Expected, told
from driver.self_test.looked import Looked, judged
from driver.self_test.runs import TOKEN, Runs

_NOBODYS_FAULT = (OutcomeClass.INFRASTRUCTURE, OutcomeClass.NOT_RUN)
"""The lab says itself that it could not tell: that is no false word, and no proof either."""


def look_at_outcomes(runs: Runs) -> Iterator[Looked]:
    """One control for each case, in the order of the table; raises ValidationError for results that are none."""
    results = Results.model_validate_json((runs.known / evidence.RESULTS).read_bytes())
    attempts = {case.case_id: case.attempts for case in results.cases}
    for case_id, expected in EXPECTED.items():
        if case_id == NETWORK and runs.no_network is not None:
            yield Looked(f"agent {case_id}", f"no network fault was tried: {runs.no_network}", is_tried=False)
        else:
            yield _outcome(case_id, expected, attempts.get(case_id, ()))
    if extra := sorted(attempts.keys() - EXPECTED.keys()):
        yield Looked("cases", f"cases that nobody asked for: {', '.join(extra)}", Exit.NO)


def _outcome(case_id: str, expected: Expected, attempts: tuple[AttemptResult, ...]) -> Looked:
    name = f"agent {case_id}"
    if len(attempts) != 1:
        return Looked(name, f"{len(attempts)} attempts; must be 1", Exit.NO)
    (attempt,) = attempts
    seen, met = told(attempt.outcome, attempt.outcome_class), [fault.met for fault in attempt.faults or ()]
    if attempt.outcome_class in _NOBODYS_FAULT:
        return Looked(name, f"{seen}; must be {expected}: {attempt.reason}", Exit.CANNOT_TELL)
    wanted = [] if expected.is_met is None else [expected.is_met]
    return judged(
        name,
        is_so=(attempt.outcome, attempt.outcome_class) == (expected.outcome, expected.outcome_class) and met == wanted,
        text=f"{seen}{_faults(met)}",
        must=f"must be {expected}{_faults(wanted)}" + (f" ({attempt.reason})" if attempt.reason else ""),
    )


def _faults(met: list[bool]) -> str:
    return "".join(", fault met" if one else ", fault not met" for one in met)


def look_for_secret(runs: Runs) -> Looked:
    """No file of the runs has the value that agent `tells-a-secret` told in every way it could."""
    forms = (runs.secret.encode(), base64.b64encode(runs.secret.encode()))
    files = [path for run in (runs.known, runs.worse) for path in sorted(run.rglob("*")) if path.is_file()]
    hits = [path for path in files if any(form in path.read_bytes() for form in forms)]
    return judged(
        "redaction",
        is_so=not hits and _was_told(runs.known),
        text=f"the secret of {SECRET} is in {len(hits)} of {len(files)} files" + _names(hits),
        must="must be in none, and its place must show that it was taken out",
    )


def _was_told(run: Path) -> bool:
    """Whether something was taken out at all: without that, its absence would prove nothing."""
    return f"[redacted:{TOKEN}]".encode() in (run / evidence.ATTEMPTS).read_bytes()


def _names(paths: list[Path]) -> str:
    return f": {', '.join(f'{path.parent.name}/{path.name}' for path in paths)}" if paths else ""
