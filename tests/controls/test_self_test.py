"""labctl doctor --self-test: it believes a lab that works, and says so of every part that was broken on purpose."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from comparison.compare import compare
from contracts import evidence
from contracts.comparison import Answer, CaseChange, Comparison, Difference, ToolResponse, Verdict
from contracts.errors import ErrorCode, LabError
from contracts.exits import Exit
from driver import verify
from driver.backends import choose_stack
from driver.ports import Stack
from driver.progress import ProgressLine
from driver.self_test import comparisons, seals
from driver.self_test.controls import look, self_test
from driver.self_test.expected import EXPECTED, NETWORK, REGRESSED
from driver.self_test.looked import Looked, verdict
from driver.self_test.outcomes import look_at_outcomes, look_for_secret
from driver.self_test.runs import SUITE, Runs, made_runs
from driver.stacks import standby
from tests.fakes.toxiproxies import find_toxiproxy

ROOT = Path(__file__).resolve().parents[2]
OTHERS = 11
"""Controls beside those of the agents: the runs, the seals, redaction, comparisons."""
PLANTED, SAME = "comparison: a planted regression", "comparison: what the worse agent did as before"
CHANGED = CaseChange(
    case_id="claims-a-call", title="it", protected=False, kind="changed", gates=False, reason="another trajectory"
)
ANSWERED = ToolResponse(
    case_id="claims-a-call",
    repeat=1,
    method="GET",
    path="/things/one",
    request_digest="",
    occurrence=1,
    baseline=Answer(status=200, response_digest="", line=1),
    candidate=Answer(status=503, response_digest="", line=1),
    same_requests_before=True,
    file=evidence.JOURNAL,
)
Edit = Callable[[dict[str, Any]], None]


def process_stack(started: ExitStack) -> Stack:
    return choose_stack("process", started=started)[0]


def silent(text: str) -> None:
    return None


def begin() -> Any:
    return ProgressLine(silent).begin


def problems(looked: list[Looked]) -> dict[str, Exit]:
    return {one.name: one.exit_code for one in looked if one.exit_code is not Exit.YES}


@pytest.fixture(scope="module")
def runs() -> Iterator[Runs]:
    with pytest.MonkeyPatch.context() as patch, ExitStack() as kept:
        if program := find_toxiproxy():
            patch.setenv("LABCTL_TOXIPROXY", program)
        yield kept.enter_context(made_runs(process_stack, progress=begin(), warn=silent))


@pytest.fixture
def changed(runs: Runs, tmp_path: Path) -> Callable[[Edit], Runs]:
    """The runs, with the results of the known one edited and nothing else of it."""

    def edited(edit: Edit) -> Runs:
        copy = tmp_path / "known"
        shutil.copytree(runs.known, copy)
        results = json.loads((copy / evidence.RESULTS).read_bytes())
        edit({case["caseId"]: case for case in results["cases"]})
        (copy / evidence.RESULTS).write_text(json.dumps(results))
        return replace(runs, known=copy)

    return edited


@pytest.fixture
def work(runs: Runs) -> Iterator[Runs]:
    """The runs, with an empty folder to work in again and again."""
    yield runs
    for path in runs.work.iterdir():
        shutil.rmtree(path)


def test_a_lab_that_works_is_believed_and_nothing_is_left(tmp_path: Path) -> None:
    temporary, cwd = tmp_path / "tmp", tmp_path / "cwd"
    temporary.mkdir()
    cwd.mkdir()
    argv = [sys.executable, "-c", "from driver.cli.main import main; main()", "doctor", "--self-test"]
    program = find_toxiproxy()
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(temporary), "LABCTL_TOXIPROXY": program or "none"}
    done = subprocess.run(
        [*argv, "--backend", "process"], cwd=cwd, env=env, capture_output=True, text=True, timeout=300, check=False
    )

    tried = len(EXPECTED) + OTHERS - (program is None)
    assert done.returncode == 0, done.stdout + done.stderr
    last = f"this machine's lab can be believed: {tried} of {tried} controls held"
    assert done.stdout.splitlines()[-1] == last, done.stdout
    assert (list(temporary.iterdir()), list(cwd.iterdir())) == ([], [])
    assert [command for command in commands_on_this_machine() if str(temporary).encode() in command] == []


def commands_on_this_machine() -> Iterator[bytes]:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(FileNotFoundError, ProcessLookupError):  # others end while this one looks
            yield path.read_bytes()


def test_without_toxiproxy_the_network_fault_is_said_to_be_untried_and_the_response_fault_is_there(runs: Runs) -> None:
    looked = {one.name: one for one in look_at_outcomes(replace(runs, no_network="there is none"))}

    network = looked[f"agent {NETWORK}"]
    assert (network.mark, network.text) == ("skipped", "no network fault was tried: there is none")
    assert looked["agent meets-a-bad-answer"].text == "pass, fault met"


def test_every_case_of_the_suite_has_its_expected_outcome() -> None:
    cases = json.loads((SUITE / "cases.json").read_text())["cases"]

    assert {case["id"] for case in cases} == set(EXPECTED)


def test_a_fixture_api_that_lies_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    start = standby._start

    def lying(stack: ExitStack, service: str, module: list[str], *, grace_s: float) -> Any:
        module = ["tests.fakes.lying_fixture_api", "stdin"] if service == "fixture-api" else module
        return start(stack, service, module, grace_s=grace_s)

    monkeypatch.setattr(standby, "_start", lying)
    looked = list(self_test(process_stack, progress=begin(), warn=silent))

    found = problems(looked)
    assert {"agent answers-rightly", "agent pays-in-silence", "agent meets-a-bad-answer"} <= set(found)
    assert verdict(looked)[0] is Exit.NO


@pytest.mark.parametrize("case_id", EXPECTED)
def test_another_outcome_of_any_agent_is_found_out(case_id: str, changed: Callable[[Edit], Runs], runs: Runs) -> None:
    if case_id == NETWORK and runs.no_network:
        pytest.skip(runs.no_network)
    other = "fail" if EXPECTED[case_id].outcome == "pass" else "pass"

    def lie(cases: dict[str, Any]) -> None:
        cases[case_id]["attempts"][0]["outcome"] = other

    assert problems(list(look_at_outcomes(changed(lie)))) == {f"agent {case_id}": Exit.NO}


@pytest.mark.parametrize("case_id", ["meets-a-bad-answer", "misses-its-fault"])
def test_a_witness_that_says_the_opposite_is_found_out(case_id: str, changed: Callable[[Edit], Runs]) -> None:
    def lie(cases: dict[str, Any]) -> None:
        (fault,) = cases[case_id]["attempts"][0]["faults"]
        fault["met"] = not fault["met"]

    assert problems(list(look_at_outcomes(changed(lie)))) == {f"agent {case_id}": Exit.NO}


def test_an_attempt_that_was_lost_is_no_lie_and_no_proof(changed: Callable[[Edit], Runs]) -> None:
    def lose(cases: dict[str, Any]) -> None:
        cases["crashes"]["attempts"][0].update({"outcome": "unknown", "class": "infrastructure"})

    looked = list(look_at_outcomes(changed(lose)))

    assert problems(looked) == {"agent crashes": Exit.CANNOT_TELL}
    assert verdict(looked) == (
        Exit.CANNOT_TELL,
        "cannot tell whether this machine's lab can be believed: agent crashes",
    )


def test_an_attempt_that_is_not_there_is_found_out(changed: Callable[[Edit], Runs]) -> None:
    found = look_at_outcomes(changed(lambda cases: cases["crashes"].update(attempts=[])))

    assert problems(list(found)) == {"agent crashes": Exit.NO}


def test_a_secret_in_any_file_is_found_out(runs: Runs, tmp_path: Path) -> None:
    worse = tmp_path / "worse"
    shutil.copytree(runs.worse, worse)
    with (worse / evidence.RUN_LOG).open("a") as log:
        log.write(runs.secret)

    assert look_for_secret(runs).exit_code is Exit.YES
    assert look_for_secret(replace(runs, worse=worse)).exit_code is Exit.NO


def test_a_secret_that_nobody_had_to_take_out_proves_nothing(runs: Runs) -> None:
    assert look_for_secret(replace(runs, known=runs.worse)).exit_code is Exit.NO


def test_a_verify_that_accepts_everything_is_found_out(work: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seals, "verify_run", silent)
    found = problems(list(look(work)))

    assert len(found) == 6
    assert all(name.startswith("seal: ") for name in found)


def test_a_verify_that_trusts_the_seal_alone_is_found_out(work: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seals, "verify_run", lambda run: verify.check_seal(run, shown=run))

    found = problems(list(look(work)))
    assert found == {
        "seal: failures rewritten and sealed again": Exit.NO,
        "seal: another agent written in and sealed again": Exit.NO,
    }


def test_a_verify_that_refuses_everything_is_found_out_and_nothing_is_read(
    work: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(run: Path) -> None:
        raise LabError(ErrorCode.ALTERED, f"{run} is not what was sealed")

    monkeypatch.setattr(seals, "verify_run", refuse)
    looked = list(look(work))

    assert problems(looked)["seal: untouched runs"] is Exit.NO
    assert looked[-1].name == "outcomes"
    assert verdict(looked)[0] is Exit.NO


@pytest.mark.parametrize(
    ("lie", "found"),
    [
        ({"verdict": Verdict.NO_REGRESSION}, PLANTED),
        ({"cases_regressed": ()}, PLANTED),
        ({"cases_regressed": (REGRESSED, "claims-a-call")}, PLANTED),
        ({"drift": (Difference(key="timezone", file=evidence.ENVIRONMENT, pointer="/conditions/timezone"),)}, SAME),
        ({"cases": (CHANGED,)}, SAME),
        ({"tool_responses": (ANSWERED,)}, SAME),
        ({"statistics": None}, SAME),
    ],
)
def test_a_comparison_that_lies_is_found_out(
    lie: dict[str, Any], found: str, runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lying(*sides: Any, allowance: Any) -> Comparison:
        return compare(*sides, allowance=allowance).model_copy(update=lie)

    monkeypatch.setattr(comparisons, "compare", lying)

    assert problems(list(comparisons.look_at_comparisons(runs))) == {found: Exit.NO}


def test_a_run_that_is_refused_when_it_is_compared_is_told_and_ends_nothing(runs: Runs, tmp_path: Path) -> None:
    worse = tmp_path / "worse"
    shutil.copytree(runs.worse, worse)
    (worse / evidence.COMPLETE).unlink()

    (looked,) = comparisons.look_at_comparisons(replace(runs, worse=worse))
    assert (looked.name, looked.exit_code) == (PLANTED, Exit.NO)
    assert looked.error is not None
    assert "unsealed" in str(looked.error)


def test_a_lab_that_cannot_be_started_is_exit_4_and_one_that_refuses_a_good_suite_exit_1() -> None:
    def with_error(code: ErrorCode) -> tuple[Exit, str]:
        def broken(started: ExitStack) -> Stack:
            raise LabError(code, "it does not work")

        return verdict(list(self_test(broken, progress=begin(), warn=silent)))

    assert with_error(ErrorCode.NO_ENGINE) == (Exit.ENVIRONMENT, "this machine's lab cannot be tried")
    assert with_error(ErrorCode.SUITE_INVALID) == (Exit.NO, "this machine's lab cannot be believed: runs")


def test_an_interrupted_self_test_ends_as_any_run_and_names_no_folder_that_is_gone(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", "from driver.cli.main import main; main()", "doctor", "--self-test"]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    with subprocess.Popen([*argv, "--backend", "process"], env=env, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        first = process.stderr.readline()  # said when the first run begins
        process.terminate()
        rest = process.stderr.read()

    assert "isolates nothing" in first
    ending = "labctl: terminated: ending what it started, within 30 s; a second signal ends it at once\n"
    assert (process.returncode, rest) == (143, ending)
    assert list(tmp_path.iterdir()) == []


def test_what_was_not_tried_is_neither_held_nor_broken() -> None:
    skipped = Looked("b", "no means", is_tried=False)

    assert verdict([Looked("a", "so"), skipped]) == (
        Exit.YES,
        "this machine's lab can be believed: 1 of 1 controls held",
    )
    assert verdict([skipped])[0] is Exit.ENVIRONMENT
    assert verdict([])[0] is Exit.ENVIRONMENT
