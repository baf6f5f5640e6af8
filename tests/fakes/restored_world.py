"""A folder of inputs that whoever uses it may change: only what was changed of it is copied anew."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

from tests.fakes.generated_suites import add_odd_kinds

_ODD = frozenset({"fifo", "socket", "loop", "dangling"})
_Signature = dict[str, tuple[int, int, int]]


class RestoredWorld:
    """A copy of a template, made anew where it differs."""

    def __init__(self, template: Path, root: Path) -> None:
        """Copy it; the odd kinds of `add_odd_kinds` are made, not copied."""
        self.root = root
        self._template = template
        root.mkdir()
        for name in self._names():
            self._copy(name)
        add_odd_kinds(root)
        self._were = {name: _signature(root / name) for name in _names(root)}

    def entries(self) -> set[str]:
        """Everything below the root, by its path."""
        return {
            os.fspath(Path(folder, name))
            for folder, folders, names in os.walk(self.root)
            for name in [*folders, *names]
        }

    def restore(self) -> None:
        """Put back what was changed, and remove what was added."""
        there = set(_names(self.root))
        for name in there - self._were.keys():
            _remove(self.root / name)
        for name, signature in self._were.items():
            if name in there and _signature(self.root / name) == signature:
                continue
            if name in there:
                _remove(self.root / name)
            if name in _ODD:
                add_odd_kinds(self.root)
            else:
                self._copy(name)
            self._were[name] = _signature(self.root / name)

    def _names(self) -> list[str]:
        return [name for name in _names(self._template) if name not in _ODD]

    def _copy(self, name: str) -> None:
        source = self._template / name
        if source.is_dir():
            shutil.copytree(source, self.root / name)
        else:
            shutil.copyfile(source, self.root / name)


def _names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def _signature(path: Path) -> _Signature:
    paths = [path, *path.rglob("*")] if stat.S_ISDIR(path.lstat().st_mode) else [path]
    found = ((one, one.lstat()) for one in paths)
    return {os.fspath(one): (status.st_mode, status.st_size, status.st_mtime_ns) for one, status in found}


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
