"""What a setup as root leaves in a working folder goes with the run of a driver that is not root, killed or not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.compose.checkouts import user
from tests.compose.engine_calls import left_on_engine
from tests.compose.launching import Labctl, told
from tests.fakes.suite_folder import SuiteFolder

pytestmark = pytest.mark.engine

SAYS_HELLO = 'import json; print(json.dumps({"type": "message", "text": "hello"}))'
WAITS = "import time; time.sleep(600)"
LEAVES = "mkdir -p deep/er && touch deep/er/file && chmod 700 deep && chown 0:0 ."


@pytest.fixture(scope="module")
def labctl(images: Path) -> Iterator[Labctl]:
    with user("ordinary") as somebody:
        yield somebody.labctl()


def suite_of(root: Path, agent: str) -> str:
    settings = '[agents.small]\nadapter = "command"\ncommand = ["python3", "{suite}/agents/small.py"]\n'
    case = {
        "id": "makes-files",
        "input": "hello",
        "working_dir": "desk",
        "setup": LEAVES,
        "expect": {"assertions": [{"type": "contains", "value": "hello"}]},
    }
    texts = {"agents/small.py": agent, "working_dirs/desk/notes.txt": "as it was"}
    return str(SuiteFolder(root, settings=settings, cases=[case], texts=texts).write())


def test_files_of_root_in_a_working_folder_go_with_the_run(labctl: Labctl) -> None:
    suite = suite_of(labctl.work / "suite", SAYS_HELLO)

    run = labctl.run(suite, "--setup-root")

    assert run.verdict("makes-files") == ("pass", None), told(run)
    assert run.left == {}, told(run)
    assert (run.exit_code, run.is_sealed) == (0, True)


def test_what_a_killed_run_leaves_needs_no_root_to_be_removed(labctl: Labctl) -> None:
    suite = suite_of(labctl.work / "waits", WAITS)

    with labctl.started(suite, "--setup-root") as live:
        live.until(lambda: live.runs_an_agent_of("makes-files"))
        live.process.kill()
        live.process.wait(timeout=30)
        owners = {path.stat().st_uid for path in live.scratch.rglob("*")}
        env = {**labctl.environ, "TMPDIR": str(live.scratch)}
        cleaned = Labctl(labctl.argv, labctl.root, env, labctl.work).call("clean")

        assert owners == {labctl.work.stat().st_uid}
        assert cleaned.returncode == 0, cleaned.stderr
        assert left_on_engine(live.id) == {}
        assert list(live.scratch.iterdir()) == []
