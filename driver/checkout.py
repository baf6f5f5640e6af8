"""Where labctl itself lives: the checkout that holds compose.yaml, the services' code and the locks."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
AGENT_HOST = ROOT / "agent_host" / "__main__.py"
LOCKS = ("requirements-dev.lock", "fixture_api/requirements.lock", "runner/requirements.lock")
SERVICES = ("fixture_api", "runner", "agent_host", "contracts", "ledger", "providers")
