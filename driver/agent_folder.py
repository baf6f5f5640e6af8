"""The folder of an agent file: which of its files are the agent's, their copy for a run, and their digests."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from contracts import evidence
from contracts.canonical import digest_of_file
from contracts.suite.suite import Suite
from contracts.suite.withheld import is_withheld

LEFT_OUT = frozenset({".git", ".hg", ".svn", "__pycache__", "evals", "results", "evidence"})
"""Folders that are no part of an agent, at any depth: version control, and what knows the expectations."""
SECRETS = (".netrc", ".npmrc", ".pypirc", ".git-credentials", ".dockercfg")
SECRET_FOLDERS = frozenset({".aws", ".azure", ".config", ".docker", ".gcloud", ".gnupg", ".kube", ".ssh"})
"""Hidden names under which programs keep credentials, beside .env*; a file counts with whatever follows a dot."""


@dataclass(frozen=True)
class AgentFolder:
    """The files of an agent by their paths below its folder."""

    root: Path
    files: Mapping[str, Path]
    left_out: tuple[str, ...]
    """Links to what is no file of the agent, and hidden files of secrets, by relative name."""

    def digests(self) -> dict[str, str]:
        """The content digest of each file; raises OSError as reading does."""
        return {name: digest_of_file(path) for name, path in self.files.items()}

    def stage(self, to: Path) -> None:
        """Copy the files into the new folder `to`, which any user may read and nobody but the owner may change."""
        to.mkdir(mode=0o755)
        for name, source in self.files.items():
            target = to / name
            target.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
            shutil.copyfile(source, target)
            target.chmod(0o555 if source.stat().st_mode & stat.S_IXUSR else 0o444)


def agent_folder(root: Path, *, suite: Suite) -> AgentFolder:
    """Walk the folder; the suite's own files are no part of the agent, and a link is what it leads to."""
    root = root.resolve()
    candidates = [path for path in _files_below(root, suite=suite) if not _is_the_suites(path, suite)]
    own = {path for path in candidates if path.is_file() and not path.is_symlink() and not _is_secret(path.name)}
    files: dict[str, Path] = {}
    left_out = []
    for path in candidates:
        name = path.relative_to(root).as_posix()
        if not _is_secret(path.name) and _end_of(path) in own:
            files[name] = path
        else:
            left_out.append(name)
    return AgentFolder(root=root, files=files, left_out=tuple(left_out))


def _end_of(path: Path) -> Path | None:
    """Where a path leads after all links; None for a loop or nowhere."""
    try:
        return path.resolve(strict=True)
    except (OSError, RuntimeError):
        return None


def _files_below(root: Path, *, suite: Suite) -> Iterator[Path]:
    suite_root = suite.root.resolve()
    for folder, folders, names in os.walk(root):
        if evidence.is_run_directory(names, folders):
            folders.clear()
            continue
        folders[:] = sorted(name for name in set(folders) - LEFT_OUT - SECRET_FOLDERS if not _is_secret(name))
        to_folders = [name for name in folders if Path(folder, name).is_symlink()]
        folders[:] = [name for name in folders if Path(folder, name) != suite_root]
        yield from (Path(folder, name) for name in sorted([*names, *to_folders]))


def _is_secret(name: str) -> bool:
    return name.startswith(".env") or any(name == secret or name.startswith(secret + ".") for secret in SECRETS)


def _is_the_suites(path: Path, suite: Suite) -> bool:
    """True for a file that tells what is expected, where the agent lies in the suite's own folder."""
    root = suite.root.resolve()
    if not path.is_relative_to(root):
        return False
    name = path.relative_to(root).as_posix()
    is_session = path.parent == root and path.suffix == ".json"
    return is_withheld(suite.settings, name) or is_session or name.startswith("working_dirs/")
