"""Setup, working folders, root, a way out and containers that are kept, each seen in a real container."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.compose.engine_calls import containers_of, docker, left_on_engine
from tests.compose.launching import FinishedRun, Labctl, labctl_of_checkout, told
from tests.fakes.suite_folder import SuiteFolder

pytestmark = pytest.mark.engine

TELLS = """\
import json, os, pathlib, socket, sys, urllib.request
json.load(sys.stdin)
def text(path):
    try:
        return pathlib.Path(path).read_text().strip()
    except OSError as error:
        return type(error).__name__
def is_routed():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        try:
            datagrams.connect(("192.0.2.1", 53))
        except OSError:
            return False
    return True
def served():
    try:
        return socket.create_connection(("127.0.0.1", 7171), 1).recv(9).decode()
    except OSError as error:
        return type(error).__name__
status = pathlib.Path("/proc/self/status").read_text()
found = {name: text(name) for name in ("notes.txt", "made", "/etc/made-by-root", "/etc/labctl-deb")}
found |= {"cwd": os.getcwd(), "uid": os.getuid(), "routed": is_routed(), "served": served()}
found["capabilities"] = status.partition("CapEff:")[2].split()[0]
found["gains"] = status.partition("NoNewPrivs:")[2].split()[0]
found["wrote"] = pathlib.Path("notes.txt").write_text("changed") if os.path.exists("notes.txt") else None
print(json.dumps({"type": "message", "text": json.dumps(found)}))
"""
ENV = 'test "$HOME $TMPDIR $LANG $LAB_CASE_ID" = "/work /work C.UTF-8 installs" && test -n "$FIXTURE_URL"'
SERVES = "import socket; s = socket.create_server(('127.0.0.1', 7171)); c = s.accept()[0]; c.send(b'a service')"


@pytest.fixture(scope="module")
def labctl(images: Path, tmp_path_factory: pytest.TempPathFactory) -> Labctl:
    return labctl_of_checkout(tmp_path_factory.mktemp("labctl"))


def suite_of(root: Path, *cases: dict[str, Any], limits: str = "", agent: str = "") -> Path:
    settings = '[agents.small]\nadapter = "command"\ncommand = ["python3", "{suite}/agents/tells.py"]\n'
    settings += f"{agent}\n[limits]\nseconds = 60\n{limits}\n"
    expect = {"assertions": [{"type": "contains", "value": "cwd"}]}
    given = [{"input": "hello", "expect": expect, **case} for case in cases]
    texts = {"agents/tells.py": TELLS, "working_dirs/desk/notes.txt": "as it was", "working_dirs/desk/deep/er": "x"}
    return SuiteFolder(root, settings=settings, cases=given, texts=texts).write()


def said_by(run: FinishedRun, case: str) -> dict[str, Any]:
    assert run.verdict(case) == ("pass", None), told(run)
    said: dict[str, Any] = json.loads(run.attempts[case]["texts"][0])
    return said


def test_setup_and_working_folder_are_the_attempts_own_and_a_setup_that_cannot_is_unknown(
    labctl: Labctl, tmp_path: Path
) -> None:
    suite = suite_of(
        tmp_path / "suite",
        {
            "id": "prepared",
            "working_dir": "desk",
            "setup": 'cat notes.txt deep/er > made; test "$LAB_CASE_ID" = prepared',
        },
        {"id": "once-more", "working_dir": "desk"},
        {"id": "plain", "setup": f'python3 -c "{SERVES}" & sleep 0.5'},
        {"id": "fails", "setup": "echo looked for it; echo not there >&2; exit 9"},
        {"id": "hangs", "setup": "echo waits; sleep 60"},
        {"id": "needs-root", "setup": "touch /etc/made-by-root"},
        limits="setup_seconds = 5",
    )

    done = labctl.run(str(suite), "--capture", "payloads", "--concurrency", "2")

    prepared, again, plain = (said_by(done, case) for case in ("prepared", "once-more", "plain"))
    assert (prepared["cwd"], prepared["notes.txt"], prepared["made"]) == ("/working_dir", "as it was", "as it wasx")
    assert prepared["wrote"] == again["wrote"] == len("changed")
    assert (again["notes.txt"], again["made"]) == ("as it was", "FileNotFoundError")
    assert (plain["served"], plain["routed"], prepared["served"]) == ("a service", False, "ConnectionRefusedError")
    assert (suite / "working_dirs/desk/notes.txt").read_text() == "as it was"
    reasons = {case: done.attempts[case]["reason"] for case in ("fails", "hangs", "needs-root")}
    assert {done.verdict(case) for case in reasons} == {("unknown", "setup")}
    assert "it exited with 9; its last lines: looked for it / not there" in reasons["fails"]
    assert "it took longer than 5 s (setup_seconds); its last lines: waits" in reasons["hangs"]
    assert "next: --setup-root if it needs root" in reasons["needs-root"]
    assert "--egress if it needs a network" in reasons["needs-root"]
    assert (done.exit_code, done.left) == (3, {}), told(done)


def test_a_setup_as_root_may_install_and_the_agent_has_nothing_of_it(labctl: Labctl, tmp_path: Path) -> None:
    suite = suite_of(
        tmp_path / "suite",
        {
            "id": "installs",
            "working_dir": "desk",
            "setup": f"dpkg -i labctl-test.deb && {ENV} && id -u > /etc/made-by-root",
        },
        {"id": "fails", "setup": "echo from $LAB_CASE_ID; exit 4"},
        {"id": "hangs", "setup": "sleep 60"},
        limits="setup_seconds = 8",
    )
    _write_package(tmp_path / "package", suite / "working_dirs/desk/labctl-test.deb")

    done = labctl.run(str(suite), "--setup-root", "--capture", "payloads", "--concurrency", "1")

    found = said_by(done, "installs")
    assert (found["/etc/made-by-root"], found["/etc/labctl-deb"]) == ("0", "installed")
    assert found["uid"] != 0
    assert (found["capabilities"], found["gains"]) == ("0000000000000000", "1")
    assert "it exited with 4; its last lines: from fails" in done.attempts["fails"]["reason"]
    assert "it took longer than 8 s" in done.attempts["hangs"]["reason"]
    assert "--setup-root" not in done.attempts["fails"]["reason"]
    assert done.read("environment.json")["conditions"]["setupRoot"] is True
    assert done.left == {}


def _write_package(folder: Path, to: Path) -> None:
    """A package whose installation needs root: an owner that is not root, and a script."""
    (folder / "DEBIAN").mkdir(parents=True)
    (folder / "etc").mkdir()
    (folder / "etc/labctl-deb").write_text("installed")
    control = "Package: labctl-test\nVersion: 1\nArchitecture: all\nMaintainer: nobody\nDescription: for a test\n"
    (folder / "DEBIAN/control").write_text(control)
    (folder / "DEBIAN/postinst").write_text("#!/bin/sh\nset -e\nchown 1:1 /etc/labctl-deb\n")
    (folder / "DEBIAN/postinst").chmod(0o755)
    subprocess.run(["dpkg-deb", "--build", "--root-owner-group", str(folder), str(to)], check=True, capture_output=True)


def test_no_setup_skips_it_and_takes_the_need_for_containers(labctl: Labctl, tmp_path: Path) -> None:
    suite = suite_of(tmp_path / "suite", {"id": "skipped", "setup": "exit 1"})

    done = labctl.run(str(suite), "--no-setup")

    assert done.verdict("skipped") == ("pass", None), told(done)
    conditions = done.read("environment.json")["conditions"]
    assert (conditions["isolation"], conditions["noSetup"]) == ("shared", True)


@pytest.mark.parametrize("isolation", ["shared", "container"])
def test_egress_leads_the_agent_out_and_nothing_else_does(labctl: Labctl, tmp_path: Path, isolation: str) -> None:
    suite = suite_of(tmp_path / "suite", {"id": "looks"})

    done = labctl.run(str(suite), "--egress", "--isolation", isolation, "--backend", "compose", "--capture", "payloads")

    assert said_by(done, "looks")["routed"] is True
    assert done.read("environment.json")["conditions"]["egress"] is True
    assert done.left == {}


def test_a_model_outside_of_a_closed_network_is_refused(labctl: Labctl, tmp_path: Path) -> None:
    suite = suite_of(tmp_path / "suite", {"id": "looks"}, agent='model = "openai/gpt-5"')

    done = labctl.run(str(suite), "--backend", "compose")

    assert done.exit_code == 4
    assert 'labctl: egress-missing: the model "openai/gpt-5"' in done.stderr


def test_containers_are_kept_on_request_with_the_command_that_enters_them(labctl: Labctl, tmp_path: Path) -> None:
    suite = suite_of(tmp_path / "suite", {"id": "kept", "working_dir": "desk"})

    with labctl.started(str(suite), "--keep-containers") as run:
        done = run.wait()
        assert done.exit_code == 0, told(done)
        (container,) = containers_of(run.id)
        name = docker("inspect", "-f", "{{.Name}}", container).lstrip("/")
        assert f"kept#1 is kept running: docker exec -it {name} sh" in done.stderr
        assert f"docker exec -it {name} sh" in (done.folder / "README.md").read_text()
        assert docker("exec", name, "cat", "/working_dir/notes.txt") == "changed"
        assert "agents" in docker("exec", name, "ls", "/agent-suite").split()
        assert docker("inspect", "-f", "{{len .NetworkSettings.Networks}}", container) == "0"

        env = {**labctl.environ, "TMPDIR": str(run.scratch)}
        spared = Labctl(labctl.argv, labctl.root, env, labctl.work).call("clean")
        assert f"{run.id} kept its containers" in spared.stderr
        assert containers_of(run.id) == [container]
        assert "1 containers, kept on purpose" in labctl.call("doctor").stdout
        Labctl(labctl.argv, labctl.root, env, labctl.work).call("clean", "--kept")
        assert left_on_engine(run.id) == {}
        assert list(run.scratch.iterdir()) == []
