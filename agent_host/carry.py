"""Copies this Python with everything it loads to one folder that starts in any Linux image, also in an empty one."""

import compileall
import py_compile
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

NOT_CARRIED = (
    *("test", "tests", "idlelib", "lib2to3", "turtledemo", "tkinter", "ensurepip", "pydoc_data", "venv"),
    *("site-packages", "dist-packages", "config-*", "__pycache__", "unittest", "sqlite3", "curses", "dbm", "xmlrpc"),
    *("asyncio", "multiprocessing", "concurrent", "_pyrepl", "xml", "email", "http", "wsgiref", "_codecs_*.so"),
    *(
        "_ssl*.so",
        "_hashlib*.so",
        "_tkinter*.so",
        "_test*.so",
        "_sqlite3*.so",
        "_curses*.so",
        "_dbm*.so",
        "readline*.so",
    ),
)
"""What no agent_host imports; without OpenSSL its hashes are Python's own."""
LOADER = "ld.so"
"""The same name on every machine, so that one command line starts it."""


def needed_libraries(programs: list[Path]) -> dict[str, Path]:
    """Name to path of every shared library that these load, the loader among them under the name LOADER."""
    found = {}
    for program in programs:
        told = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=True).stdout
        for name, path in re.findall(r"^\s*(\S+) => (/\S+)", told, re.MULTILINE):
            found[name] = Path(path)
        for path in re.findall(r"^\s*(/\S+) \(", told, re.MULTILINE):
            found[LOADER] = Path(path)
    return found


def carry(to: Path) -> None:
    """Fill bin/ and lib/ of the folder; raises CalledProcessError for a program that ldd does not read."""
    stdlib, version = Path(sysconfig.get_path("stdlib")), f"python3.{sys.version_info.minor}"
    (to / "bin").mkdir(parents=True)
    program = shutil.copyfile(Path(sys.executable).resolve(), to / "bin" / "python3")
    program.chmod(0o755)
    copied = shutil.copytree(stdlib, to / "lib" / version, ignore=shutil.ignore_patterns(*NOT_CARRIED))
    for name, path in needed_libraries([program, *copied.rglob("*.so")]).items():
        shutil.copyfile(path, to / "lib" / name)
    (to / "lib" / LOADER).chmod(0o755)
    # never compared with the source's time, which a volume or an archive may change
    compileall.compile_dir(to, quiet=1, workers=0, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)


if __name__ == "__main__":
    carry(Path(sys.argv[1]))
