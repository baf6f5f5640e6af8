"""The digests of a suite, taken over its files as written, so that a new optional key changes no old digest."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from contracts.canonical import digest_of_file, digest_of_json
from contracts.record import Json

_LABELS_OF_A_CASE = frozenset({"id", "title", "tags", "protected"})


def case_digest(case: dict[str, Json], *, working_dir: dict[str, str] | None = None) -> str:
    """Over what the case says but for its labels, with the content digests of its working directory's files."""
    told = {key: value for key, value in case.items() if key not in _LABELS_OF_A_CASE}
    return digest_of_json(told if working_dir is None else {"case": told, "workingDir": working_dir})


def dataset_digest(*, routes: list[Json], state: Json) -> str:
    """Over routes and state."""
    return digest_of_json({"routes": routes, "state": state})


def agent_digest(*, declaration: dict[str, Json], files: dict[str, str]) -> str:
    """Over the agent's table of suite.toml and the content digests of its files, by their paths in the suite."""
    return digest_of_json({"declaration": declaration, "files": files})


def digests_of_files(root: Path, files: Iterable[Path]) -> dict[str, str]:
    """The content digest of each file by its path below the root; raises OSError as reading does."""
    return {path.relative_to(root).as_posix(): digest_of_file(path) for path in sorted(files)}
