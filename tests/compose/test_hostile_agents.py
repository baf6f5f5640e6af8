"""Hostile agents from inside, in each isolation: what they see and reach, what becomes of them and of neighbours.

One run for each: `looks` reports, then one after the other does its worst while `steady` works beside them, and at last
one kills whatever it can while `steady-later` works. The rows are those of docs/isolation.md.
"""

from __future__ import annotations

import json
import signal
import socket
import subprocess
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.compose.engine_calls import containers_of, docker
from tests.compose.launching import FinishedRun, LiveRun, labctl_of_checkout, told
from tests.compose.run_networks import addresses, connects_from, network, toxiproxy
from tests.compose.small_suites import EXPECTATION_MARKER, hostile_suite
from tests.compose.test_networks import addresses_of_this_host, port_of_this_host

pytestmark = pytest.mark.engine

NAMES = ("fixture-control", "fault-control", "fault-proxy", "otel-collector", "eval-runner")
OUTSIDE = ("host.docker.internal", "gateway.docker.internal", "example.com", "metadata.google.internal")
PATHS = (
    *("/suite", "/suite/cases.json", "/evidence", "/traces", "/var/run/docker.sock", "/run/docker.sock"),
    *(f"/agent-suite/{name}" for name in ("cases.json", "routes.json", "state.json", "suite.toml", "plan.json")),
    "/agent-suite/models",
)
CASES: dict[str, dict[str, Any]] = {
    "steady": {},
    "looks": {},
    "quiet": {},
    "has-children": {},
    "fork-bomb": {"limits": {"seconds": 6}},
    "memory-hog": {},
    "inode-hog": {},
    "file-hog": {},
    "floods-lines": {},
    "floods-unbroken": {},
    "floods-stderr": {},
    "floods-stderr-unbroken": {},
    "orphans": {},
    "zombies": {},
    "closes-its-output": {},
    "signals-the-first": {},
    "kills-its-warden": {},
    "disk-hog": {},
    "steady-later": {},
    "kills-everybody": {},
    "memory-hog-of-many": {},
}
AT_LAST = ("kills-everybody", "memory-hog-of-many")
"""What ends a neighbour where they share; the second by the kernel's choice, so there it has none any more."""
BESIDE_STEADY = (*[case for case in CASES if case not in {"steady", "steady-later", *AT_LAST}],)
SLOWER_AT_MOST = 3
"""Than beside a quiet one the neighbour may be, over all others together."""
SLOWEST_BESIDE_ONE = 10
"""Likewise beside any single one: it makes a tenth of the calls, rounded down."""
LONGEST_PAUSE_S = 30
MB = 1 << 20
OUTPUT_BYTES = 200_000
VERDICTS: dict[str, tuple[str, str | None]] = {
    "steady": ("pass", None),
    "looks": ("pass", None),
    "quiet": ("pass", None),
    "has-children": ("pass", None),
    "fork-bomb": ("fail", "limit"),
    "memory-hog": ("fail", "agent-error"),
    "memory-hog-of-many": ("fail", "agent-error"),
    "inode-hog": ("fail", "agent-error"),
    "file-hog": ("fail", "agent-error"),
    "floods-lines": ("fail", "limit"),
    "floods-unbroken": ("fail", "limit"),
    "floods-stderr": ("fail", "limit"),
    "floods-stderr-unbroken": ("fail", "limit"),
    "orphans": ("pass", None),
    "zombies": ("pass", None),
    "closes-its-output": ("pass", None),
    "signals-the-first": ("pass", None),
    "kills-its-warden": ("unknown", "infrastructure"),
    "disk-hog": ("fail", "agent-error"),
    "kills-everybody": ("unknown", "infrastructure"),
}
BOUNDS = {
    "container": {"/dev/shm": 16, "/tmp": 32, "/work": 64, "/working_dir": 96},  # noqa: S108 - in the container
    "shared": {"/dev/shm": 16, "/tmp": 32, "/work": 160},  # noqa: S108 - in the container
}
"""Where anything can be written, and what fits there with memory_mb = 256, in MB."""


@dataclass(frozen=True)
class Seen:
    """One run in an isolation, and what the test knows besides."""

    isolation: str
    run: FinishedRun
    told: dict[str, Any]
    open_to_the_lab: list[bool]
    fixture: str
    verified: subprocess.CompletedProcess[str]

    def said(self, case: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.run.attempts[case]["texts"][0])
        return found

    @property
    def inside(self) -> dict[str, Any]:
        return self.said("looks")


def container_of(run: LiveRun, case: str, *, isolation: str) -> str | None:
    """Where that case's agent runs, once it does."""
    if isolation == "shared":
        return next(iter(containers_of(run.id, service="agent")), None)
    mine = ("--filter", f"label=labctl.run={run.id}", "--filter", f"label=labctl.attempt={case}#1")
    return docker("ps", "--quiet", "--no-trunc", *mine) or None


def leave(run: LiveRun, case: str, *, isolation: str) -> None:
    run.until(lambda: container_of(run, case, isolation=isolation) is not None)
    path = f"/dev/shm/leave-{case}"  # noqa: S108 - in the container
    docker("exec", container_of(run, case, isolation=isolation) or "", "touch", path)


def orders(run: LiveRun, agent: str, port: int) -> dict[str, Any]:
    """What the agent that looks around is told to try."""
    tools, control = network(run, "tools"), network(run, "control")
    gateways = [config["Gateway"] for net in (tools, control) for config in net["IPAM"]["Config"]]
    bridge = json.loads(docker("network", "inspect", "bridge"))[0]["IPAM"]["Config"][0]["Gateway"]
    here = [address for address in addresses_of_this_host() if address not in {"127.0.0.1", "::1"}]
    return {
        "hostPort": port,
        "names": [*NAMES, *OUTSIDE],
        "addresses": [*here, *gateways, bridge, *addresses(tools).values(), *addresses(control).values()],
        "controlAddresses": list(addresses(control).values()),
        "ownAddress": addresses(tools)[agent],
        "paths": PATHS,
        "marker": EXPECTATION_MARKER,
    }


def looked(run: LiveRun, isolation: str) -> tuple[dict[str, Any], list[bool], str]:
    """Let `looks` look, with all of the lab's services there; what it was told, and what the lab itself reaches."""
    run.until(lambda: {"steady", "looks"} <= running_cases(run))
    agent = container_of(run, "looks", isolation=isolation) or ""
    (fixture,) = containers_of(run.id, service="fixture-api")
    with port_of_this_host() as port, toxiproxy(run) as proxy:
        said = orders(run, agent, port)
        assert {fixture, proxy} <= set(addresses(network(run, "control")))
        ours = (("fixture-control", 8081), ("fault-control", 8474), ("otel-collector", 4318))
        open_to_the_lab = [connects_from(fixture, name, number) for name, number in ours]
        socket.create_connection(("127.0.0.1", port), 2).close()
        put = "cat > /tmp/new && mv /tmp/new /tmp/told.json"
        docker("exec", "--interactive", agent, "sh", "-c", put, given=json.dumps(said))
        run.until(lambda: "looks" in run.finished_cases())
    return said, open_to_the_lab, addresses(network(run, "tools"))[fixture]


def running_cases(run: LiveRun) -> set[str]:
    return {case for case in ("steady", "looks", "steady-later") if run.runs_an_agent_of(case)}


@pytest.fixture(scope="module", params=["container", "shared"])
def seen(request: pytest.FixtureRequest, images: Path, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    isolation = str(request.param)
    labctl = labctl_of_checkout(tmp_path_factory.mktemp("hostile"))
    suite = hostile_suite(tmp_path_factory.mktemp("suite"), [{"id": name, **case} for name, case in CASES.items()])
    flags = ("--backend", "compose", "--isolation", isolation, "--profile", "observe", "--capture", "payloads")
    with labctl.started(str(suite), *flags, "--concurrency", "2") as run:
        said, open_to_the_lab, fixture = looked(run, isolation)
        run.until(lambda: set(BESIDE_STEADY) <= set(run.finished_cases()) and "steady-later" in running_cases(run))
        leave(run, "steady", isolation=isolation)
        run.until(lambda: set(AT_LAST) <= set(run.finished_cases()) or run.process.poll() is not None)
        if isolation == "container":
            leave(run, "steady-later", isolation=isolation)
        done = run.wait()
    verified = labctl.call("verify", str(done.folder))
    return Seen(isolation, done, said, open_to_the_lab, fixture, verified)


def test_the_run_goes_on_to_its_end_is_sealed_and_leaves_nothing(seen: Seen) -> None:
    assert seen.run.exit_code == 1, told(seen.run)
    assert set(seen.run.attempts) == set(CASES)
    assert seen.verified.returncode == 0, seen.verified.stderr
    assert seen.run.left == {}


def test_no_uid_of_root_no_capability_no_new_privileges_and_a_filter_of_calls(seen: Seen) -> None:
    status = seen.inside["status"]
    assert "0" not in status["Uid"].split() + status["Gid"].split() + status["Groups"].split()
    capabilities = {name: int(value, 16) for name, value in status.items() if name.startswith("Cap")}
    assert capabilities == dict.fromkeys(("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"), 0)
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")


def test_a_setuid_program_is_nobody_too_and_what_needs_a_privilege_is_refused(seen: Seen) -> None:
    uids = {uid for fields in seen.inside["setuid"].values() for uid in fields.split()}
    assert seen.inside["setuid"], "there are some in the image"
    assert uids == {seen.inside["status"]["Uid"].split()[0]}
    assert [name for name, worked in seen.inside["privileges"].items() if worked] == []


def test_it_writes_in_named_places_only_and_each_is_bounded_in_bytes_and_files(seen: Seen) -> None:
    places = {place: size for place, size in seen.inside["places"].items() if place != "/dev/mqueue"}
    assert {place: size // MB for place, (size, _) in places.items()} == BOUNDS[seen.isolation]
    assert [place for place, (size, files) in places.items() if files > size // 8192] == []
    assert seen.inside["knobs"] == []


def test_no_socket_of_the_engine_and_no_device_is_there(seen: Seen) -> None:
    assert seen.inside["sockets"] == []


def test_of_all_names_and_addresses_it_reaches_the_data_port_only(seen: Seen) -> None:
    assert seen.inside["reached"] == [["fixture-api", 8080]]


def test_what_it_did_not_reach_was_there_and_was_tried(seen: Seen) -> None:
    assert seen.open_to_the_lab == [True, True, True]
    tried = {*seen.told["names"], *seen.told["addresses"], *seen.told["controlAddresses"], seen.fixture}
    assert set(seen.inside["tried"]) >= tried | {"192.0.2.1", "169.254.169.254", "2001:db8::1"}
    assert any(address.endswith(".0.1") for address in seen.inside["tried"])


def test_nothing_leads_to_the_control_network_or_out(seen: Seen) -> None:
    assert seen.inside["routed"] == []
    assert seen.inside["ownNetworkIsRouted"] is True


def test_no_name_of_the_control_network_the_host_or_the_world_resolves(seen: Seen) -> None:
    hidden = {"fixture-control", "fault-control", "otel-collector", *OUTSIDE}
    assert hidden & set(seen.inside["resolved"]) == set()
    assert "fault-proxy" in seen.inside["resolved"]


def test_no_expectation_and_no_evidence_is_in_files_or_processes(seen: Seen) -> None:
    assert seen.inside["there"] == []
    assert seen.inside["withMarker"] == []
    assert seen.inside["withOwnText"] == ["/agent-suite/agents/inside.py"], "the search finds what is there"


def test_nothing_of_the_labs_own_processes_beside_it_is_open(seen: Seen) -> None:
    lab = seen.inside["processes"]["lab"]
    assert "1" in lab
    assert len(lab) >= 2, "the host, and the warden that started this agent"
    assert [(pid, ways) for pid, ways in lab.items() if ways] == []


def test_in_a_container_of_its_own_it_sees_no_other_attempt_and_shared_hides_none(seen: Seen) -> None:
    """Measured, not wished for: in a shared container the neighbour can be read, and written to."""
    processes = seen.inside["processes"]
    if seen.isolation == "container":
        assert (processes["others"], processes["casesOfOthers"]) == ({}, [])
        assert seen.said("steady")["cases"] == []
        return
    assert processes["casesOfOthers"] == ["steady"]
    assert all({"environ", "mem", "fd", "cwd"} <= set(ways) for ways in processes["others"].values())
    assert set(seen.said("steady")["cases"]) >= {"looks", "quiet"}, "the two that stay for longer than it pauses"


@pytest.mark.parametrize("case", VERDICTS)
def test_each_is_judged_by_its_class(seen: Seen, case: str) -> None:
    assert seen.run.verdict(case) == VERDICTS[case], seen.run.attempts[case]


@pytest.mark.parametrize(
    ("case", "end"),
    [
        ("fork-bomb", {"reason": "seconds"}),
        ("memory-hog", {"reason": "exit", "signal": int(signal.SIGKILL)}),
        ("memory-hog-of-many", {"reason": "exit", "exitCode": 3}),
        ("disk-hog", {"reason": "exit", "exitCode": 1}),
        ("inode-hog", {"reason": "exit", "exitCode": 1}),
        ("file-hog", {"reason": "exit", "exitCode": 4}),
        ("floods-lines", {"reason": "output"}),
        ("floods-unbroken", {"reason": "output"}),
        ("floods-stderr", {"reason": "output"}),
        ("floods-stderr-unbroken", {"reason": "output"}),
        ("orphans", {"reason": "exit", "exitCode": 0, "strays": 30}),
        ("closes-its-output", {"reason": "exit", "exitCode": 0}),
        ("kills-its-warden", {"reason": "supervisor-lost"}),
        ("kills-everybody", {"reason": "supervisor-lost"}),
    ],
)
def test_the_record_says_how_it_ended(seen: Seen, case: str, end: dict[str, Any]) -> None:
    found = seen.run.attempts[case]["agentEnd"]
    assert {key: found.get(key) for key in end} == end


def test_its_processes_open_files_and_zombies_are_counted_and_refused(seen: Seen) -> None:
    assert 60 <= seen.said("has-children")["children"] < 128
    assert seen.run.attempts["has-children"]["agentEnd"]["strays"] == seen.said("has-children")["children"]
    assert 60 <= seen.said("zombies")["zombies"] < 128
    assert 8000 <= seen.said("file-hog")["opened"] < 8192


def test_memory_that_runs_out_ends_agents_and_never_the_labs_own_processes(seen: Seen) -> None:
    assert seen.said("memory-hog-of-many")["died"] == 4


def test_a_full_disk_is_refused_to_the_one_that_filled_it(seen: Seen) -> None:
    written = seen.said("disk-hog")["written"]
    for place, size in BOUNDS[seen.isolation].items():
        named = next(name for name in written if f"{name}/".startswith(f"{place}/"))
        assert (size - 2) * MB <= written[named] <= size * MB, (named, written[named])
    assert 1000 <= seen.said("inode-hog")["made"] < BOUNDS[seen.isolation]["/work"] * MB // 8192


@pytest.mark.parametrize("case", [case for case in CASES if case.startswith("floods")])
def test_a_flood_ends_at_its_limit(seen: Seen, case: str) -> None:
    kept = [path.stat().st_size for path in (seen.run.folder / "traces").rglob("*")]
    assert seen.run.attempts[case]["durationMs"] < 60_000
    assert sum(kept) < 20 * OUTPUT_BYTES


def test_no_signal_of_an_agent_ends_the_first_process(seen: Seen) -> None:
    assert seen.said("signals-the-first")["refused"] == []
    assert seen.run.verdict("kills-its-warden")[0] == "unknown", "the one that came next was started"


def test_the_neighbour_at_work_meanwhile_passes_unharmed(seen: Seen) -> None:
    said = seen.said("steady")
    rows = seen.run.journals()["steady"]
    assert [row["status"] for row in rows] == [200] * len(said["beats"])
    assert seen.run.attempts["steady"]["agentEnd"]["strays"] == 0


def window_of(seen: Seen, case: str) -> tuple[float, float]:
    """When that attempt was under way, in seconds since the epoch."""
    attempt = seen.run.attempts[case]
    began = datetime.fromisoformat(attempt["startedAt"]).timestamp()
    return began, began + attempt["durationMs"] / 1000


def test_the_neighbour_in_a_container_of_its_own_works_on_as_it_does_beside_a_quiet_one(seen: Seen) -> None:
    """Measured against the same neighbour in the same run, so that a busy machine slows both sides of it."""
    beats = seen.said("steady")["beats"]

    def of(case: str) -> tuple[int, float]:
        began, ended = window_of(seen, case)
        return sum(began <= beat < ended for beat in beats), round(ended - began, 1)

    worked = {case: of(case) for case in BESIDE_STEADY}
    quiet, hostile = worked.pop("quiet"), worked
    longest = max(after - before for before, after in pairwise(beats))
    told_of = f"{seen.isolation}: beats, seconds: quiet {quiet}, others {hostile}; longest pause {longest:.1f} s"
    print(told_of)
    rate = quiet[0] / quiet[1]
    assert rate > 0, told_of
    if seen.isolation == "shared":  # promises nothing of the kind
        return
    beaten, seconds = (sum(part) for part in zip(*hostile.values(), strict=True))
    assert beaten / seconds >= rate / SLOWER_AT_MOST, told_of
    starved = [case for case, (count, lasted) in hostile.items() if count < int(lasted * rate / SLOWEST_BESIDE_ONE)]
    assert starved == [], told_of
    assert longest <= LONGEST_PAUSE_S, told_of


def test_one_that_kills_whatever_it_can_harms_a_neighbour_only_where_they_share(seen: Seen) -> None:
    if seen.isolation == "container":
        assert seen.run.verdict("steady-later") == ("pass", None)
        assert seen.said("steady-later")["cases"] == []
    else:
        assert seen.run.verdict("steady-later") == ("unknown", "infrastructure"), (
            "never a pass, never the neighbour's fail"
        )


def test_what_is_left_in_tmp_stays_only_where_they_share(seen: Seen) -> None:
    found = seen.said("steady")["files"]
    assert found == ([] if seen.isolation == "container" else ["left-by-disk-hog"])


def test_what_shared_cannot_promise_is_said_before_the_first_attempt(seen: Seen) -> None:
    assert ("isolation shared" in seen.run.stderr) is (seen.isolation == "shared")
