"""What of a suite is staged and kept: its own files, and links only where they stay inside."""

from __future__ import annotations

from pathlib import Path

from driver.staging import links_left_out, suite_files


def test_links_that_leave_the_suite_or_lead_nowhere_are_left_out_and_named(tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    (suite / "real").mkdir(parents=True)
    (suite / "real" / "a.md").write_text("a")
    (tmp_path / "secret").write_text("s")
    (suite / "b.md").symlink_to("real/a.md")
    (suite / "out").symlink_to("../secret")
    (suite / "gone").symlink_to("nothing-there")
    (suite / "loop").symlink_to("loop")
    (suite / "folder").symlink_to("real")
    assert [name for name, _ in suite_files(suite)] == ["b.md", "real/a.md"]
    assert links_left_out(suite) == ["folder", "gone", "loop", "out"]
