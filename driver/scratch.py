"""Folders that live as long as a run; what a killed run leaves of them names its owner, so that `clean` finds it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from contracts.errors import ErrorCode, Found, LabError
from contracts.machine_limits import limit_error
from driver.at_once import Duty, promise
from driver.owner import Life, life_of, own_identity
from driver.sealed_places import refuse_sealed

_PREFIX = "labctl-scratch-"
_KEPT_PREFIX = "labctl-kept-"
_VARIABLES = ("TMPDIR", "TEMP", "TMP")
"""What `tempfile` looks at, in its order."""
_PLAIN = str.maketrans({":": "_", "/": "-"})
"""A colon would cut the folder in two wherever somebody puts it into a list of paths."""


def temporary_folder() -> Path:
    """Where folders are made; raises LabError SEALED_RUN for a place in a run, and as `_usable_place` does.

    The place that the environment names is looked at first: to find out whether it can be used, Python writes there.
    """
    if named := next(filter(os.environ.get, _VARIABLES), None):
        refuse_sealed(Path(os.environ[named]), place=named)
    place = _usable_place()
    refuse_sealed(place, place="the temporary folder")
    return place


def refuse_temporary_in(folder: Path, *, what: str, but: frozenset[str] = frozenset()) -> None:
    """Raise LabError BAD_USAGE where what is made there would become part of the folder; also as `temporary_folder`.

    `but` names folders in it of which nothing counts as its content.
    """
    place, root = temporary_folder(), Path(os.path.realpath(folder))
    real = Path(os.path.realpath(place))
    if real.is_relative_to(root) and but.isdisjoint(real.relative_to(root).parts):
        raise LabError(
            ErrorCode.BAD_USAGE,
            f"the temporary folder {place} lies in the {what}, of which it would become a part",
            found=[Found(f"is the {what}", file=str(folder))],
            next_step="set TMPDIR to a folder outside of it",
        )


def _usable_place() -> Path:
    """Raises LabError MACHINE_LIMIT where no file can be made in any place for temporary ones."""
    try:
        return Path(tempfile.gettempdir())
    except FileNotFoundError as error:
        raise _no_place() from error


def _no_place() -> LabError:
    """Python says of several places that they cannot be used, and of none why: the first of them is asked."""
    first = next(filter(None, map(os.environ.get, _VARIABLES)), "/tmp")  # noqa: S108 - as tempfile has it
    try:
        with tempfile.TemporaryFile(dir=first, buffering=0) as file:
            file.write(b"a limit of a file's size or of the disk shows when something is written")
    except OSError as error:
        if limit := limit_error(error, is_temporary=True):
            return limit
        found = [Found(f"{error.strerror} (errno {error.errno})", file=first)]
    else:
        found = []  # it can be used by now
    return LabError(
        ErrorCode.MACHINE_LIMIT,
        "there is no folder for temporary files that can be written",
        found=found,
        next_step="name one with TMPDIR",
    )


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A new folder, private to the user, that is removed at the end; raises as `temporary_folder` does."""
    place = temporary_folder()
    _promise_removal()
    with tempfile.TemporaryDirectory(prefix=_own_prefix(), dir=place, ignore_cleanup_errors=True) as name:
        yield Path(name)


def _own_prefix() -> str:
    return f"{_PREFIX}{own_identity().translate(_PLAIN)}-"


@cache
def _promise_removal() -> None:
    """Once for all folders of this process: a signal may come between the making of one and its name."""
    promise(lambda _reason: Duty(remove=tuple(map(str, Path(tempfile.gettempdir()).glob(f"{_own_prefix()}*")))))


def dead_scratch() -> list[Path]:
    """The scratch folders whose run is dead."""
    return _scratch_of_life("gone")


def unseen_scratch() -> list[Path]:
    """Those of which nobody here can tell whether their run lives."""
    return _scratch_of_life("unseen")


def _scratch_of_life(life: Life) -> list[Path]:
    folders = sorted(_usable_place().glob(f"{_PREFIX}*-*"))
    return [path for path in folders if life_of(_owner_of(path)) == life]


def dead_scratch_of(owner: str) -> list[Path]:
    """Those of one owner."""
    return [path for path in dead_scratch() if _owner_of(path) == owner.translate(_PLAIN).replace("_", ":", 4)]


def kept_folder() -> Path:
    """A new folder that nobody removes before `remove_kept_folder`: for what outlives its run on purpose."""
    return Path(tempfile.mkdtemp(prefix=_KEPT_PREFIX, dir=temporary_folder()))


def remove_kept_folder(path: str) -> None:
    """Remove such a folder; anything else that a label may name is left alone."""
    folder = Path(path)
    if folder.name.startswith(_KEPT_PREFIX) and folder.parent == _usable_place():
        shutil.rmtree(folder, ignore_errors=True)


def remove_dead_scratch() -> list[Path]:
    """Remove the scratch folders of this user's dead runs; which ones were removed."""
    removed = []
    for path in dead_scratch():
        shutil.rmtree(path, ignore_errors=True)
        if not path.exists():
            removed.append(path)
    return removed


def _owner_of(path: Path) -> str:
    return path.name.removeprefix(_PREFIX).rpartition("-")[0].replace("_", ":", 4)
