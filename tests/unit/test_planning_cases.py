"""`--case` and `--only` select what they say, and name what they do not find."""

from __future__ import annotations

from pathlib import Path

import pytest

from contracts.errors import ErrorCode, LabError
from contracts.planning import planned_cases, select_cases
from contracts.suite.loading import load_suite
from contracts.suite.suite import Suite
from tests.fakes.suite_folder import CASE, SuiteFolder

TITLES = {
    "auth-login": "Signs in",
    "auth-logout": "Signs out",
    "refund.small": "A refund of the AUTHOR",
    "status": "Straße [1]",
}


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    cases = [{**CASE, "id": case_id, "title": title} for case_id, title in TITLES.items()]
    return load_suite(SuiteFolder(tmp_path / "desk", cases=[*cases, {**CASE, "id": "last", "protected": True}]).write())


def selected(suite: Suite, *only: str, case_ids: tuple[str, ...] = ()) -> list[str]:
    return [case.id for case in select_cases(suite, case_ids=case_ids, only=only)]


def test_without_a_selection_all_cases_are_taken_protected_ones_first(suite: Suite) -> None:
    assert selected(suite) == ["last", *TITLES]


@pytest.mark.parametrize(
    ("only", "ids"),
    [
        (["auth*"], ["auth-login", "auth-logout"]),
        (["AUTH"], ["auth-login", "auth-logout", "refund.small"]),
        (["*auth*"], ["auth-login", "auth-logout", "refund.small"]),
        (["auth-log?n"], ["auth-login"]),
        (["auth-log[io]*"], ["auth-login", "auth-logout"]),
        (["status.json"], ["status"]),
        (["*.json"], ["last", *TITLES]),
        (["STRASSE"], ["status"]),
        (["login, status"], ["auth-login", "status"]),
        (["status", "login,"], ["auth-login", "status"]),
        (["signs in"], ["auth-login"]),
    ],
)
def test_patterns_are_looked_for_in_id_file_name_and_title(suite: Suite, only: list[str], ids: list[str]) -> None:
    assert selected(suite, *only) == ids


def test_cases_are_named_exactly_and_come_in_the_suites_order(suite: Suite) -> None:
    assert selected(suite, case_ids=("status", "auth-login", "status")) == ["auth-login", "status"]


def test_a_case_must_be_selected_by_both_when_both_are_given(suite: Suite) -> None:
    assert selected(suite, "auth*", case_ids=("status", "auth-login")) == ["auth-login"]


def refusal(suite: Suite, *only: str, case_ids: tuple[str, ...] = ()) -> LabError:
    with pytest.raises(LabError) as caught:
        select_cases(suite, case_ids=case_ids, only=only)
    assert caught.value.exit_code == 2
    return caught.value


def test_a_pattern_that_matches_nothing_is_refused_with_the_nearest_id(suite: Suite) -> None:
    error = refusal(suite, "auth*,stattus", "nothing-like-this")
    assert error.code is ErrorCode.NO_CASES
    assert [found.text for found in error.found] == [
        'nothing matches "stattus"; did you mean "status"?',
        'nothing matches "nothing-like-this"; the ids are last, auth-login, auth-logout, refund.small, status',
    ]


def test_a_pattern_that_matches_nothing_is_shown_as_it_was_typed(suite: Suite) -> None:
    error = refusal(suite, "STATTUS,Nothing-Like-This")
    assert '"STATTUS", "Nothing-Like-This"' in error.message
    assert error.found[0].text == 'nothing matches "STATTUS"; did you mean "status"?'
    assert error.found[1].text.startswith('nothing matches "Nothing-Like-This"; the ids are ')


def test_unknown_ids_are_refused_all_at_once_and_are_never_patterns(suite: Suite) -> None:
    error = refusal(suite, case_ids=("auth", "Status", "auth*"))
    assert error.code is ErrorCode.UNKNOWN_CASE
    assert len(error.found) == 3
    assert 'did you mean "status"?' in error.found[1].text


def test_nothing_left_by_both_is_refused(suite: Suite) -> None:
    assert refusal(suite, "auth*", case_ids=("status",)).code is ErrorCode.NO_CASES


@pytest.mark.parametrize("only", ["", " , ,"])
def test_an_empty_pattern_is_refused_and_does_not_mean_everything(suite: Suite, only: str) -> None:
    assert refusal(suite, only).code is ErrorCode.BAD_USAGE


def test_relevance_and_faults_do_not_stop_a_run(tmp_path: Path) -> None:
    case = {**CASE, "expect": {"relevance": ["is polite"]}, "faults": {"network": [{"type": "timeout"}]}}
    assert selected(load_suite(SuiteFolder(tmp_path, cases=[case]).write())) == ["greets"]


def test_planned_cases_carry_title_protection_and_digest(suite: Suite) -> None:
    planned = planned_cases(suite, select_cases(suite, only=["last,status"]))
    assert [(one.case_id, one.title, one.protected) for one in planned] == [
        ("last", "last", True),
        ("status", "Straße [1]", False),
    ]
    assert planned[0].case_digest == suite.case_digests["last"]
