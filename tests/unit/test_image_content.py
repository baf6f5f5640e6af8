"""The content digest of an image changes with what goes into it, and with nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from driver.image_content import content_sha256


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in (
        "contracts/__init__.py",
        "fixture_api/Dockerfile",
        "fixture_api/app.py",
        "fixture_api/requirements.in",
        "fixture_api/requirements.lock",
        "agent_host/Dockerfile",
        "agent_host/agent_host.py",
        "runner/attempts.py",
    ):
        write(tmp_path / name, f"{name}\n")
    return tmp_path


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def digest(checkout: Path, service: str = "fixture-api", base: str = "base-1") -> str:
    return content_sha256(checkout, service=service, base_content=base)


@pytest.mark.parametrize(
    "changed",
    ["contracts/__init__.py", "fixture_api/Dockerfile", "fixture_api/app.py", "fixture_api/requirements.lock"],
)
def test_a_changed_file_changes_the_digest(checkout: Path, changed: str) -> None:
    before = digest(checkout)
    write(checkout / changed, "other\n")
    assert digest(checkout) != before


def test_an_added_or_renamed_file_changes_the_digest(checkout: Path) -> None:
    before = digest(checkout)
    write(checkout / "fixture_api/routes/deep.json", "{}")
    added = digest(checkout)
    (checkout / "fixture_api/routes/deep.json").rename(checkout / "fixture_api/routes/other.json")
    assert len({before, added, digest(checkout)}) == 3


def test_another_base_changes_the_digest(checkout: Path) -> None:
    assert digest(checkout, base="base-1") != digest(checkout, base="base-2")


@pytest.mark.parametrize(
    "elsewhere",
    ["fixture_api/__pycache__/app.cpython-313.pyc", "fixture_api/requirements.in", "runner/attempts.py", "README.md"],
)
def test_what_does_not_go_into_the_image_leaves_the_digest_alone(checkout: Path, elsewhere: str) -> None:
    before = digest(checkout)
    write(checkout / elsewhere, "other\n")
    assert digest(checkout) == before


def test_the_agent_image_has_no_package_of_the_lab(checkout: Path) -> None:
    before = digest(checkout, service="agent")
    write(checkout / "contracts/__init__.py", "other\n")
    assert digest(checkout, service="agent") == before
    write(checkout / "agent_host/agent_host.py", "other\n")
    assert digest(checkout, service="agent") != before


def test_a_service_without_an_own_image_is_refused(checkout: Path) -> None:
    with pytest.raises(KeyError):
        digest(checkout, service="fault-proxy")
