"""The environment variables of an agent that the lab sets itself, and that nobody else can set."""

from __future__ import annotations

LAB_VARIABLES = (
    *("FIXTURE_URL", "MODEL_URL", "LAB_CASE_ID", "LAB_ATTEMPT", "LAB_NOW"),
    *("EVAL_SEED", "TZ", "LANG", "TRACEPARENT"),
)
"""As `runner.agents.task` gives them; TRACEPARENT only with the profile observe."""
