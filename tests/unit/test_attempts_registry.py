"""Opening, finding and closing attempts; settings and suites that cannot be served."""

from __future__ import annotations

import gc
import json
import os
import re
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from contracts.control import AttemptKey, AttemptOpening
from contracts.errors import ErrorCode, LabError
from contracts.suite.kept_cases import KeptCases
from contracts.suite.loading import load_suite
from contracts.suite.route import Route
from contracts.suite.scripted_model import ModelFile
from contracts.suite.settings import SuiteSettings
from fixture_api.attempts import AlreadyOpenError, Attempts, Selection, UnknownNameError
from fixture_api.clock import fixed_clock
from fixture_api.settings import clock_of, settings_from, variables_of_line
from fixture_api.world import compile_world
from tests.fakes.open_world import CLOCK, case, world_of
from tests.fakes.suite_folder import SuiteFolder


def attempts(folder: Path, selection: Selection = Selection.HAND, **files: Any) -> Attempts:
    return Attempts(world_of(folder, cases=[case("one"), case("two")], **files), selection)


def test_prefixes_are_128_random_bits_and_die_with_the_attempt(tmp_path: Path) -> None:
    registry = attempts(tmp_path)
    prefixes = [registry.open(AttemptOpening(case="one", attempt=number)) for number in range(1, 65)]
    assert len(set(prefixes)) == 64
    assert all(re.fullmatch(r"/~[0-9a-f]{32}", prefix) for prefix in prefixes)
    token = prefixes[6][2:].encode()
    assert registry.by_token(token) is not None
    registry.close(AttemptKey(case="one", attempt=7))
    assert registry.by_token(token) is None
    with pytest.raises(UnknownNameError):
        registry.close(AttemptKey(case="one", attempt=7))
    assert registry.open(AttemptOpening(case="one", attempt=7)) not in prefixes


def test_an_attempt_is_open_once(tmp_path: Path) -> None:
    registry = attempts(tmp_path)
    registry.open(AttemptOpening(case="one", attempt=1))
    with pytest.raises(AlreadyOpenError, match="attempt 1 of case 'one' is open"):
        registry.open(AttemptOpening(case="one", attempt=1))


def test_unknown_cases_and_models_are_refused(tmp_path: Path) -> None:
    registry = attempts(tmp_path)
    with pytest.raises(UnknownNameError, match="no case 'three'"):
        registry.open(AttemptOpening(case="three", attempt=1))
    with pytest.raises(UnknownNameError, match="no scripted model 'openai/gpt'"):
        registry.open(AttemptOpening(case="one", attempt=1, model="openai/gpt"))
    registry.open(AttemptOpening(case="one", attempt=1))


def test_the_header_selects_one_open_attempt_of_a_case(tmp_path: Path) -> None:
    registry = attempts(tmp_path, Selection.HEADER)
    registry.open(AttemptOpening(case="one", attempt=1, select="header"))
    registry.open(AttemptOpening(case="two", attempt=1, select="header"))
    with pytest.raises(AlreadyOpenError, match="selects one of a case"):
        registry.open(AttemptOpening(case="one", attempt=2, select="header"))
    found = registry.by_header("one")
    assert found is not None
    assert found is registry.by_header("one")
    assert found.opening.attempt == 1
    registry.close(AttemptKey(case="one", attempt=1))
    assert registry.by_header("one") is not registry.by_header("one")
    registry.open(AttemptOpening(case="one", attempt=2, select="header"))


def test_an_attempt_opened_by_prefix_is_not_selected_by_header(tmp_path: Path) -> None:
    registry = attempts(tmp_path)
    prefix = registry.open(AttemptOpening(case="one", attempt=1))
    assert registry.by_header("one") is not registry.by_token(prefix[2:].encode())


def test_where_only_the_prefix_selects_no_attempt_is_opened_by_header(tmp_path: Path) -> None:
    registry = attempts(tmp_path, Selection.PREFIX)
    with pytest.raises(AlreadyOpenError, match="FIXTURE_SELECT"):
        registry.open(AttemptOpening(case="one", attempt=1, select="header"))


def test_by_hand_the_default_agents_model_and_prompt_are_met(tmp_path: Path) -> None:
    found = attempts(tmp_path).by_header("one")
    assert found is not None
    assert (found.opening.model, found.opening.prompt) == ("scripted/support", "polite")


def test_a_closed_attempt_leaves_nothing_behind(tmp_path: Path) -> None:
    registry = attempts(tmp_path)
    token = registry.open(AttemptOpening(case="one", attempt=1, select="header"))[2:].encode()
    attempt = registry.by_token(token)
    assert attempt is not None
    gone = weakref.ref(attempt)
    registry.close(AttemptKey(case="one", attempt=1))
    del attempt
    gc.collect()
    assert gone() is None


def test_what_http_cannot_carry_is_refused_all_at_once(tmp_path: Path) -> None:
    suite = load_suite(SuiteFolder(tmp_path).write())
    responses = [
        {"headers": {"Content-Length": "5"}},
        {"headers": {"x-a": "b\r\nx-c: d"}},
        {"status": 204, "text": "x"},
        {"bytesBase64": "?"},
        {"json": {"$request": "/body/x"}},
    ]
    routes = [
        Route.model_validate_json(json.dumps({"id": "r", "method": "GET", "path": "/a", "responses": [response]}))
        for response in responses
    ]
    rule = {"reply": {"error": {"status": 429, "headers": {"Date": "now"}}}}
    model = ModelFile.model_validate_json(json.dumps({"rules": [rule]}))
    cases = [suite.cases[0].model_copy(update={"id": f"case-{at}", "routes": (one,)}) for at, one in enumerate(routes)]
    broken = replace(suite, cases=KeptCases.of(cases), routes=(routes[0],), models={"bad": model})
    with pytest.raises(LabError) as caught:
        compile_world(broken, fixed_clock(CLOCK, timezone="UTC"))
    assert caught.value.code is ErrorCode.SUITE_INVALID
    places = [found.place for found in caught.value.found]
    assert places == ["routes", *(f"case case-{number}" for number in range(len(responses))), "model bad"]


def test_the_settings_have_documented_defaults() -> None:
    settings = settings_from({"DATASET_PATH": "/suite"})
    assert (settings.fixture_host, settings.fixture_port) == ("0.0.0.0", 8080)  # noqa: S104
    assert (settings.control_host, settings.control_port) == ("127.0.0.1", 8081)
    assert (settings.selection, settings.fixed_now) == (Selection.HAND, None)


def test_bad_settings_are_named_all_at_once() -> None:
    with pytest.raises(LabError) as caught:
        settings_from({"FIXTURE_PORT": "http", "CONTROL_PORT": "70000", "FIXTURE_SELECT": "magic"})
    places = [found.place for found in caught.value.found]
    assert places == ["FIXTURE_PORT", "CONTROL_PORT", "FIXTURE_SELECT", "DATASET_PATH"]


@pytest.mark.parametrize("text", ["", "noon", "2026-09-01", "2026-09-01T12:00:00"])
def test_a_clock_needs_an_instant_with_an_offset(text: str) -> None:
    with pytest.raises(ValueError, match=r"RFC 3339|isoformat"):
        fixed_clock(text, timezone="UTC")


def test_fixed_now_goes_before_the_suites_clock_and_a_bad_one_is_named() -> None:
    settings = settings_from({"DATASET_PATH": "/suite", "FIXED_NOW": "2030-01-01T00:00:00Z"})
    suite = SuiteSettings(clock=CLOCK)
    assert clock_of(settings, suite).now == "2030-01-01T00:00:00Z"
    assert clock_of(replace(settings, fixed_now=None), suite).now == CLOCK
    with pytest.raises(LabError) as caught:
        clock_of(replace(settings, fixed_now="noon"), suite)
    assert caught.value.found[0].place == "FIXED_NOW"


def test_the_clock_is_kept_as_it_was_written() -> None:
    clock = fixed_clock("2026-09-01T14:00:00.5+02:00", timezone="Europe/Berlin")
    assert (clock.now, clock.epoch_s, clock.timezone) == ("2026-09-01T14:00:00.5+02:00", 1788264000, "Europe/Berlin")


def line_of(text: bytes) -> dict[str, str]:
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as pipe:
        pipe.write(text)
    try:
        return variables_of_line(reading)
    finally:
        os.close(reading)


def test_the_first_line_of_stdin_holds_the_same_variables() -> None:
    assert line_of(b'{"DATASET_PATH": "/suite"}\n') == {"DATASET_PATH": "/suite"}


def test_a_stdin_that_ends_before_its_first_line_says_nothing() -> None:
    assert line_of(b"") == {}
    assert line_of(b'{"DATASET_PATH"') == {}


@pytest.mark.parametrize("text", [b"\n", b"[]\n", b'{"FIXTURE_PORT": 80}\n', b"\xff\n"])
def test_a_first_line_that_is_no_settings_is_refused(text: bytes) -> None:
    with pytest.raises(LabError, match="first line of stdin"):
        line_of(text)
