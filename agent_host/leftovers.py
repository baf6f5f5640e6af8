"""What an agent leaves behind, its files and its processes: how they are found, signalled and removed."""
# ruff: noqa: PTH101, PTH104, PTH106, PTH108, PTH114, PTH123, PTH208 - per process of a bomb: os is fast

import os
import sys
from collections.abc import Iterator
from contextlib import suppress


def remove_tree(top: str) -> None:
    """Remove a directory of any depth and modes, moving all below it to its first level; says on stderr what stays."""
    directories = [top]
    try:
        if os.path.islink(top):
            os.unlink(top)
        os.chmod(top, 0o700)
        for directory in directories:
            for entry in [*os.scandir(directory)]:
                if entry.is_dir(follow_symlinks=False):
                    os.chmod(entry.path, 0o700)
                    directories.append(f"{top}/{os.urandom(16).hex()}")
                    os.rename(entry.path, directories[-1])
                else:
                    os.unlink(entry.path)
        while directories:
            os.rmdir(directories.pop())
    except OSError as error:
        if os.path.lexists(top):
            print(f"agent_host: {top} is left behind: {error}", file=sys.stderr)


def descendants(keep: frozenset[int] = frozenset()) -> Iterator[int]:
    """Every descendant of this process, parents first, without `keep` and what is below those."""
    queue = [os.getpid()]
    for parent in queue:
        with suppress(FileNotFoundError, ProcessLookupError):  # gone: its children have another parent in the next walk
            for task in os.listdir(f"/proc/{parent}/task"):
                with open(f"/proc/{parent}/task/{task}/children", "rb", buffering=0) as file:
                    found = [pid for pid in map(int, file.read().split()) if pid not in keep]
                queue += found
                yield from found


def send(pid: int, number: int, *, done_groups: set[int] | None = None) -> None:
    """Signal a process, and first its whole group at once, which no fork escapes, unless that is done."""
    with suppress(ProcessLookupError, PermissionError):  # the next walk tells who is left
        if done_groups is not None and (group := os.getpgid(pid)) not in done_groups:
            done_groups.add(group)
            os.killpg(group, number)
        os.kill(pid, number)


def first_to_go(pid: int) -> None:
    """Let the kernel, when memory runs out, end this process and those that it starts rather than any of ours."""
    gone_or_not_ours = (FileNotFoundError, ProcessLookupError, PermissionError)  # then it is as it was
    with suppress(*gone_or_not_ours), open(f"/proc/{pid}/oom_score_adj", "wb", buffering=0) as file:
        file.write(b"1000")
