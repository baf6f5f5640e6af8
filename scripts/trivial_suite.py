"""Makes a suite of N trivial cases (one scripted reply, one assertion) for the benches."""

from __future__ import annotations

import json
from pathlib import Path

_SETTINGS = """revision = "bench"
clock = "2026-09-01T12:00:00Z"
default_agent = "bench"

[prompts.bench]
file = "prompts/bench.md"

[agents.bench]
adapter = "chat"
model = "scripted/bench"
prompt = "bench"

[agents.shell]
adapter = "command"
command = ["sh", "{suite}/agents/bench.sh"]
"""
SHELL_AGENT = """printf '%s\\n' '{"type": "message", "text": "The capital is Paris."}'
"""
"""A program that costs next to nothing beside its being started."""


def write_trivial_suite(folder: Path, *, cases: int) -> Path:
    """Write the suite into the folder, which is made; returns the folder."""
    (folder / "prompts").mkdir(parents=True)
    (folder / "models").mkdir()
    (folder / "agents").mkdir()
    (folder / "agents" / "bench.sh").write_text(SHELL_AGENT)
    (folder / "suite.toml").write_text(_SETTINGS)
    (folder / "prompts" / "bench.md").write_text("Answer with the capital of France.\n")
    rules = [{"when": {}, "reply": {"text": "The capital is Paris."}}]
    (folder / "models" / "bench.json").write_text(json.dumps({"rules": rules}))
    expect = {"assertions": [{"type": "contains", "value": "Paris"}]}
    rows = [
        {"id": f"case-{number:06d}", "input": f"What is the capital of France? ({number})", "expect": expect}
        for number in range(cases)
    ]
    (folder / "cases.json").write_text(json.dumps({"cases": rows}))
    return folder
