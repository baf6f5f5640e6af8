"""Links in a suite lead nowhere but into it."""

from __future__ import annotations

from pathlib import Path

from contracts.suite.links import lint_links


def test_a_file_link_inside_the_suite_is_no_problem(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("a")
    (tmp_path / "b.md").symlink_to("a.md")
    assert list(lint_links(tmp_path)) == []


def test_links_out_of_the_suite_to_nowhere_and_to_folders_are_all_named(tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    (suite / "real").mkdir(parents=True)
    (tmp_path / "secret").write_text("s")
    (suite / "out").symlink_to("../secret")
    (suite / "gone").symlink_to("nothing-there")
    (suite / "folder").symlink_to("real")
    named = {problem.file for problem in lint_links(suite)}
    assert named == {"suite/out", "suite/gone", "suite/folder"}
