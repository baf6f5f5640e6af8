"""images.env and compose.yaml name the same images, and whatever else would run is named."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from contracts.errors import ErrorCode, LabError
from driver.checkout import ROOT
from driver.image_pins import Pin, mismatches, read_pins, write_pins

OLD, NEW = "sha256:" + "1" * 64, "sha256:" + "2" * 64
COMPOSE = """\
services:
  a:
    image: ${A_IMAGE:-host.example/a:1@%s}
  own:
    image: ${OWN_IMAGE:?run make setup first}
    stop: ${WAIT:-5}
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "images.env").write_text(f"# the first\nA_IMAGE=host.example/a:1@{OLD}\n\nB_IMAGE=b:2@{OLD}\n")
    (tmp_path / "compose.yaml").write_text(COMPOSE % OLD)
    return tmp_path


def test_the_checkouts_own_defaults_are_its_pins() -> None:
    pins = {pin.variable: pin.reference for pin in read_pins(ROOT)}
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    defaults = dict(re.findall(r"image: \$\{([A-Z_]+):-([^}]*)\}", text))
    assert set(defaults) == {"TOXIPROXY_IMAGE", "OTELCOL_IMAGE"}
    assert defaults == {variable: pins[variable] for variable in defaults}
    assert mismatches(ROOT, read_pins(ROOT), env={}, made={}) == []


def test_a_pin_is_name_tag_and_digest(checkout: Path) -> None:
    assert read_pins(checkout) == (Pin("A_IMAGE", "host.example/a:1", OLD), Pin("B_IMAGE", "b:2", OLD))


def test_every_line_without_a_digest_is_named_at_once(checkout: Path) -> None:
    (checkout / "images.env").write_text(
        f"A_IMAGE=a:1\nB_IMAGE=b:2@{OLD}\nC_IMAGE=c@{OLD}\nD_IMAGE=d:1@sha256:12\nwhat"
    )
    with pytest.raises(LabError) as caught:
        read_pins(checkout)
    assert caught.value.code is ErrorCode.IMAGE_UNPINNED
    assert [found.place for found in caught.value.found] == ["line 1", "line 3", "line 4", "line 5"]


def test_whatever_else_would_run_is_named_with_its_place(checkout: Path) -> None:
    pins = read_pins(checkout)
    found = mismatches(checkout, pins, env={"A_IMAGE": "other:1"}, made={"B_IMAGE": f"b:2@{NEW}"})
    assert [(one.file, one.text) for one in found] == [
        ("environment", f"A_IMAGE=other:1, where images.env has host.example/a:1@{OLD}"),
        (".env", f"B_IMAGE=b:2@{NEW}, where images.env has b:2@{OLD}"),
    ]


def test_another_default_of_compose_yaml_is_named(checkout: Path) -> None:
    (checkout / "compose.yaml").write_text(COMPOSE % NEW)
    (found,) = mismatches(checkout, read_pins(checkout), env={}, made={})
    assert (found.file, found.place) == ("compose.yaml", "line 3")
    assert found.text == f"A_IMAGE=host.example/a:1@{NEW}, where images.env has host.example/a:1@{OLD}"


@pytest.mark.parametrize(
    "image", ["host.example/a:1", "${A_IMAGE}", f"${{A_IMAGE:-other/a:1@{OLD}}}", f"${{C_IMAGE:-c:1@{OLD}}}"]
)
def test_an_image_of_compose_yaml_that_is_no_pin_is_named(checkout: Path, image: str) -> None:
    (checkout / "compose.yaml").write_text(f"services:\n  a:\n    image: {image} # why\n")
    (found,) = mismatches(checkout, read_pins(checkout), env={}, made={})
    assert (found.file, found.place) == ("compose.yaml", "line 3")


@pytest.mark.parametrize("spoil", [Path.unlink, lambda path: path.write_bytes(b"A_IMAGE=\xff")])
@pytest.mark.parametrize("name", ["images.env", "compose.yaml"])
def test_a_file_that_cannot_be_read_is_told_by_name(checkout: Path, name: str, spoil: Callable[[Path], object]) -> None:
    spoil(checkout / name)
    with pytest.raises(LabError, match=rf"{name} cannot be read") as caught:
        mismatches(checkout, read_pins(checkout), env={}, made={})
    assert caught.value.code is ErrorCode.IMAGE_UNPINNED


def test_an_image_that_was_made_here_is_no_mismatch(checkout: Path) -> None:
    assert mismatches(checkout, read_pins(checkout), env={}, made={"A_IMAGE": NEW}) == []


def test_new_digests_stand_in_both_files_and_nothing_else_changes(checkout: Path) -> None:
    write_pins(checkout, [replace(pin, digest=NEW) for pin in read_pins(checkout)])
    assert (checkout / "compose.yaml").read_text() == COMPOSE % NEW
    expected = f"# the first\nA_IMAGE=host.example/a:1@{NEW}\n\nB_IMAGE=b:2@{NEW}\n"
    assert (checkout / "images.env").read_text() == expected
    assert sorted(path.name for path in checkout.iterdir()) == ["compose.yaml", "images.env"]
