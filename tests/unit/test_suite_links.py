"""What of a suite is staged and kept: its own files, and links only where they stay inside."""

from __future__ import annotations

from pathlib import Path

from contracts.suite.loading import load_suite
from driver.staging import staged

CASES = '{"cases": [{"id": "a", "input": "hello", "expect": {"neverTools": ["x"]}}]}'


def test_links_that_leave_the_suite_or_lead_nowhere_are_left_out_and_named(tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    (suite / "real").mkdir(parents=True)
    (suite / "real" / "a.md").write_text("a")
    (tmp_path / "secret").write_text("s")
    (suite / "cases.json").write_text(CASES)
    (suite / "b.md").symlink_to("real/a.md")
    (suite / "out").symlink_to("../secret")
    (suite / "gone").symlink_to("nothing-there")
    (suite / "loop").symlink_to("loop")
    (suite / "folder").symlink_to("real")
    with staged(load_suite(suite)) as stage:
        copies = [path.relative_to(stage.suite).as_posix() for path in stage.suite.rglob("*") if path.is_file()]
        assert sorted(copies) == ["b.md", "cases.json", "real/a.md"]
        assert not any(path.is_symlink() for path in stage.suite.rglob("*"))
        assert stage.links_left_out == ("folder", "gone", "loop", "out")
