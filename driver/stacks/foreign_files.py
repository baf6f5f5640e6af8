"""Files in a folder of ours that are not ours to remove, such as those of a setup as root: removed by a container."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from contracts.errors import ErrorCode, Found, LabError
from driver.stacks.container_argv import PYTHON
from driver.stacks.container_calls import call

_PLACE = "/left"
_REMOVE = f"""
import os, shutil
for entry in os.scandir({_PLACE!r}):
    if entry.is_dir(follow_symlinks=False):
        shutil.rmtree(entry.path)
    else:
        os.unlink(entry.path)
"""
_CAPABILITIES = ("DAC_OVERRIDE", "FOWNER")
"""What removing files of anybody takes, and nothing beside."""


def empty_folder(folder: Path, *, runtime: str, image: str, labels: Mapping[str, str]) -> None:
    """Remove all that is in a folder of this user's: by ourselves, and the rest as root in a container of `image`.

    Args:
        folder: where it is on this machine.
        runtime: the program that starts the container.
        image: id of the lab's own agent image, which has the Python that removes.
        labels: for the container.

    Raises:
        LabError: LEFTOVERS, naming the folder, for what is still there.

    """
    _remove_own(folder)
    if not any(folder.iterdir()):
        return
    called = call(_argv(folder, runtime=runtime, image=image, labels=labels))
    _remove_own(folder)
    if left := sorted(path.name for path in folder.iterdir()):
        raise LabError(
            ErrorCode.LEFTOVERS,
            f"{folder} holds files that are not this user's, and that no container could remove",
            found=[Found("is still there", file=name) for name in left],
            cause=called.last_line if called.exit_code != 0 else None,
            next_step=f"labctl clean, or as root: rm -r {folder}",
        )


def _remove_own(folder: Path) -> None:
    for path in list(folder.iterdir()):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)  # what cannot be removed is looked for afterwards
        else:
            with suppress(PermissionError):  # as above
                path.unlink()


def _argv(folder: Path, *, runtime: str, image: str, labels: Mapping[str, str]) -> list[str]:
    return [
        *(runtime, "run", "--rm", "--pull", "never", "--network", "none", "--read-only"),
        *(part for name, value in labels.items() for part in ("--label", f"{name}={value}")),
        *("--user", "0:0", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"),
        *(part for capability in _CAPABILITIES for part in ("--cap-add", capability)),
        *("--mount", f"type=bind,source={folder},target={_PLACE}"),
        *("--workdir", "/", "--entrypoint", PYTHON[0], image, *PYTHON[1:], "-c", _REMOVE),
    ]
