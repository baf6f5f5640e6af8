"""Whether the owner of something left behind still lives."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from contracts.errors import Found
from driver import cleaning
from driver.doctor import examine
from driver.owner import life_of, own_identity, owner_is_gone
from driver.scratch import dead_scratch, remove_dead_scratch, scratch_folder, unseen_scratch
from driver.stacks import ownership
from driver.stacks.ownership import Owned

IN_ANOTHER_PID_NAMESPACE = ("unshare", "--pid", "--fork")
OWN_PROC = "--mount-proc"


def owner_with(**parts: str) -> str:
    """The identity of this process, but for some parts."""
    names = ("pid", "started", "boot", "namespace", "host")
    return ":".join((dict(zip(names, own_identity().split(":", 4), strict=True)) | parts).values())


@pytest.fixture
def gone() -> str:
    """A process of this namespace that ended."""
    code = "from driver.owner import own_identity; print(own_identity())"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_this_process_lives() -> None:
    assert life_of(own_identity()) == "lives"


def test_a_process_that_ended_is_gone(gone: str) -> None:
    assert life_of(gone) == "gone"


def test_a_pid_that_another_process_has_now_is_not_the_owner() -> None:
    assert life_of(owner_with(started="1")) == "gone"


def test_an_owner_before_the_last_boot_is_gone() -> None:
    assert life_of(owner_with(boot="another-boot")) == "gone"
    assert life_of("1:2:another-boot:" + owner_with().rpartition(":")[2]) == "gone", "an older label says it too"


@pytest.mark.parametrize("owner", ["", "1:2:3:another-machine", "1:2:3:4:another-machine", "no words of ours"])
def test_what_nobody_here_can_tell_is_spared(owner: str) -> None:
    assert life_of(owner) == "unseen"
    assert not owner_is_gone(owner)


def test_a_pid_of_another_namespace_says_nothing_here() -> None:
    assert life_of(owner_with(started="1", namespace="1")) == "unseen"


def test_a_label_without_a_namespace_as_older_ones_are_is_spared() -> None:
    pid, _, boot, _, host = own_identity().split(":", 4)
    assert life_of(f"{pid}:1:{boot}:{host}") == "unseen"


def test_a_process_that_is_hidden_from_this_user_is_not_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where /proc is mounted with hidepid."""
    real = Path.read_text

    def hidden(path: Path) -> str:
        if path == Path(f"/proc/{os.getppid()}/stat"):
            raise FileNotFoundError(path)
        return real(path)

    monkeypatch.setattr(Path, "read_text", hidden)
    assert life_of(owner_with(pid=str(os.getppid()), started="1")) == "unseen"


def test_the_engine_keeps_what_may_live_and_clean_names_each_reason(monkeypatch: pytest.MonkeyPatch, gone: str) -> None:
    def thing(run: str, owner: str, kept: str | None = None) -> Owned:
        return Owned("container", id=run, name=run, run=run, owner=owner, kept=kept)

    unseen = owner_with(started="1", namespace="1")
    things = [
        *(thing("dead", gone), thing("kept", gone, "/nowhere"), thing("live", own_identity())),
        *(thing("unseen", unseen), thing("unseen-kept", unseen, "/nowhere")),
    ]
    removed: list[Owned] = []

    def remove(those: Iterable[Owned]) -> list[Found]:
        removed.extend(those)
        return []

    monkeypatch.setattr(ownership, "owned_things", lambda: things)
    monkeypatch.setattr(ownership, "remove_all", remove)
    assert cleaning.clean_engine() == cleaning.Cleaned(
        removed=("container dead of dead",),
        spared_runs=("live",),
        kept_runs=("kept",),
        unseen=("unseen", "unseen-kept"),
    )
    assert removed == [things[0]]
    assert cleaning.clean_engine(kept=True).removed == ("container dead of dead", "container kept of kept")
    assert cleaning.reap_engine("unseen") == []


@pytest.fixture(params=[(OWN_PROC,), ()], ids=["with its own /proc", "with the /proc of this one"])
def elsewhere(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """A command line's beginning that leads into another PID namespace."""
    begin = (*IN_ANOTHER_PID_NAMESPACE, *request.param)
    tried = subprocess.run([*begin, "true"], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        pytest.skip(f"no other PID namespace for this user (root has one): {tried.stderr.strip()}")
    return begin


def test_a_live_runs_folder_is_spared_from_another_pid_namespace_and_named(
    elsewhere: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    code = (
        "from pathlib import Path; from driver.cleaning import clean_disk; from driver.doctor import examine;"
        "print(next(one.text for one in examine(Path()) if one.name == 'scratch folders')); print(clean_disk())"
    )
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    with scratch_folder() as live:
        argv = [*elsewhere, sys.executable, "-c", code]
        done = subprocess.run(argv, env=env, capture_output=True, text=True, check=True)
        assert done.stdout.splitlines() == [
            "none left behind; 1 of another PID namespace or machine: cannot tell",
            str(cleaning.Cleaned(removed=(), unseen=(str(live),))),
        ]
        assert live.is_dir()


def test_a_folder_of_another_pid_namespace_is_spared_here(
    elsewhere: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    code = "import os, driver.scratch as s; f = s.scratch_folder(); print(f.__enter__(), flush=True); os._exit(0)"
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    argv = [*elsewhere, sys.executable, "-c", code]
    left = subprocess.run(argv, env=env, capture_output=True, text=True, check=True).stdout.strip()
    assert (dead_scratch(), unseen_scratch()) == ([], [Path(left)])


def test_a_dead_runs_folder_is_removed_and_a_live_ones_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    code = "import os, driver.scratch as s; f = s.scratch_folder(); print(f.__enter__(), flush=True); os._exit(9)"
    root = Path(__file__).resolve().parents[2]
    env = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": str(root)}
    dead = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False).stdout
    with scratch_folder() as live:
        found = next(finding for finding in examine(tmp_path) if finding.name == "scratch folders")
        assert found.error is not None
        assert str(found.error).splitlines() == [
            f"labctl: leftovers: dead runs left 1 scratch folder: {dead.strip()}",
            "next: labctl clean",
        ]
        assert remove_dead_scratch() == [Path(dead.strip())]
        assert live.is_dir()
        assert dead_scratch() == []
    assert list(tmp_path.iterdir()) == []
