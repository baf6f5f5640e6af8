"""Writes what Compose makes of compose.yaml with both profiles to tests/contract/golden; --check: is it current."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests" / "contract" / "golden"
_OVERRIDE = ("-f", "compose.yaml", "-f", "driver/stacks/labctl.compose.yaml")
_SETUP = ("FIXTURE_API_IMAGE", "RUNNER_IMAGE", "AGENT_IMAGE", "LAB_UID", "LAB_GID")
_LABCTL = ("LAB_SUITE", "LAB_AGENT_SUITE", "LAB_RUN_ID", "LAB_OWNER", "LAB_TRACES")
_PINS = ("TOXIPROXY_IMAGE", "OTELCOL_IMAGE")
MODELS: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    "compose-by-hand": ((), ("fault", "observe"), _SETUP),
    "compose-labctl": (_OVERRIDE, ("eval", "agent", "fault", "observe"), _SETUP + _LABCTL),
}
"""By name of the file: which files are merged, under which profiles, and the variables that have a value."""


def compose_model(name: str) -> str:
    """The merged model as JSON, without what differs between machines; raises CalledProcessError."""
    files, profiles, variables = MODELS[name]
    chosen = [word for profile in profiles for word in ("--profile", profile)]
    command = ["docker", "compose", *files, "--project-name", "lab", "--env-file", os.devnull, *chosen]
    done = subprocess.run(
        [*command, "config", "--format", "json"],
        cwd=ROOT,
        env={key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ} | _values(variables),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    model = _kept(json.loads(done.stdout))
    return json.dumps(model, indent=2, sort_keys=True, ensure_ascii=False).replace(str(ROOT), "<checkout>") + "\n"


def _values(variables: tuple[str, ...]) -> dict[str, str]:
    # a path has to begin as one, or Compose reads it as the name of a volume
    return {name: f"/<{name}>" if name.endswith(("SUITE", "TRACES")) else f"<{name}>" for name in variables}


def _kept(value: Any, *, of: str = "") -> Any:
    """Without what some versions of Compose write out and others leave away: it means the same."""
    if isinstance(value, list):
        return [_kept(one) for one in value]
    if isinstance(value, dict):
        kept = {key: _told(key, _kept(one, of=key)) for key, one in value.items() if not key.startswith("x-")}
        if of == "networks":  # a service's: the name alone says that it is there
            return {key: one or {} for key, one in kept.items()}
        return {key: one for key, one in kept.items() if one is not None and one != {}}
    return value


def _told(key: str, value: Any) -> Any:
    if key == "mem_limit":
        return int(value)
    if key == "image":
        return _pinned().get(value, value)
    if key == "bind" and not any(value.values()):
        return None
    return value


def _pinned() -> dict[str, str]:
    """What a new pin changes is images.env alone."""
    lines = (ROOT / "images.env").read_text(encoding="utf-8").splitlines()
    pins = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    return {pins[name]: f"<{name} of images.env>" for name in _PINS}


def main() -> int:
    """Write the files, or compare them; 1 when one is not current."""
    texts = {GOLDEN / f"{name}.json": compose_model(name) for name in MODELS}
    if "--check" not in sys.argv[1:]:
        GOLDEN.mkdir(exist_ok=True)
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8")
        return 0
    stale = [
        path.name for path, text in texts.items() if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]
    if stale:
        print(f"not current: {', '.join(stale)}; next: python -m scripts.generate_compose_model", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
