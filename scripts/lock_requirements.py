#!/usr/bin/env python3
"""Locks the development tools and each image's packages by hash; --check says offline which lock is out of date."""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DEVELOPMENT = "requirements-dev.lock"
STAMP = "# inputs: sha256:"
PIN = re.compile(r"^([a-z0-9][a-z0-9._-]*)==(\S+)", re.MULTILINE)


@dataclass(frozen=True)
class Lock:
    """One lock file and what it is made from."""

    path: str
    source: str
    python: str
    options: tuple[str, ...] = ()


LOCKS = (
    Lock(DEVELOPMENT, "pyproject.toml", "3.11", ("--extra", "dev")),
    Lock("fixture_api/requirements.lock", "fixture_api/requirements.in", "3.13", ("--constraint", DEVELOPMENT)),
    Lock("runner/requirements.lock", "runner/requirements.in", "3.13", ("--constraint", DEVELOPMENT)),
    Lock("scripts/peers/requirements.lock", "scripts/peers/requirements.in", "3.11"),
    Lock("scripts/audit/requirements.lock", "scripts/audit/requirements.in", "3.11"),
)


def inputs_sha256(lock: Lock) -> str:
    """Hex digest of what a lock depends on: of pyproject.toml only its requirements."""
    text = (ROOT / lock.source).read_text(encoding="utf-8")
    if lock.source == "pyproject.toml":
        project = tomllib.loads(text)["project"]
        parts = ("requires-python", "dependencies", "optional-dependencies")
        text = json.dumps({part: project[part] for part in parts}, sort_keys=True)
    options = json.dumps([lock.python, *lock.options])
    return hashlib.sha256(f"{options}\n{text}".encode()).hexdigest()


def pins(path: str) -> dict[str, str]:
    """Package name to version, as a lock file pins them."""
    return dict(PIN.findall((ROOT / path).read_text(encoding="utf-8")))


def problems_of(lock: Lock) -> list[str]:
    """Why a lock does not fit the checkout; empty when it does. Reads files only."""
    if not (ROOT / lock.path).is_file():
        return [f"{lock.path}: is not there"]
    found = []
    text = (ROOT / lock.path).read_text(encoding="utf-8")
    if f"{STAMP}{inputs_sha256(lock)}\n" not in text:
        found.append(f"{lock.path}: was not made from this {lock.source}")
    if re.search(r"^\s*(?:-i|--index-url|--extra-index-url|--find-links)\b|://", text, re.MULTILINE):
        found.append(f"{lock.path}: names where packages come from")
    if DEVELOPMENT in lock.options and (ROOT / DEVELOPMENT).is_file():
        development = pins(DEVELOPMENT)
        found += [
            f"{lock.path}: {name} {version}, but {DEVELOPMENT} has {development.get(name, 'none')}"
            for name, version in pins(lock.path).items()
            if development.get(name) != version
        ]
    return found


def compile_lock(lock: Lock, *, uv: str, upgrade: bool) -> None:
    """Let uv resolve one lock and stamp it; versions that still fit are kept. Raises CalledProcessError."""
    target = ROOT / lock.path
    with tempfile.TemporaryDirectory() as scratch:
        draft = Path(scratch) / "draft.lock"
        if target.is_file() and not upgrade:
            shutil.copyfile(target, draft)
        fixed = ("--universal", "--generate-hashes", "--no-annotate", "--no-header", "--no-emit-index-url", "--quiet")
        command = [uv, "pip", "compile", lock.source, *lock.options, *fixed, "--python-version", lock.python]
        subprocess.run([*command, "--output-file", str(draft)], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        body = draft.read_text(encoding="utf-8")
    header = f"# made by scripts/lock_requirements.py from {lock.source}\n{STAMP}{inputs_sha256(lock)}\n"
    target.write_text(header + body, encoding="utf-8")


def uv_program(scratch: Path) -> str:
    """The uv on the path, else one installed into a throwaway environment below `scratch`."""
    found = shutil.which("uv")
    if found:
        return found
    venv.create(scratch, with_pip=True)
    subprocess.run([str(scratch / "bin" / "pip"), "install", "--quiet", "uv"], check=True)
    return str(scratch / "bin" / "uv")


def main() -> int:
    """Make every lock, or with --check compare them with their inputs; 1 when one does not fit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; offline")
    parser.add_argument("--upgrade", action="store_true", help="take newer versions where the inputs allow them")
    arguments = parser.parse_args()
    if not arguments.check:
        with tempfile.TemporaryDirectory() as scratch:
            uv = uv_program(Path(scratch))
            for lock in LOCKS:
                compile_lock(lock, uv=uv, upgrade=arguments.upgrade)
    problems = [problem for lock in LOCKS for problem in problems_of(lock)]
    if problems:
        print("lock_requirements: these locks do not fit the checkout", file=sys.stderr)
        print("\n".join(f"found: {problem}" for problem in problems), file=sys.stderr)
        print("next: scripts/lock_requirements.py", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
