"""A right suite is read as written: order, defaults, references and digests."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from contracts.canonical import digest_of_bytes, digest_of_json
from contracts.errors import ErrorCode, LabError
from contracts.suite.loading import load_suite
from contracts.suite.suite import Suite
from tests.fakes.suite_folder import CASE, ROUTE, SuiteFolder

SAMPLE = Path(__file__).parents[2] / "fixtures"


@pytest.fixture
def folder(tmp_path: Path) -> SuiteFolder:
    return SuiteFolder(tmp_path / "desk")


def refusal(root: Path) -> LabError:
    with pytest.raises(LabError) as caught:
        load_suite(root)
    return caught.value


def case(case_id: str, **keys: object) -> dict[str, object]:
    return {**CASE, "id": case_id, **keys}


def test_a_right_suite_is_read(folder: SuiteFolder) -> None:
    suite = load_suite(folder.write())
    assert [one.id for one in suite.cases] == ["greets"]
    assert suite.state == folder.state
    assert suite.prompts["polite"].text == "Be polite.\n"
    assert suite.policy is not None
    assert suite.policy.name == "policy-1"
    assert [tool.name for tool in suite.tools] == ["lookup_order"]
    assert list(suite.models) == ["support"]


def test_the_sample_suite_has_no_problem() -> None:
    suite = load_suite(SAMPLE)
    assert suite.cases[0].id == "refund-approval-required"
    assert suite.dataset.label == "fixtures-2026-09-01"


def test_protected_cases_come_first_and_the_rest_keeps_its_order(folder: SuiteFolder) -> None:
    folder.cases = [case("d"), case("b", protected=True), case("c"), case("a", protected=True)]
    assert [one.id for one in load_suite(folder.write()).cases] == ["b", "a", "d", "c"]


def test_a_suite_of_cases_alone_takes_every_documented_default(tmp_path: Path) -> None:
    (tmp_path / "cases.json").write_text(json.dumps({"cases": [CASE]}))
    suite = load_suite(tmp_path)
    settings = suite.settings
    world = (settings.clock, settings.timezone, settings.locale, settings.seed)
    assert world == ("2026-01-01T00:00:00Z", "UTC", "C.UTF-8", 0)
    assert suite.dataset.label == suite.dataset.digest == digest_of_json({"routes": [], "state": {}})
    assert {"revision", "clock", "timezone", "locale", "seed", "limits.seconds"} <= set(suite.defaulted)
    assert (suite.routes, suite.tools) == ((), ())


def test_only_absent_keys_are_recorded_as_defaults(folder: SuiteFolder) -> None:
    folder.settings += "\n[limits]\nseconds = 5\n"
    defaulted = load_suite(folder.write()).defaulted
    assert "clock" not in defaulted
    assert "limits.seconds" not in defaulted
    assert {"timezone", "seed", "limits.tool_seconds"} <= set(defaulted)


def test_an_instant_of_toml_is_a_clock(folder: SuiteFolder) -> None:
    folder.settings = folder.settings.replace('"2026-09-01T12:00:00Z"', "2026-09-01T12:00:00Z")
    assert load_suite(folder.write()).settings.clock == "2026-09-01T12:00:00Z"


def digest_of_case(folder: SuiteFolder, **keys: object) -> str:
    folder.cases = [case("greets", **keys)]
    return load_suite(folder.write()).case_digests["greets"]


@pytest.mark.parametrize("keys", [{"title": "Another"}, {"tags": ["x"]}, {"protected": True}])
def test_labels_do_not_change_a_case_digest(folder: SuiteFolder, keys: dict[str, object]) -> None:
    assert digest_of_case(folder) == digest_of_case(folder, **keys)


@pytest.mark.parametrize(
    "keys",
    [
        {"input": "hello there"},
        {"expect": {"assertions": [{"type": "contains", "value": "hallo"}]}},
        {"state": {}},
        {"routes": [{**ROUTE, "id": "own"}]},
        {"faults": {}},
        {"limits": {"seconds": 3}},
        {"setup": "true"},
        {"image": "alpine"},
    ],
)
def test_everything_else_changes_a_case_digest(folder: SuiteFolder, keys: dict[str, object]) -> None:
    assert digest_of_case(folder) != digest_of_case(folder, **keys)


def test_a_case_digest_is_over_the_case_as_written_and_not_over_the_record(folder: SuiteFolder) -> None:
    told = {key: value for key, value in CASE.items() if key != "id"}
    assert digest_of_case(folder) == digest_of_json(told)


def test_the_files_of_a_working_directory_are_part_of_the_case_digest(folder: SuiteFolder) -> None:
    folder.texts = {"working_dirs/repo/a.txt": "one"}
    before = digest_of_case(folder, working_dir="repo")
    folder.texts = {"working_dirs/repo/a.txt": "two"}
    assert digest_of_case(folder, working_dir="repo") != before


def test_digests_do_not_depend_on_order_of_keys_or_white_space(folder: SuiteFolder) -> None:
    before = load_suite(folder.write())
    for name in ("cases.json", "routes.json", "state.json", "tools.json", "models/support.json"):
        path = folder.root / name
        path.write_text(json.dumps(json.loads(path.read_text()), sort_keys=True))
    after = load_suite(folder.root)
    assert digests(before) == digests(after)


def digests(suite: Suite) -> list[object]:
    return [suite.case_digests, suite.dataset, suite.tool_schema, suite.model_digests, suite.agent_digests]


def test_dataset_tools_and_models_have_digests_of_their_own(folder: SuiteFolder) -> None:
    suite = load_suite(folder.write())
    assert suite.dataset.digest == digest_of_json({"routes": folder.routes, "state": folder.state})
    assert suite.tool_schema.digest == digest_of_json({"tools": folder.tools})
    assert suite.model_digests == {"support": digest_of_json({"rules": folder.rules})}
    assert suite.prompts["polite"].digest == digest_of_bytes(b"Be polite.\n")


def test_an_agent_is_its_declaration_and_its_files(folder: SuiteFolder) -> None:
    before = load_suite(folder.write())
    assert list(before.agent_files["desk"]) == ["agents/desk.py"]
    folder.texts["agents/desk.py"] = "print('good day')\n"
    edited = load_suite(folder.write())
    folder.settings = folder.settings.replace('["python3"', '["python3", "-u"')
    redeclared = load_suite(folder.write())
    assert len({one.agent_digests["desk"] for one in (before, edited, redeclared)}) == 3
    assert before.agent_digests["support"] == redeclared.agent_digests["support"]


def test_a_directory_that_is_not_there_is_named(tmp_path: Path) -> None:
    error = refusal(tmp_path / "nowhere")
    assert error.code is ErrorCode.SUITE_MISSING
    assert "nowhere" in error.message


def test_a_file_is_no_suite(folder: SuiteFolder) -> None:
    error = refusal(folder.write() / "cases.json")
    assert error.code is ErrorCode.SUITE_MISSING
    assert "is no directory" in error.message


def test_an_empty_directory_has_no_cases_and_stays_empty(tmp_path: Path) -> None:
    assert refusal(tmp_path).code is ErrorCode.NO_CASES
    assert list(tmp_path.iterdir()) == []


def test_an_empty_list_is_no_suite(folder: SuiteFolder) -> None:
    folder.cases = []
    error = refusal(folder.write())
    assert error.code is ErrorCode.NO_CASES
    assert [str(found) for found in error.found] == ["desk/cases.json /cases: the list is empty"]


def test_nothing_is_written_into_the_suite(folder: SuiteFolder) -> None:
    root = folder.write()
    before = sorted(path.as_posix() for path in root.rglob("*"))
    load_suite(root)
    assert sorted(path.as_posix() for path in root.rglob("*")) == before


def test_a_suite_reads_the_same_from_a_copy(folder: SuiteFolder, tmp_path: Path) -> None:
    copy = shutil.copytree(folder.write(), tmp_path / "copy")
    assert digests(load_suite(folder.root)) == digests(load_suite(copy))


def test_a_process_that_judges_nothing_loads_no_library_of_judging(folder: SuiteFolder) -> None:
    folder.cases = [
        case("a", expect={"assertions": [{"type": "json_schema", "value": {}}, {"type": "regex", "value": "a"}]})
    ]
    program = f"""
import sys
from pathlib import Path
from contracts.suite.loading import load_suite
load_suite(Path({str(folder.write())!r}), judges=False)
print({{"jsonschema", "re2", "difflib"}} & set(sys.modules))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=SAMPLE.parent, capture_output=True, text=True, check=True
    )
    assert done.stdout == "set()\n"


def test_tools_with_plain_schemas_cost_no_import_of_a_validator() -> None:
    program = f"""
import sys
from pathlib import Path
from contracts.suite.loading import load_suite
load_suite(Path({str(SAMPLE)!r}))
print("jsonschema" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=SAMPLE.parent, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"


def test_a_case_is_found_by_its_id(folder: SuiteFolder) -> None:
    suite = load_suite(folder.write())
    assert suite.case("greets").id == "greets"
    with pytest.raises(KeyError):
        suite.case("nobody")


def test_a_suite_that_cannot_be_read_is_refused_and_is_no_bug(
    folder: SuiteFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deny(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    root = folder.write()
    monkeypatch.setattr(Path, "is_file", deny)
    error = refusal(root)
    assert error.code is ErrorCode.SUITE_MISSING
    assert "Permission denied" in str(error)
