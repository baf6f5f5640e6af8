"""Copies of the checkout: to be changed by a test, or to belong to an ordinary user who owns all of it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.compose.launching import ROOT, Labctl

IS_ROOT = os.getuid() == 0
USERS = ("root", "ordinary") if IS_ROOT else ("ordinary",)
"""Who can be played here: only root can be somebody else."""
ORDINARY_ID = 12345
_SOCKET = Path(os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock").removeprefix("unix://"))
_MAIN = "from driver.cli.main import main; main()"
_LEFT_OUT = shutil.ignore_patterns(".git", ".venv*", ".build", ".env", "evidence", "tests", "__pycache__", ".*_cache")
_NO_PART_OF_A_RUN = shutil.ignore_patterns("site-packages", "test", "config-*", "mypy*", "*__mypyc*", "ruff*", "pip*")


def copy_checkout(target: Path) -> Path:
    """The checkout without its history, environment and evidence; `.env` is there as `make setup` wrote it."""
    shutil.copytree(ROOT, target, ignore=_LEFT_OUT)
    shutil.copyfile(ROOT / ".env", target / ".env")
    (target / "evidence").mkdir()
    (target / ".build" / "agent-suite").mkdir(parents=True)
    return target


def labctl_of_copy(copy: Path, *, work: Path) -> Labctl:
    """The labctl of a copied checkout, run by the interpreter of the tests."""
    return Labctl((sys.executable, "-c", _MAIN), copy, dict(os.environ), work)


@dataclass(frozen=True)
class User:
    """Somebody with a home, a checkout of their own and access to the engine."""

    name: str
    uid: int
    home: Path
    checkout: Path
    python: Path
    environ: Mapping[str, str]

    def argv(self, *command: str) -> tuple[str, ...]:
        """The command as this user; `env` starts it, because setpriv itself still has the powers of root."""
        if self.uid == os.getuid():
            return command
        groups = str(_SOCKET.stat().st_gid)
        ids = (f"--reuid={self.uid}", f"--regid={self.uid}", f"--groups={groups}", "--bounding-set=-all")
        return ("setpriv", *ids, "--inh-caps=-all", "env", *command)

    def call(self, *command: str, timeout_s: float = 240) -> subprocess.CompletedProcess[str]:
        """Run a command in the user's checkout to its end."""
        return subprocess.run(
            self.argv(*command),
            cwd=self.checkout,
            env=dict(self.environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout_s,
        )

    def labctl(self) -> Labctl:
        """The labctl of this user."""
        return Labctl(self.argv(str(self.python), "-c", _MAIN), self.checkout, self.environ, self.home / "work")


@contextmanager
def user(name: str) -> Iterator[User]:
    """One of USERS after `make setup` in a checkout of theirs; everything of theirs is removed at the end."""
    home = Path(tempfile.mkdtemp(prefix=f"labctl-{name}-"))  # not below pytest's folder, where nobody else may look
    try:
        yield _made(name, home)
    finally:
        shutil.rmtree(home)


def _made(name: str, home: Path) -> User:
    uid = ORDINARY_ID if name == "ordinary" and IS_ROOT else os.getuid()
    checkout = copy_checkout(home / "labctl")
    (home / "work").mkdir()
    environ = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
    environ |= {name: os.environ[name] for name in ("DOCKER_HOST",) if name in os.environ}
    python = Path(sys.executable)
    if uid != os.getuid():
        python = _copy_interpreter(home / "python")
        environ |= {"PYTHONPATH": str(home / "python" / "packages"), "LD_LIBRARY_PATH": str(home / "python" / "lib")}
    _give(home, uid)
    made = User(name=name, uid=uid, home=home, checkout=checkout, python=python, environ=environ)
    setup = made.call(str(python), "-m", "scripts.build_images")
    assert setup.returncode == 0, setup.stderr
    return made


def _copy_interpreter(target: Path) -> Path:
    """The interpreter of these tests and its packages, copied: the original may be where only root can look."""
    binary = target / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
    binary.parent.mkdir(parents=True)
    shutil.copy(Path(sys.executable).resolve(), binary)
    standard = Path(sysconfig.get_path("stdlib"))
    shutil.copytree(standard, target / "lib" / standard.name, ignore=_NO_PART_OF_A_RUN, symlinks=True)
    shutil.copytree(sysconfig.get_path("platlib"), target / "packages", ignore=_NO_PART_OF_A_RUN, symlinks=True)
    for library in Path(sysconfig.get_config_var("LIBDIR")).glob("libpython*.so.*"):
        shutil.copy(library, target / "lib")
    return binary


def _give(folder: Path, uid: int) -> None:
    if uid == os.getuid():
        return
    for path in (folder, *folder.rglob("*")):
        os.chown(path, uid, uid, follow_symlinks=False)
