"""The driver's side of containers of attempts, with a program in the place of `docker` that writes down its calls."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from contracts.containers import ContainerOver, ContainerWanted, RootSetupWanted, container_answers
from contracts.errors import LabError
from contracts.lines import RunnerAttempt
from contracts.plan import ImageIdentity
from contracts.suite.settings import Limits
from driver.judging.attempts import Judging
from driver.judging.judge import Judge
from driver.ports import OwnContainers, World
from driver.stacks.attempt_containers import AttemptContainers, Place
from driver.stacks.compose import without_requests
from driver.stacks.container_argv import AttemptContainer
from providers.conversation import ProviderError, Reply
from tests.fakes.assignments import case_of
from tests.fakes.judged_attempts import record_of, waiting
from tests.fakes.written_runs import plan_of

WANTED = ContainerWanted(case_id="greets", attempt=2, alias="attempt-1", token_sha256="ab" * 32)
RUNTIME = """#!/bin/sh
printf '%s\\n' "$*" >> "$0.calls"
case "$1" in
  exec) cat > "$0.stdin"; echo installing; exit 6;;
  run) if test -e "$0.full"; then echo 'no space left' >&2; exit 125; fi; echo 0a1b2c;;
esac
"""


@pytest.fixture
def runtime(tmp_path: Path) -> Path:
    program = tmp_path / "engine"
    program.write_text(RUNTIME)
    program.chmod(0o755)
    return program


@pytest.fixture
def make(tmp_path: Path, runtime: Path) -> Iterator[Callable[..., AttemptContainers]]:
    made: list[AttemptContainers] = []
    image = ImageIdentity(reference="lab", digest="d", image_id="sha256:lab")
    base = ImageIdentity(reference="alpine", digest="d", image_id="sha256:alpine")
    plan = plan_of("greets").model_copy(update={"images": {"agent": image, "base": base}})
    (tmp_path / "suite/evals/working_dirs/desk").mkdir(parents=True)
    (tmp_path / "suite/evals/working_dirs/desk/notes").write_text("as it was")

    def containers(*, key: str = "agent", folder: str | None = None, **own: Any) -> AttemptContainers:
        needs = OwnContainers(
            image_of_case={"greets": key},
            working_dirs={"greets": f"evals/working_dirs/{folder}"} if folder else {},
            runtime=str(runtime),
            **own,
        )
        world = World(
            plan=plan,
            suite=tmp_path / "suite",
            agent_suite=tmp_path,
            agent_env={"KEY": "secret-value"},
            suite_root=tmp_path / "suite",
        )
        place = Place(
            world=world,
            own=needs,
            project="p",
            networks=("p_tools",),
            user=f"{os.getuid()}:{os.getgid()}",
            lent_volume=lambda: "p-python",
            labels={"labctl.run": "r"},
            mounts={"/agent-suite": tmp_path},
        )
        made.append(AttemptContainers(place))
        return made[-1]

    yield containers
    for each in made:
        each.close()


class SlowJudge:
    """Gives no verdict, and that late."""

    def __init__(self, until: threading.Event) -> None:
        self._until = until

    def ask(self, text: str, *, seed: int, most_s: float) -> Reply:
        self._until.wait(30.0)
        raise ProviderError("too late")


def obey(containers: AttemptContainers, *requests: Any) -> list[Any]:
    answers: list[str] = []
    containers.answer = answers.append
    for request in requests:
        containers.take(request.to_line())
    containers._pool.shutdown(wait=True)  # closing would end a setup
    containers.close()
    return [container_answers.validate_json(line) for line in answers]


def calls(runtime: Path) -> list[str]:
    return Path(f"{runtime}.calls").read_text().splitlines()


def test_a_container_is_started_with_one_call_and_the_runner_told(
    make: Callable[..., AttemptContainers], runtime: Path
) -> None:
    (answer,) = obey(make(), WANTED)

    (call,) = calls(runtime)
    assert (answer.type, answer.alias) == ("started", "attempt-1")
    assert "--name p-attempt-1 --rm --label labctl.run=r --label labctl.attempt=greets#2" in call
    assert "--network p_tools --network-alias attempt-1" in call
    assert f"--token-sha256 {WANTED.token_sha256}" in call
    assert " sha256:lab --library-path" in call
    assert "p-python" not in call
    assert "secret-value" not in call


def test_an_image_of_a_user_borrows_the_labs_python(make: Callable[..., AttemptContainers], runtime: Path) -> None:
    obey(make(key="base"), WANTED)

    assert "type=volume,source=p-python,target=/opt/lab,readonly" in calls(runtime)[0]
    assert " sha256:alpine --library-path" in calls(runtime)[0]


def test_an_engine_that_cannot_is_named_in_its_own_words(make: Callable[..., AttemptContainers], runtime: Path) -> None:
    Path(f"{runtime}.full").touch()

    (answer,) = obey(make(), WANTED)

    assert (answer.type, answer.reason) == ("failed", f"{runtime} run: no space left")


def test_a_runtime_that_is_not_there_is_an_answer_too(make: Callable[..., AttemptContainers], runtime: Path) -> None:
    runtime.unlink()

    (answer,) = obey(make(), WANTED)

    assert answer.type == "failed"
    assert "No such file" in answer.reason


def test_the_working_folder_is_given_read_only_and_copied_to_a_bounded_place(
    make: Callable[..., AttemptContainers], runtime: Path, tmp_path: Path
) -> None:
    obey(make(folder="desk"), WANTED)

    given = tmp_path / "suite/evals/working_dirs/desk"
    assert f"type=bind,source={given},target=/working_dir.given,readonly" in calls(runtime)[0]
    assert "--given /working_dir.given /working_dir" in calls(runtime)[0]
    owner = f"uid={os.getuid()},gid={os.getgid()}"
    assert f"--tmpfs /working_dir:exec,mode=1777,{owner},size=768m,nr_inodes=98304" in calls(runtime)[0]


def test_an_empty_working_folder_is_given_too(make: Callable[..., AttemptContainers], tmp_path: Path) -> None:
    (tmp_path / "suite/evals/working_dirs/hollow").mkdir()

    (answer,) = obey(make(folder="hollow"), WANTED)

    assert answer.type == "started"


def test_a_working_folder_that_does_not_fit_is_named_with_what_to_raise(
    make: Callable[..., AttemptContainers], runtime: Path, tmp_path: Path
) -> None:
    with (tmp_path / "suite/evals/working_dirs/desk/large").open("wb") as file:
        file.truncate(768 << 20)

    (answer,) = obey(make(folder="desk"), WANTED)

    assert answer.type == "failed"
    assert "desk has 2 entries of 768.0 MB" in answer.reason
    assert "room for 98304 of 768 MB: raise memory_mb of [limits]" in answer.reason
    assert not Path(f"{runtime}.calls").exists()


def test_a_working_folder_that_is_not_there_is_named_and_starts_nothing(
    make: Callable[..., AttemptContainers], runtime: Path
) -> None:
    (answer,) = obey(make(folder="gone"), WANTED)

    assert answer.type == "failed"
    assert "the working_dir evals/working_dirs/gone is not in the suite" in answer.reason
    assert not Path(f"{runtime}.calls").exists()


def test_only_a_container_that_nobody_entered_costs_a_call_at_its_end(
    make: Callable[..., AttemptContainers], runtime: Path
) -> None:
    obey(make(), WANTED, ContainerOver(alias="attempt-2", entered=True))
    obey(make(), ContainerOver(alias="attempt-3", entered=False))

    assert [call.split()[0] for call in calls(runtime)] == ["run", "rm"]


def test_a_container_that_is_over_while_it_starts_is_removed_once_it_has(
    make: Callable[..., AttemptContainers], runtime: Path
) -> None:
    runtime.write_text(RUNTIME.replace("  run)", "  run) sleep 0.3;").replace("printf", "sleep 0; printf"))
    runtime.write_text(runtime.read_text() + 'printf \'%s ended\\n\' "$1" >> "$0.calls"\n')

    obey(make(), WANTED, ContainerOver(alias="attempt-1", entered=False))

    assert [" ".join(call.split()[:2]) for call in calls(runtime)][1] == "run ended"
    assert calls(runtime)[2].startswith("rm --force p-attempt-1")


def test_a_container_that_is_kept_is_neither_removed_nor_ends(
    make: Callable[..., AttemptContainers], runtime: Path
) -> None:
    obey(make(keep=True, folder="desk"), WANTED, ContainerOver(alias="attempt-1", entered=False))

    (call,) = calls(runtime)
    assert " --rm " not in call
    assert call.endswith(" --stay")


def test_a_setup_as_root_gets_script_and_environment_on_its_input_alone(
    make: Callable[..., AttemptContainers], runtime: Path
) -> None:
    wanted = RootSetupWanted(alias="attempt-1", script="make me", env={"KEY": "secret-value"}, seconds=20)

    (answer,) = obey(make(), wanted)

    assert (answer.type, answer.exit_code, answer.output) == ("setup-ended", 6, "installing\n")
    assert "exec --interactive --user 0:0 --workdir /working_dir p-attempt-1" in calls(runtime)[0]
    assert "secret-value" not in Path(f"{runtime}.calls").read_text()
    assert json.loads(Path(f"{runtime}.stdin").read_text()) == {"script": "make me", "env": {"KEY": "secret-value"}}


def test_a_setup_that_cannot_be_begun_fails_its_attempt_at_once(
    make: Callable[..., AttemptContainers], monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_memory(*_: Any, **__: Any) -> list[str]:
        raise MemoryError("no room")

    monkeypatch.setattr("driver.stacks.attempt_containers.root_setup_argv", no_memory)
    (answer,) = obey(make(), RootSetupWanted(alias="attempt-1", script="make me", env={}, seconds=20))

    assert (answer.type, answer.reason) == ("failed", "MemoryError: no room")


def test_leaving_ends_a_setup_that_is_under_way(make: Callable[..., AttemptContainers], runtime: Path) -> None:
    runtime.write_text('#!/bin/sh\ntouch "$0.begun"\nexec sleep 600\n')
    containers, answers = make(), list[str]()
    containers.answer = answers.append
    containers.take(RootSetupWanted(alias="attempt-1", script="make me", env={}, seconds=600).to_line())
    while not Path(f"{runtime}.begun").exists():
        threading.Event().wait(0.01)

    containers.close()

    assert [container_answers.validate_json(line).type for line in answers] == ["setup-ended"]


def test_leaving_cuts_a_start_off_that_takes_longer_than_its_grace_and_begins_no_other(
    make: Callable[..., AttemptContainers], runtime: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("driver.stacks.attempt_containers.START_GRACE_S", 0.1)
    runtime.write_text('#!/bin/sh\necho "$1" >> "$0.calls"\nexec sleep 600\n')
    containers, answers = make(), list[str]()
    containers.answer = answers.append
    for number in range(20):
        containers.take(WANTED.model_copy(update={"alias": f"attempt-{number}"}).to_line())
    while not Path(f"{runtime}.calls").exists():
        threading.Event().wait(0.01)

    containers.close()

    assert containers.gave_up
    assert {container_answers.validate_json(line).type for line in answers} == {"failed"}
    assert 1 <= len(calls(runtime)) <= containers.place.world.plan.concurrency + 2


def test_what_could_not_be_taken_away_is_told_at_the_end(
    make: Callable[..., AttemptContainers], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: Any, **__: Any) -> None:
        raise PermissionError("not yours")

    monkeypatch.setattr("driver.stacks.attempt_containers.call", refused)
    containers = make()
    with pytest.raises(LabError, match="1 containers of attempts could not be taken away") as caught:
        obey(containers, ContainerOver(alias="attempt-1", entered=False))

    assert [str(one) for one in caught.value.found] == ["p-attempt-1: PermissionError: not yours"]
    containers._left.clear()


def test_a_request_behind_attempts_that_wait_for_a_slow_judge_is_obeyed_meanwhile(
    make: Callable[..., AttemptContainers],
) -> None:
    judged, containers, answers = threading.Event(), make(), list[str]()
    judging = Judging(Judge(SlowJudge(judged), votes=1, waits_s=()), {"greets": case_of()}, ahead=1)
    attempt = RunnerAttempt(record=record_of(waiting("it is polite"))).to_line()
    told = list[str]()
    judging.tell = told.append

    for line in without_requests(iter([attempt] * 5 + [WANTED.to_line()]), containers, tell=answers.append):
        judging.take(RunnerAttempt.model_validate_json(line), done=lambda _: None)
    containers._pool.shutdown(wait=True)

    assert [container_answers.validate_json(line).type for line in answers] == ["started"]
    assert told == ['{"type":"pace","hold":true}']
    judged.set()
    judging.settle()
    judging.close()


def container(**fields: Any) -> str:
    given: dict[str, Any] = {
        "runtime": "docker",
        "name": "n",
        "alias": "a",
        "image": "i",
        "token_sha256": "t",
        "networks": ("tools",),
        "user": "10001:10001",
        "limits": Limits(memory_mb=64, pids=32),
        "mounts": {"/agent-suite": Path("/view")},
        "working_dir": None,
        "lent_volume": None,
    }
    return " ".join(AttemptContainer(**given | fields).argv())


def test_a_container_is_hardened_and_bounded() -> None:
    words = container()

    for expected in (
        "--pull never",
        "--user 10001:10001 --cap-drop ALL --security-opt no-new-privileges --read-only",
        "--memory 64m --memory-swap 64m --pids-limit 32",
        "--mount type=bind,source=/view,target=/agent-suite,readonly",
        "--tmpfs /work:exec,mode=1777,uid=10001,gid=10001,size=16m,nr_inodes=2048",
        "--tmpfs /tmp:noexec,mode=1777,uid=10001,gid=10001,size=8m,nr_inodes=1024",
        "--tmpfs /dev/shm:noexec,mode=1777,uid=10001,gid=10001,size=4m,nr_inodes=512",
        "--ulimit nofile=8192:8192",
        "--tmpfs /working_dir:exec",
    ):
        assert expected in words
    assert "--cap-add" not in words
    assert "--cpus" not in words
    assert "docker.sock" not in words


def test_cpus_are_limited_where_the_suite_says_so() -> None:
    assert "--cpus 1.5" in container(limits=Limits(cpus=1.5))


def test_a_root_setup_gets_a_writable_root_and_some_capabilities_and_the_agent_stays_nobody() -> None:
    words = container(setup_root=True)

    assert "--read-only" not in words
    assert "--cap-drop ALL" in words
    assert "--cap-add CHOWN" in words
    assert "SYS_ADMIN" not in words
    assert "--user 10001:10001" in words
    assert "no-new-privileges" in words


def test_a_way_out_is_a_second_network_and_the_name_stands_on_the_first() -> None:
    assert "--network tools --network egress --network-alias a" in container(networks=("tools", "egress"))
