"""The names of the files in a run directory (CONTRACT §7)."""

from __future__ import annotations

from collections.abc import Collection

PLAN = "plan.json"
SUITE_FOLDER = "suite"
AGENT_FOLDER = "agent"
ENVIRONMENT = "environment.json"
RESULTS = "results.json"
JUNIT = "junit.xml"
JOURNAL = "journal.jsonl"
README = "README.md"
RUN_LOG = "run.log"
TRACES_FOLDER = "traces"
ATTEMPTS = "traces/attempts.jsonl"
OTLP = "traces/otlp.jsonl"
SESSIONS_JSON = "sessions.json"
SESSIONS_DB = "sessions.db"
COMPARISON = "comparison.json"
ABORT = "abort.json"
BEGUN = "begun.json"
COMPLETE = "COMPLETE"

FOLLOWING = (ENVIRONMENT, RESULTS, JUNIT, README, SESSIONS_JSON, COMPARISON)
"""Files that are written after the last attempt, from what was recorded until then."""
RECORDED = (PLAN, JOURNAL, ATTEMPTS, OTLP, RUN_LOG, SESSIONS_DB)
"""Files that follow from no other, beside those of `RECORDED_FOLDERS`; of sessions.db that is true of its bytes."""
RECORDED_FOLDERS = (SUITE_FOLDER, AGENT_FOLDER)

APPEND_ONLY = (JOURNAL, ATTEMPTS, RUN_LOG)
"""Files that grow while a run is under way and may end in a cut line; all others are whole or absent."""


def is_run_folder(names: Collection[str]) -> bool:
    """Whether files of these names make their folder a run directory, also one that has no plan yet."""
    return PLAN in names or (JOURNAL in names and RUN_LOG in names)


def is_run_directory(names: Collection[str], folders: Collection[str]) -> bool:
    """The same among files that are not the lab's own, which may have one of those names: by a run's folders, too."""
    return is_run_folder(names) and not {TRACES_FOLDER, SUITE_FOLDER}.isdisjoint(folders)
