"""A signal to a whole process group also ends what labctl waits for: what comes of that is told as the signal."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.errors import ErrorCode, LabError
from contracts.exits import Exit
from contracts.plan import Plan
from driver import interrupts
from driver.interrupts import Interrupted
from tests.fakes.fake_stack import FakeStack, all_pass
from tests.unit.test_driver_interrupts import ended, mark, started
from tests.unit.test_pipeline import request, run

__all__ = ["mark"]


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_engine_that_the_signal_ended_is_not_what_the_command_ends_with(
    number: signal.Signals, status: int, tmp_path: Path, mark: str
) -> None:
    code = """
from contracts.errors import ErrorCode, LabError
from driver.cli import main

def asks_an_engine(**_given):
    ready()
    try:
        time.sleep(600)
    except Interrupted:
        raise LabError(ErrorCode.NO_ENGINE, "no container engine answers")

main.cli.main = asks_an_engine
main.main()
"""
    with started(code, mark, tmp_path) as process:
        process.send_signal(number)
        got, said = ended(process)
    assert got == status
    assert said.startswith("labctl: ")
    assert said.count("\n") == 1


def test_a_run_whose_stack_fails_of_the_signal_is_kept_as_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def says(plan: Plan) -> Iterator[str]:
        yield from [*all_pass(plan)][:-1]
        monkeypatch.setattr(interrupts, "_taken", interrupts._Taken(first=(Exit.INTERRUPTED, "interrupted")))
        raise LabError(ErrorCode.ENGINE_FAILED, "`docker attach` failed")

    with pytest.raises(Interrupted) as caught:
        run(FakeStack(says=says), request(tmp_path))
    assert caught.value.exit_code is Exit.INTERRUPTED
    (left,) = tmp_path.iterdir()
    assert caught.value.kept is not None
    assert caught.value.kept.startswith(str(left))
    assert json.loads((left / "abort.json").read_text())["reason"] == "interrupted"
