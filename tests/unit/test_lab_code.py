"""The digests of labctl's own code: of everything that decides a run, and of nothing that lies beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from driver.checkout import OF_THE_DRIVER, ROOT, SERVICES
from driver.manifest import lab_code


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for part in (*SERVICES, *OF_THE_DRIVER):
        (tmp_path / part / "inner").mkdir(parents=True)
        (tmp_path / part / "code.py").write_text("1\n")
        (tmp_path / part / "inner" / "code.py").write_text("2\n")
    (tmp_path / "driver" / "stack.yaml").write_text("a: 1\n")
    (tmp_path / "compose.yaml").write_text("a: 1\n")
    return tmp_path


@pytest.mark.parametrize(
    ("file", "part"),
    [
        *((f"{part}/inner/code.py", part) for part in (*SERVICES, *OF_THE_DRIVER)),
        ("driver/stack.yaml", "driver"),
        ("compose.yaml", "compose.yaml"),
    ],
)
def test_an_edit_changes_the_digest_of_its_part_alone(root: Path, file: str, part: str) -> None:
    before = lab_code(root)
    (root / file).write_text("3\n")
    after = lab_code(root)
    assert {name for name in before if before[name] != after[name]} == {part}


def test_caches_bytecode_and_texts_are_no_code(root: Path) -> None:
    before = lab_code(root)
    (root / "driver" / "__pycache__").mkdir()
    (root / "driver" / "__pycache__" / "code.cpython-312.pyc").write_bytes(b"\0")
    (root / "runner" / "README.md").write_text("words")
    assert lab_code(root) == before


def test_every_package_of_the_checkout_that_a_run_imports_has_a_digest() -> None:
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"scripts", "tests"}
    assert packages <= set(lab_code(ROOT))
