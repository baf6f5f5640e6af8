"""What is left of the containers of attempts, with a program in the place of `docker` that answers from files."""

from __future__ import annotations

from pathlib import Path

import pytest

from contracts.errors import ErrorCode, LabError
from driver.ports import KeptContainer
from driver.stacks import attempt_place as place

RUNTIME = """#!/bin/sh
printf '%s\\n' "$*" >> "$0.calls"
case "$1 $2" in
  'ps --no-trunc') printf 'p-2\\tb#1\\np-1\\ta#1\\n';;
  'network create') echo 'daemon: all predefined address pools have been fully subnetted' >&2; exit 1;;
  'network disconnect') if test "$5" = p-1; then echo 'is busy' >&2; exit 1; fi;;
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
    monkeypatch.setattr("driver.stacks.networks.bridge_networks", lambda: {"old": {}})

    with pytest.raises(LabError) as caught, place._way_out(str(runtime), "p_egress", {}):
        raise AssertionError("there is no network")

    assert caught.value.code is ErrorCode.NETWORK_POOL
    assert [str(one) for one in caught.value.found] == ["old: of no Compose project"]
