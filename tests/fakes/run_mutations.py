"""Seeded mutations of a sealed run: of its files, of its seal, and of its files with a right seal made afterwards."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import NamedTuple

from contracts.evidence import (
    ATTEMPTS,
    COMPARISON,
    COMPLETE,
    ENVIRONMENT,
    JOURNAL,
    JUNIT,
    PLAN,
    README,
    RESULTS,
    SESSIONS_DB,
    SESSIONS_JSON,
    SUITE_FOLDER,
)
from driver.run_files import list_run_files, printable
from driver.seal import REQUIRED_FILES, seal_text
from driver.seal_differences import run_id_in
from tests.fakes.text_edits import edited_bytes, edited_json, edited_lines, respelled_seal

_NAMES = (
    *("extra.txt", "traces/extra.jsonl", "suite/extra.json", ".hidden", "complete", "COMPLETE.bak", "-rf", "a b", "#x"),
    *("back\\slash", "new\nline", "tab\tname", "\x7f", "Größe ✓", "suite/deep/er/file", "~", "con\x1b[31m", "%00", "*"),
)
_NO_UTF8 = b"caf\xe9\xff"


_SESSIONS = frozenset({SESSIONS_JSON, SESSIONS_DB})
_FOLLOW: dict[str, frozenset[str]] = {
    PLAN: _SESSIONS | {RESULTS, JUNIT, ENVIRONMENT, README, ATTEMPTS},
    ATTEMPTS: _SESSIONS | {RESULTS, JUNIT, JOURNAL},
    ENVIRONMENT: frozenset({README}),
    README: frozenset({ENVIRONMENT, COMPARISON}),
    SUITE_FOLDER: _SESSIONS | {ENVIRONMENT},
}
"""What docs/evidence.md says of each: files that are made from it, or hold or share its digest."""
_READ_FIRST = frozenset({PLAN, ENVIRONMENT, ATTEMPTS, JOURNAL})
"""All else is compared with these: where one cannot be read, it alone can be named."""
_ENTRY = re.compile(rb"\\?([0-9a-fA-F]{64}) [ *]?(.+?)\r?", re.DOTALL)
"""A line of a seal, also in the spellings of other programs: those are the seal's fault, not the file's."""


class Mutation(NamedTuple):
    """What was done, and which files must be named for it; none where nothing that is kept gives it away."""

    told: str
    named: frozenset[str]
    besides: frozenset[str] = frozenset()
    """That may be named as well: they follow from one that was changed."""
    one_of: frozenset[str] = frozenset()
    """Where there are any, one of these is enough."""

    def is_named_rightly_by(self, named: frozenset[str]) -> bool:
        """Whether these are all of the right files, and no other."""
        is_enough = bool(self.one_of & named) if self.one_of else self.named <= named
        return is_enough and named <= self.named | self.besides


def files_of(root: Path) -> list[str]:
    """Every file but COMPLETE."""
    paths = (path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())
    return sorted(name for name in paths if name != COMPLETE)


def mutate(root: Path, rng: Random) -> Mutation:
    """One change to the files or the seal of a run that stays sealed as it was."""
    return rng.choice([*_OF_A_FILE] * 2 + [*_OF_THE_TREE, _complete, _complete, _complete])(root, rng)


def forge(root: Path, rng: Random) -> Mutation:
    """One change to one file, two or the tree, and then a right seal over what is there."""
    mutation = rng.choice([_edited, _edited, _edited, _bytes, _removed, _renamed, _swapped, _added])(root, rng)
    seal_again(root)
    changed = mutation.named
    sources = changed | {SUITE_FOLDER for name in changed if name.startswith(f"{SUITE_FOLDER}/")}
    missing = {name for name in REQUIRED_FILES if not (root / name).exists()}
    return mutation._replace(
        told=f"{mutation.told}, sealed again",
        besides=frozenset().union(*(_FOLLOW.get(name, ()) for name in sources)),
        one_of=changed & (_READ_FIRST | missing),
    )


def seal_again(root: Path) -> None:
    """A correct COMPLETE for the files as they are now, under the id that the plan says."""
    try:
        run_id = str(json.loads((root / PLAN).read_bytes())["runId"])
    except (OSError, ValueError, KeyError, TypeError):
        run_id = run_id_in((root / COMPLETE).read_bytes())
    sha256 = list_run_files(root).sha256
    (root / COMPLETE).write_bytes(seal_text(sha256, run_id=run_id).replace(b"\r", b""))


def _mutation(told: str, *names: str) -> Mutation:
    return Mutation(told, frozenset(printable(name) for name in names))


def _bytes(root: Path, rng: Random) -> Mutation:
    name = rng.choice(files_of(root))
    before = (root / name).read_bytes()
    how, after = edited_bytes(before, rng)
    (root / name).write_bytes(after)
    return _unless_free(name, f"{how} {name}", before, after)


def _edited(root: Path, rng: Random) -> Mutation:
    """An edit that leaves the file what it is: JSON stays JSON, lines stay lines."""
    name = rng.choice([one for one in files_of(root) if not one.endswith(".db")])
    before = (root / name).read_bytes()
    if name.endswith(".json"):
        how, after = edited_json(before, rng)
    else:
        how, after = edited_lines(before, rng)
    (root / name).write_bytes(after)
    return _unless_free(name, f"{how} {name}", before, after)


def _unless_free(name: str, told: str, before: bytes, after: bytes) -> Mutation:
    if name == README and _without_free_sections(before) == _without_free_sections(after):
        return Mutation(f"{told} (in a section that follows from nothing)", frozenset())
    return _mutation(told, name)


def _without_free_sections(readme: bytes) -> list[bytes]:
    parts = readme.removesuffix(b"\n").split(b"\n\n## ")
    free = {b"What was taken out", b"What was left running", b"Resumed"}
    return [part for part in parts if part.partition(b"\n")[0] not in free] + [readme[-1:]]


def _removed(root: Path, rng: Random) -> Mutation:
    name = rng.choice(files_of(root))
    (root / name).unlink()
    for folder in (root / name).parents:
        if folder == root or any(folder.iterdir()):
            break
        folder.rmdir()
    return _mutation(f"removed {name}", name)


def _renamed(root: Path, rng: Random) -> Mutation:
    name = rng.choice(files_of(root))
    old = (root / name).name
    new = old + rng.choice([".bak", " ", "x", "~"]) if rng.random() < 0.7 else old.swapcase()
    to = name.removesuffix(old) + new
    (root / name).rename(root / to)
    return _mutation(f"renamed {name} to {to!r}", name, to)


def _swapped(root: Path, rng: Random) -> Mutation:
    """The contents of two files, of the last of each kind of content in the run."""
    by_content = {(root / name).read_bytes(): name for name in files_of(root)}
    one, other = rng.sample(sorted(by_content.values()), 2)
    first, second = (root / one).read_bytes(), (root / other).read_bytes()
    (root / one).write_bytes(second)
    (root / other).write_bytes(first)
    return _mutation(f"swapped {one} and {other}", one, other)


def _added(root: Path, rng: Random) -> Mutation:
    if rng.random() < 0.1:
        with (Path(os.fsdecode(os.fsencode(root) + b"/" + _NO_UTF8))).open("wb") as stream:
            stream.write(b"x")
        return _mutation("added a name that is not UTF-8", os.fsdecode(_NO_UTF8))
    name = rng.choice(_NAMES)
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_bytes(rng.randbytes(rng.choice([0, 1, 100])))
    return _mutation(f"added {name!r}", name)


def _emptied_folder(root: Path, rng: Random) -> Mutation:
    name = rng.choice(["empty", "suite/empty", "traces/empty", "a/b/c"])
    (root / name).mkdir(parents=True)
    return _mutation(f"added the empty folder {name}", f"{name}/")


def _linked(root: Path, rng: Random) -> Mutation:
    """A file that became a link to the very same content."""
    name, outside = rng.choice(files_of(root)), root.parent / f"{root.name}-outside"
    kind = rng.choice(["to a copy", "to nothing", "to itself", "hard", "to another file"])
    (root / name).rename(outside)
    if kind == "hard":
        (root / name).hardlink_to(outside)
    elif kind == "to another file":
        (root / name).symlink_to(root / COMPLETE)
    else:
        targets = {"to a copy": outside, "to nothing": Path("/nowhere"), "to itself": root / name}
        (root / name).symlink_to(targets[kind])
    return _mutation(f"{name} is a link {kind}", name)


def _folder_linked(root: Path, rng: Random) -> Mutation:
    name = rng.choice([path.name for path in root.iterdir() if path.is_dir()])
    missing = [one for one in files_of(root) if one.startswith(f"{name}/")]
    outside = root.parent / f"{root.name}-outside"
    (root / name).rename(outside)
    (root / name).symlink_to(outside, target_is_directory=True)
    return _mutation(f"the folder {name} is a link", name, *missing)


def _special(root: Path, rng: Random) -> Mutation:
    """No plain file where one was, or beside them."""
    name = rng.choice([*files_of(root), "special", "suite/special"])
    path = root / name
    was_there = [name] if path.exists() else []
    path.unlink(missing_ok=True)
    kind = rng.choice(["fifo", "socket", "folder", "empty folder"])
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "socket":
        bind_socket(path)
    else:
        path.mkdir()
    if kind == "folder":
        (path / "inside").write_bytes(b"x")
    instead = {"folder": f"{name}/inside", "empty folder": f"{name}/"}.get(kind, name)
    return _mutation(f"{name} is a {kind}", *was_there, instead)


def bind_socket(path: Path) -> None:
    """A socket of that name; the path of a test may be longer than a socket's address."""
    here = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(f"/proc/self/fd/{here}/{path.name}")
    finally:
        os.close(here)


def _complete(root: Path, rng: Random) -> Mutation:
    """COMPLETE is spelled otherwise, or no plain file."""
    path = root / COMPLETE
    sealed = path.read_bytes()
    if rng.random() < 0.8:
        how, content = respelled_seal(sealed, rng)
        path.write_bytes(content)
        return _mutation(f"COMPLETE: {how}", *(_otherwise_listed(sealed, content) or [COMPLETE]))
    outside = root.parent / f"{root.name}-outside"
    path.rename(outside)
    kind = rng.choice(["removed", "link", "hard link", "folder", "fifo"])
    if kind == "link":
        path.symlink_to(outside)
    elif kind == "hard link":
        path.hardlink_to(outside)
    elif kind == "folder":
        shutil.copytree(root / "suite", path)
    elif kind == "fifo":
        os.mkfifo(path)
    return _mutation(f"COMPLETE: {kind}", COMPLETE)


def _otherwise_listed(sealed: bytes, content: bytes) -> list[str]:
    """Names that one of two seals lists and the other does not, or with another digest; of lines that list at all."""
    before, after = (set(filter(None, map(_ENTRY.fullmatch, text.split(b"\n")))) for text in (sealed, content))
    entries = {_listed(match) for match in before} ^ {_listed(match) for match in after}
    return [os.fsdecode(name) for _, name in entries]


def _listed(match: re.Match[bytes]) -> tuple[bytes, bytes]:
    return match[1].lower(), match[2]


_Change = Callable[[Path, Random], Mutation]
_OF_A_FILE: tuple[_Change, ...] = (_bytes, _edited, _removed, _renamed, _swapped, _added)
_OF_THE_TREE: tuple[_Change, ...] = (_emptied_folder, _linked, _folder_linked, _special, _special)
