"""Whose value of a variable wins: an explicit one, then that of --env-from-file, then the host's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from driver.choices import choose
from tests.fakes.run_requests import REQUEST, no_registry
from tests.fakes.suite_folder import SuiteFolder

KEY = "OPENAI_API_KEY"


@pytest.mark.parametrize(
    ("env", "is_in_file", "winner"),
    [
        ((), False, "of the host"),
        ((), True, "of the file"),
        ((KEY,), True, "of the file"),
        ((f"{KEY}=of -e",), True, "of -e"),
        ((f"{KEY}=of -e",), False, "of -e"),
    ],
)
def test_judge_and_agent_get_the_same_value(
    tmp_path: Path, env: tuple[str, ...], *, is_in_file: bool, winner: str
) -> None:
    file = tmp_path / "values.env"
    file.write_text(f"{KEY}=of the file\n")
    suite = SuiteFolder(tmp_path / "suite").write()
    request = replace(REQUEST, suite=suite, env=env, env_from_file=file if is_in_file else None)

    chosen = choose(request, host_env={KEY: "of the host", "OTHER": "of the host"}, fetch=no_registry)

    assert (chosen.values[KEY], chosen.env.values[KEY]) == (winner, winner)
    assert chosen.values["OTHER"] == "of the host"
    assert "OTHER" not in chosen.env.values
