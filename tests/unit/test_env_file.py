"""`make setup` and the user share .env: ours are set, theirs stay."""

from __future__ import annotations

from pathlib import Path

from scripts.build_images import write_env
from scripts.outside_images import read_env


def test_a_new_file_has_every_variable(tmp_path: Path) -> None:
    write_env(tmp_path / ".env", {"LAB_UID": "1", "AGENT_IMAGE": "sha256:a"})
    assert read_env(tmp_path / ".env") == {"LAB_UID": "1", "AGENT_IMAGE": "sha256:a"}
    assert [path.name for path in tmp_path.iterdir()] == [".env"]


def test_the_lines_of_the_user_stay_and_ours_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_text("# mine\nOPENAI_API_KEY=a=b\nLAB_UID=1\n", encoding="utf-8")
    write_env(path, {"LAB_UID": "2"})
    write_env(path, {"LAB_UID": "3"})
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[1:] == ["LAB_UID=3", "# mine", "OPENAI_API_KEY=a=b"]
    assert lines[0].startswith("# set by make setup")
