"""sessions.db: the sessions of a run in docker-agent's store, one SQLite file that its tools open."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import zip_longest
from pathlib import Path

from contracts.record import Json
from ledger.session_records import SessionRun

_MIGRATIONS = (
    "001_add_tools_approved_column",
    "002_add_usage_column",
    "003_add_output_tokens_column",
    "004_add_title_column",
    "005_add_cost_column",
    "006_add_send_user_message_column",
    "007_add_max_iterations_column",
    "008_add_working_dir_column",
    "009_add_starred_column",
    "010_add_permissions_column",
    "011_add_agent_model_overrides_column",
    "012_add_custom_models_used_column",
    "013_add_thinking_column",
    "014_normalize_session_items",
    "015_migrate_messages_to_session_items",
    "016_add_branching_columns",
    "017_add_split_diff_view_column",
    "018_add_session_items_type_index",
    "019_drop_branch_and_split_diff_columns",
    "020_drop_messages_column",
    "021_add_first_kept_entry_column",
    "022_add_instruction_context_column",
    "023_add_cost_to_session_items",
    "024_add_safety_policy_column",
)
"""What docker-agent looks for to know which form a store has; newer versions bring it up to date by themselves."""
_TABLES = """
CREATE TABLE migrations (
  id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, description TEXT, applied_at TEXT NOT NULL
);
CREATE TABLE sessions (
  id TEXT PRIMARY KEY, created_at TEXT, tools_approved BOOLEAN DEFAULT 0, input_tokens INTEGER DEFAULT 0,
  output_tokens INTEGER DEFAULT 0, title TEXT DEFAULT '', cost REAL DEFAULT 0, send_user_message BOOLEAN DEFAULT 1,
  max_iterations INTEGER DEFAULT 0, working_dir TEXT DEFAULT '', starred BOOLEAN DEFAULT 0,
  permissions TEXT DEFAULT '', agent_model_overrides TEXT DEFAULT '{}', custom_models_used TEXT DEFAULT '[]',
  thinking BOOLEAN DEFAULT 1, parent_id TEXT REFERENCES sessions(id) ON DELETE CASCADE,
  instruction_context TEXT DEFAULT '', safety_policy TEXT DEFAULT ''
);
CREATE TABLE session_items (
  id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
  position INTEGER NOT NULL, item_type TEXT NOT NULL, agent_name TEXT, message_json TEXT, implicit BOOLEAN DEFAULT 0,
  subsession_id TEXT REFERENCES sessions(id) ON DELETE SET NULL, summary_text TEXT,
  first_kept_entry INTEGER DEFAULT 0, cost REAL NOT NULL DEFAULT 0
);
CREATE INDEX idx_sessions_parent_id ON sessions(parent_id);
CREATE INDEX idx_session_items_session ON session_items(session_id, position);
CREATE INDEX idx_session_items_session_type ON session_items(session_id, item_type);
"""
_COMPARED = {
    "sqlite_master": "type, name, tbl_name, sql",
    "migrations": "*",
    "sessions": "*",
    "session_items": "*",
    "sqlite_sequence": "*",
}
_COLUMNS = ("id", "created_at", "title", "input_tokens", "output_tokens", "cost")
_SESSION = f"""
INSERT INTO sessions ({", ".join(_COLUMNS)}, tools_approved, thinking)
VALUES ({", ".join(f":{name}" for name in _COLUMNS)}, 1, 0)
"""  # noqa: S608 - names of this module only
_ITEM = """
INSERT INTO session_items (session_id, position, item_type, agent_name, message_json) VALUES (?, ?, 'message', ?, ?)
"""


def write_sessions_db(run: SessionRun, path: Path) -> None:
    """Writes the store to a new file, with nothing beside it when it is done; raises sqlite3.Error and OSError."""
    with closing(sqlite3.connect(path, isolation_level=None)) as store:
        _fill(store, run)


def store_difference(run: SessionRun, path: Path) -> str | None:
    """The first thing in a store that does not follow from the run; None: it holds exactly that. Raises OSError.

    What is compared is what a reader of it gets, not the bytes: another version of SQLite lays them out otherwise.
    """
    # a store without a name is private, on the disk where it gets large, and gone when it is closed
    with closing(sqlite3.connect("", isolation_level=None)) as expected:
        _fill(expected, run)
        try:
            with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as store:
                return next(_differences(expected, store), None)
        except sqlite3.Error as error:
            return f"is no store that could be read: {error}"


def _differences(expected: sqlite3.Connection, store: sqlite3.Connection) -> Iterator[str]:
    """Tables first: nothing is asked of a store that has others, or views that somebody made."""
    for table, columns in _COMPARED.items():
        ask = f"SELECT {columns} FROM {table} ORDER BY rowid"  # noqa: S608 - names of this module only
        rows = zip_longest(expected.execute(ask), store.execute(ask))
        number = next((number for number, (one, other) in enumerate(rows, start=1) if one != other), None)
        if number is not None:
            yield f"row {number} of {table} does not follow from plan, attempts and sessions"


def _fill(store: sqlite3.Connection, run: SessionRun) -> None:
    # the file is new and only ours: a journal beside it would protect nothing
    store.execute("PRAGMA journal_mode = OFF")
    store.execute("BEGIN")
    for statement in _TABLES.split(";"):
        store.execute(statement)
    store.executemany("INSERT INTO migrations VALUES (?, ?, ?, ?)", _migrations(run.plan.planned_at))
    for session in run.sessions():
        store.execute(_SESSION, {name: session[name] for name in _COLUMNS})
        store.executemany(_ITEM, _items(session))
    store.execute("COMMIT")


def _migrations(applied_at: str) -> Iterator[tuple[int, str, str, str]]:
    for number, name in enumerate(_MIGRATIONS, start=1):
        yield number, name, name[4:].replace("_", " "), applied_at


def _items(session: dict[str, Json]) -> Iterator[tuple[str, int, str, str]]:
    for position, item in enumerate(session["messages"]):
        message = item["message"]
        text = json.dumps(message["message"], ensure_ascii=False, separators=(",", ":"))
        yield session["id"], position, message["agent_name"], text
