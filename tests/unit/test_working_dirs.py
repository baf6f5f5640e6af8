"""Where a run looks for the working folders of its cases: the place that the suite has them, staged with all of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from driver.drafting import Draft, draft_run
from driver.staging import staged
from tests.fakes.run_requests import REQUEST, no_registry
from tests.fakes.session_folder import session, write_sessions

SETTINGS = """\
sessions = "evals"
default_agent = "desk"

[agents.desk]
adapter = "command"
command = ["cat"]
"""


def draft(tmp_path: Path) -> Draft:
    root = tmp_path / "suite"
    write_sessions(root / "evals", {"one": session(working_dir="desk", size="S"), "two": session(size="S")})
    (root / "evals/working_dirs/desk/hollow").mkdir(parents=True)
    (root / "suite.toml").write_text(SETTINGS)
    request = replace(REQUEST, suite=root, evidence=tmp_path / "evidence")
    return draft_run(request, backend="compose", host_env={}, fetch=no_registry)


def test_the_folder_of_a_session_stands_beside_the_sessions_and_is_staged_even_where_it_has_no_file(
    tmp_path: Path,
) -> None:
    drafted = draft(tmp_path)

    assert drafted.own_containers is not None
    assert dict(drafted.own_containers.working_dirs) == {"one": "evals/working_dirs/desk"}
    with staged(drafted.suite) as stage:
        assert (stage.suite / "evals/working_dirs/desk/hollow").is_dir()
