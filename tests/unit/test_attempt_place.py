"""What is left of the containers of attempts, with a program in the place of `docker` that answers from files."""

from __future__ import annotations

from pathlib import Path

import pytest

from contracts.errors import ErrorCode, LabError
from driver.ports import KeptContainer
from driver.stacks import attempt_place as place
from driver.stacks.ownership import PROJECT_LABEL as COMPOSE_PROJECT_LABEL

RUNTIME = """#!/bin/sh
printf '%s\\n' "$*" >> "$0.calls"
case "$1 $2" in
  'ps --no-trunc') printf 'p-2\\tb#1\\np-1\\ta#1\\n';;
  'network create') echo 'daemon: all predefined address pools have been fully subnetted' >&2; exit 1;;
  'network disconnect') if test "$5" = p-1; then echo 'is busy' >&2; exit 1; fi;;
esac
"""
LATE = """#!/bin/sh
case "$1" in
  ps) echo >> "$0.looks"
      if [ "$(wc -l < "$0.looks")" -gt 2 ] && ! [ -e "$0.removed" ]; then echo late; fi;;
  rm) printf '%s\\n' "$*" >> "$0.calls"; touch "$0.removed";;
esac
"""


@pytest.fixture
def runtime(tmp_path: Path) -> Path:
    program = tmp_path / "engine"
    program.write_text(RUNTIME)
    program.chmod(0o755)
    return program


def test_a_container_that_stays_on_its_network_loses_no_other_kept_one(runtime: Path) -> None:
    kept: list[KeptContainer] = []

    with pytest.raises(LabError) as caught:
        place._leave(place._Run(str(runtime), "p"), keep=True, networks=("p_tools",), kept=kept)

    assert [(one.attempt, one.command.split()[-2]) for one in kept] == [("a#1", "p-1"), ("b#1", "p-2")]
    assert [str(one) for one in caught.value.found] == ["p_tools p-1: is busy"]
    assert "network disconnect --force p_tools p-2" in Path(f"{runtime}.calls").read_text()


def test_a_way_out_for_which_no_address_range_is_left_names_who_holds_them(
    runtime: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = {COMPOSE_PROJECT_LABEL: "p"}
    monkeypatch.setattr("driver.stacks.networks.bridge_networks", lambda: {"old": {}, "p_tools": own})

    with pytest.raises(LabError) as caught, place._way_out(str(runtime), "p_egress", {place.PROJECT_LABEL: "p"}):
        raise AssertionError("there is no network")

    assert caught.value.code is ErrorCode.NETWORK_POOL
    assert [str(one) for one in caught.value.found] == ["old: of no Compose project"]


def test_a_container_that_the_engine_makes_for_a_client_that_was_ended_is_removed_when_it_turns_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place, "LATE_S", 0.5)
    runtime = tmp_path / "engine"
    runtime.write_text(LATE)
    runtime.chmod(0o755)

    place._Run(str(runtime), "p").remove(may_come=True)

    assert Path(f"{runtime}.calls").read_text().splitlines() == ["rm --force --volumes late"]
    Path(f"{runtime}.calls").unlink()
    for name in ("looks", "removed"):
        Path(f"{runtime}.{name}").unlink()
    place._Run(str(runtime), "p").remove()
    assert not Path(f"{runtime}.calls").exists()
