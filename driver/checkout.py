"""Where labctl itself lives: the checkout that holds compose.yaml, the services' code and the locks."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
AGENT_HOST = ROOT / "agent_host" / "__main__.py"
LOCKS = ("requirements-dev.lock", "fixture_api/requirements.lock", "runner/requirements.lock")
SERVICES = ("fixture_api", "runner", "agent_host", "contracts", "ledger", "providers")
"""The folders of code that run in the lab's services."""
OF_THE_DRIVER = ("driver", "comparison")
"""Those that run in labctl alone: they judge relevance, redact, grade, compare."""
