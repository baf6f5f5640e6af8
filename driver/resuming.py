"""Whether a run may be gone on with: it is dead, unsealed and labctl's, and what would run is what ran."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from shlex import quote

from pydantic import ValidationError

from contracts import evidence
from contracts.errors import ErrorCode, Found, LabError
from contracts.manifest import Begun, Dependencies, EnvironmentManifest
from contracts.plan import Plan
from contracts.record import Json
from driver.recorded import recorded_inputs
from driver.run_archive import no_run
from driver.unsealed_files import file_problems
from driver.version import VERSION
from ledger.kept_attempts import KeptAttempts, NotKeptError, read_kept_attempts
from ledger.run_lock import LockedError, NoLocksError, RunLock

_MOST_FOUND = 40


def not_resumable(shown: Path, why: str, *, found: list[Found] | None = None, **more: str | None) -> LabError:
    """The error that says why a run cannot be gone on with; `more` are the other fields of an error."""
    found = found or []
    rest = len(found) - _MOST_FOUND
    listed = found if rest <= 0 else [*found[:_MOST_FOUND], Found(f"and {rest} more")]
    more["next_step"] = more.get("next_step") or "run the suite again: labctl run"
    return LabError(ErrorCode.NOT_RESUMABLE, f"{shown} {why}", found=listed, **more)


def locked(path: Path, *, shown: Path) -> RunLock:
    """The lock on the run directory.

    Raises:
        LabError: NO_RUN for what is no directory; NOT_RESUMABLE for a live run, and where nobody can tell.

    """
    try:
        return RunLock.take(path)
    except LockedError as error:
        raise not_resumable(
            shown,
            "is live: a process of labctl writes it",
            found=list(_writer(path)),
            next_step="wait for its end, or interrupt it",
        ) from error
    except NoLocksError as error:
        raise not_resumable(
            shown,
            "lies on a file system without locks, so nobody can tell whether it is live",
            cause=str(error),
            next_step="when it is surely dead: copy the directory to a local disk and resume the copy",
        ) from error
    except (FileNotFoundError, NotADirectoryError) as error:
        what = "is no directory; unpack an archive first" if path.exists() else "is not there"
        raise no_run(shown, what) from error
    except OSError as error:
        raise no_run(shown, f"cannot be opened: {error.strerror}") from error


def _writer(path: Path) -> Iterator[Found]:
    if not (path / evidence.BEGUN).is_file():
        return  # it has not written it yet; and nobody waits for a pipe
    try:
        owner = Begun.model_validate_json((path / evidence.BEGUN).read_bytes()).owner
    except (OSError, ValidationError):
        return  # it is gone, or no text of labctl's: then nobody knows who writes
    yield Found(f"process {owner.partition(':')[0]} on {owner.rpartition(':')[2]}")


def plan_of(root: Path, *, shown: Path) -> Plan:
    """The plan of an unsealed run of this labctl's.

    Raises:
        LabError: NO_RUN, SEALED_RUN, NOT_RESUMABLE.

    """
    if (root / evidence.COMPLETE).exists():
        raise LabError(
            ErrorCode.SEALED_RUN,
            f"{shown} is sealed: there is nothing left to do in it",
            next_step=f"labctl show {quote(str(shown))}, or labctl verify {quote(str(shown))}",
        )
    if (root / evidence.PLAN).exists() and not (root / evidence.PLAN).is_file():
        raise _changed(file_problems(root), shown=shown)
    try:
        text = (root / evidence.PLAN).read_bytes()
    except FileNotFoundError as error:
        raise _without_plan(root, shown=shown) from error
    plan = _read_plan(text, shown=shown)
    if plan.command[:1] != ("labctl",) or not (root / evidence.SUITE_FOLDER).is_dir():
        raise not_resumable(
            shown,
            "was made by hand: it has no suite of its own, and nobody knows its whole environment",
            next_step="labctl run",
        )
    if plan.not_kept:
        raise not_resumable(
            shown,
            "does not have all that it ran from: these files were too large to be kept",
            found=[Found(f"is known by its digest only: {name}") for name in plan.not_kept],
            next_step="labctl run",
        )
    if found := file_problems(root):
        raise _changed(found, shown=shown)
    return plan


def _without_plan(root: Path, *, shown: Path) -> LabError:
    if not (root / evidence.RUN_LOG).is_file():
        return no_run(shown, "holds no file of a run")
    if (root / evidence.BEGUN).exists():  # it comes after the plan
        return _changed(file_problems(root), shown=shown)
    return not_resumable(
        shown, "ended before its first attempt: it has no plan, and nothing was lost", next_step="labctl run …"
    )


def _changed(found: list[Found], *, shown: Path) -> LabError:
    return not_resumable(shown, "was changed: its files are not as a killed run leaves them", found=found)


def _read_plan(text: bytes, *, shown: Path) -> Plan:
    try:
        document = json.loads(text)
        version = document.get("labctl") if isinstance(document, dict) else None
        if isinstance(version, str) and version != VERSION:
            raise not_resumable(
                shown,
                "was begun by another labctl",
                found=[Found(version, evidence.PLAN, "labctl")],
                expected=VERSION,
                next_step=f"resume it with labctl {version}, or run the suite again",
            )
        return Plan.model_validate_json(text)
    except ValidationError as error:
        raise no_run(shown, f"plan.json is no plan: {error.errors(include_url=False)[0]['msg']}") from error
    except ValueError as error:
        raise no_run(shown, f"plan.json is no plan: {error}") from error


def kept_of(plan: Plan, root: Path, *, shown: Path) -> KeptAttempts:
    """What the run has finished; raises LabError NOT_RESUMABLE where its files contradict each other."""
    try:
        return read_kept_attempts(plan, root)
    except NotKeptError as error:
        raise not_resumable(
            shown, "was changed: attempts and journal are not as a killed run leaves them", found=error.found
        ) from error
    except FileNotFoundError as error:
        raise not_resumable(shown, f"has no {Path(str(error.filename)).relative_to(root)} any more") from error


def begun_of(root: Path, kept: KeptAttempts, *, here: Begun, shown: Path) -> Begun:
    """How the run began: as it wrote down, or, where it had not come to that, and so to no attempt, as it is `here`."""
    for name in (evidence.BEGUN, evidence.ENVIRONMENT):  # the first is removed right before the seal
        try:
            text = (root / name).read_bytes()
            return Begun.model_validate_json(text) if name == evidence.BEGUN else _begun(text, here)
        except FileNotFoundError:
            continue
        except ValidationError as error:
            raise not_resumable(shown, "was changed", found=[Found("cannot be read", file=name)]) from error
    if kept.attempts:
        raise not_resumable(shown, "was changed", found=[Found("is missing", file=evidence.BEGUN)])
    return here


def _begun(text: bytes, here: Begun) -> Begun:
    manifest = EnvironmentManifest.model_validate_json(text)
    host = manifest.host.model_copy(update={"engine": None, "compose": None})  # the end adds them
    dependencies = manifest.dependencies.model_copy(update={"programs": {}})
    parts = manifest.resumed.parts if manifest.resumed else ()
    return Begun(
        owner=here.owner,
        dependencies=dependencies,
        host=host,
        source=manifest.source,
        resumed=parts,
        inputs=recorded_inputs(manifest),
    )


def plan_differences(recorded: Plan, now: Plan) -> list[Found]:
    """Each place where what would run is not what ran."""
    return [Found(text, evidence.PLAN, place) for place, text in _differences(_keyed(recorded), _keyed(now))]


def dependency_differences(recorded: Dependencies, now: Dependencies) -> list[Found]:
    """Each file or package of the lab itself that is another one now."""
    differences = _differences(recorded.to_json(), now.to_json())
    return [Found(text, evidence.BEGUN, f"dependencies.{place}") for place, text in differences]


def _keyed(plan: Plan) -> dict[str, Json]:
    document = plan.to_json()
    return {**document, "cases": {case["caseId"]: case for case in document["cases"]}}


def _differences(before: Mapping[str, Json], after: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    for key in sorted(before.keys() | after.keys()):
        was, now = before.get(key), after.get(key)
        if isinstance(was, dict) and isinstance(now, dict):
            yield from ((f"{key}.{place}", text) for place, text in _differences(was, now))
        elif was != now:
            yield key, f"{_told(was)} → {_told(now)}"


def _told(value: Json) -> str:
    return "none" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
