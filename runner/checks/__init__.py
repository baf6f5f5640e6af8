"""The checks: pure functions from a case and what was observed to verdicts."""
