"""The rules of the house that no linter knows."""

from __future__ import annotations

import ast
import re
import statistics
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
INDEX_HOSTS = re.compile("|".join(("py" + "pi\\.org", "python" + "hosted", "deb\\." + "debian", "proxy\\." + "golang")))
MOST_LINES, MOST_FUNCTION_LINES, MEDIAN_LINES = 350, 50, 110
VAGUE = {"utils", "util", "common", "helpers", "helper", "misc"}


def tracked() -> list[Path]:
    """Files of the checkout, or all files below it where it is no repository (an unpacked archive)."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    names = listed.stdout.splitlines()
    paths = [ROOT / name for name in names] if names else list(ROOT.rglob("*"))
    return [path for path in paths if path.is_file()]


def sources() -> list[Path]:
    parts = ("contracts", "ledger", "providers", "fixture_api", "runner", "agent_host", "driver", "scripts", "fixtures")
    return [path for part in parts for path in sorted((ROOT / part).rglob("*.py"))]


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_source_file_says_why_it_exists_and_is_small(path: Path) -> None:
    text = path.read_text()
    tree = ast.parse(text)
    assert ast.get_docstring(tree), "no docstring"
    assert len(text.splitlines()) <= MOST_LINES
    assert not VAGUE & {part.removesuffix(".py") for part in path.relative_to(ROOT).parts}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert (node.end_lineno or 0) - node.lineno < MOST_FUNCTION_LINES, node.name


def test_nine_of_ten_functions_are_short() -> None:
    trees = [ast.parse(path.read_text()) for path in sources()]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    lengths = sorted((node.end_lineno or 0) - node.lineno + 1 for node in functions)
    assert lengths[len(lengths) * 9 // 10] <= 30


def test_half_of_the_source_files_are_short() -> None:
    assert statistics.median(len(path.read_text().splitlines()) for path in sources()) <= MEDIAN_LINES


def test_no_file_names_a_package_index_or_a_path_of_one_machine() -> None:
    machine = re.compile(r"(?:^|[\s\"'=(])/(?:wo" + r"rk|fa" + r"rm)/[a-z.]", re.MULTILINE)
    for path in tracked():
        text = path.read_text(errors="replace")
        assert not INDEX_HOSTS.search(text), path
        assert not machine.search(text), path


def test_no_binary_is_committed() -> None:
    assert [path for path in tracked() if b"\0" in path.read_bytes()[:8192]] == []


def test_the_readme_stays_one_page() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150


def test_errors_are_documented() -> None:
    page = (ROOT / "docs" / "errors.md").read_text()
    from contracts.errors import ErrorCode  # noqa: PLC0415 - beside its use

    assert [entry.code for entry in ErrorCode if f"`{entry.code}`" not in page] == []
