"""Right inputs of labctl, and seeded ways to break them: suites, sessions, agent files and files of values."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from random import Random
from typing import Any

from tests.fakes.docker_agent_suites import AGENT
from tests.fakes.hostile_values import ENV_LINES, JSON_TEXTS, TOML_LINES, TOML_TEXTS, YAML_TEXTS
from tests.fakes.run_mutations import bind_socket
from tests.fakes.session_folder import old_style, said, session, write_sessions
from tests.fakes.suite_folder import ROUTE, SETTINGS, SuiteFolder
from tests.fakes.text_edits import edited_bytes, edited_json

_MARK = "\ue000"
"""Stands where a text goes that `json.dumps` would not write."""
_MORE_SETTINGS = """
[agents.web]
adapter = "http"
url = "http://localhost:9/answer"
protocol = "openai"

[limits]
seconds = 5
tool_calls = 3

[jobs.clean]
profiles = []

[jobs.fault]
profiles = ["fault", "observe"]
"""
_FAULTS = {
    "network": [{"type": "latency", "attributes": {"latency": 5}, "target": "tools"}],
    "responses": [{"route": "read-order", "kind": "status", "value": 503, "skip": 1}],
}
_CASES: list[dict[str, Any]] = [
    {
        "id": "greets",
        "title": "Says hello",
        "protected": True,
        "input": [{"role": "user", "content": "hello"}, {"role": "user", "content": "again"}],
        "state": {"orders": {"a-1": {"amount": 6}}},
        "limits": {"seconds": 3, "cost_usd": 0.5},
        "expect": {
            "toolCalls": [{"name": "lookup_order", "arguments": {"order_id": "a-1"}}],
            "toolMatch": "subset",
            "state": [{"pointer": "/orders/a-1/amount", "equals": 6}],
            "assertions": [{"type": "regex", "value": "hel+o"}, {"type": "json_schema", "value": {"type": "object"}}],
            "size": "S",
        },
    },
    {"id": "fails", "input": "x", "faults": _FAULTS, "routes": [], "expect": {"relevance": ["is kind"]}},
]


def write_world(root: Path) -> None:
    """What commands are given here: suite/, sessions/, agent.yaml with evals/, values.env, and things of odd kinds."""
    routes = [{**ROUTE, "effects": [{"op": "replace", "path": "/orders/{order_id}/amount", "value": 1}]}]
    SuiteFolder(root / "suite", settings=SETTINGS + _MORE_SETTINGS, cases=_CASES, routes=routes).write()
    sessions = {
        "one": session(said("user", "read"), said("assistant", "ok", tools=("read",), agent="root"), size="S"),
        "Größe ✓": session(old_style(said("user", "hello")), relevance=["is short"], setup="true", image="alpine"),
        "two": session(title=None, assertions=[{"type": "Contains", "value": "x"}], working_dir="desk"),
    }
    write_sessions(root / "sessions", sessions, files={"working_dirs/desk/a.txt": "a\n"})
    (root / "agent.yaml").write_text(AGENT)
    shutil.copytree(root / "sessions", root / "evals")
    (root / "values.env").write_text("KEY=value\n# comment\nOTHER='a b'\n")
    (root / "noise").write_bytes(b"\0\xff" * 500)
    for name in ("noise.zip", "noise.tar.gz"):
        shutil.copy(root / "noise", root / name)
    (root / "peer.json").write_text(json.dumps({"timestamp": 1, "config": {}, "summary": {}, "sessions": []}))
    (root / "peer.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 100)
    (root / "empty").mkdir()


def add_odd_kinds(root: Path) -> None:
    """Links, a fifo and a socket, where they are not there."""
    there = {path.name for path in root.iterdir()}
    if "fifo" not in there:
        os.mkfifo(root / "fifo")
    if "socket" not in there:
        bind_socket(root / "socket")
    for name, target in (("loop", "loop"), ("dangling", "nowhere")):
        if name not in there:
            (root / name).symlink_to(target)


def break_tree(root: Path, rng: Random, *, times: int) -> list[str]:
    """So many changes to the files below a folder; what was done."""
    return [_broken(root, rng) for _ in range(times)]


def _broken(root: Path, rng: Random) -> str:
    paths = sorted(path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    if not paths:
        return "nothing is left"
    path = rng.choice(paths)
    name = path.relative_to(root).as_posix()
    if rng.random() < 0.12:
        return f"{name} {_other_kind(path, rng)}"
    if rng.random() < 0.2:
        how, content = edited_bytes(path.read_bytes(), rng)
    else:
        how, content = _EDITS.get(path.suffix, edited_bytes)(path.read_bytes(), rng)
    path.write_bytes(content)
    return f"{how} {name}"


def _other_kind(path: Path, rng: Random) -> str:
    content = path.read_bytes()
    path.unlink()
    kind = rng.choice(["gone", "folder", "fifo", "loop", "to /dev/zero", "outside", "case", "nfd", "not UTF-8"])
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind in {"loop", "to /dev/zero", "outside"}:
        path.symlink_to({"loop": path.name, "to /dev/zero": "/dev/zero", "outside": "/etc/hostname"}[kind])
    elif kind != "gone":
        names = {"case": path.name.upper(), "nfd": f"A\u030a{path.name}", "not UTF-8": f"\udcff{path.name}"}
        path.with_name(names[kind]).write_bytes(content)
    return f"is now: {kind}"


def _json(content: bytes, rng: Random) -> tuple[str, bytes]:
    """A value changed within its shape, or one that no JSON writer would write put in the place of another."""
    if rng.random() < 0.4:
        try:
            return edited_json(content, rng)
        except (ValueError, RecursionError):
            return edited_bytes(content, rng)
    try:
        holder = [json.loads(content)]
    except (ValueError, RecursionError):
        return edited_bytes(content, rng)
    place: Any = holder
    key: Any = 0
    while isinstance(place[key], dict | list) and place[key] and rng.random() < 0.85:
        place = place[key]
        key = rng.choice(sorted(place)) if isinstance(place, dict) else rng.randrange(len(place))
    if isinstance(place, dict) and rng.random() < 0.2:
        key = rng.choice(["x", "", "$state", "__proto__", "\ud800", "id", "expect"])
    place[key] = _MARK
    text = json.dumps(holder[0], ensure_ascii=True).replace(json.dumps(_MARK), rng.choice(JSON_TEXTS))
    return "odd value in", text.encode()


def _toml(content: bytes, rng: Random) -> tuple[str, bytes]:
    lines = content.decode("utf-8", "replace").split("\n")
    at = rng.randrange(len(lines))
    key, is_setting, _ = lines[at].partition(" = ")
    if is_setting and rng.random() < 0.6:
        lines[at] = f"{key} = {rng.choice(TOML_TEXTS)}"
    elif rng.random() < 0.5:
        lines.insert(at, rng.choice(TOML_LINES))
    else:
        lines.insert(rng.randrange(len(lines)), lines.pop(at))
    return "odd settings in", "\n".join(lines).encode("utf-8", "surrogatepass")


def _yaml(content: bytes, rng: Random) -> tuple[str, bytes]:
    lines = content.decode("utf-8", "replace").split("\n")
    at = rng.randrange(len(lines))
    key, has_key, _ = lines[at].partition(": ")
    if has_key and rng.random() < 0.6:
        lines[at] = f"{key}: {rng.choice(YAML_TEXTS)}"
    elif rng.random() < 0.5:
        lines.insert(at, " " * rng.randrange(6) + rng.choice(YAML_TEXTS))
    else:
        lines.insert(rng.randrange(len(lines)), lines.pop(at))
    return "odd YAML in", "\n".join(lines).encode("utf-8", "surrogatepass")


def _env(content: bytes, rng: Random) -> tuple[str, bytes]:
    return "odd values in", b"\n".join(rng.choice(ENV_LINES) for _ in range(rng.randrange(1, 4))) + b"\n"


_EDITS = {".json": _json, ".toml": _toml, ".yaml": _yaml, ".env": _env}
