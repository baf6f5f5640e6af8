"""The third-party images: by name, tag and digest in images.env, the same as the defaults of compose.yaml."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from contracts.errors import ErrorCode, Found, LabError

PINS = "images.env"
COMPOSE = "compose.yaml"
_LINE = re.compile(r"(?P<variable>[A-Z][A-Z0-9_]*)=(?P<reference>\S*)")
_PINNED = re.compile(r"(?P<name>[a-z0-9][a-z0-9./:_-]*:[A-Za-z0-9_][A-Za-z0-9._-]*)@(?P<digest>sha256:[0-9a-f]{64})")
_IMAGE = re.compile(r"^\s*image:\s*(?P<image>.*?)\s*(?:#.*)?$", re.MULTILINE)
_MADE_HERE = re.compile(r"\$\{[A-Z][A-Z0-9_]*:\?[^}]*\}")
_DEFAULT = re.compile(r"\$\{(?P<variable>[A-Z][A-Z0-9_]*):-(?P<reference>[^}]*)\}")


@dataclass(frozen=True)
class Pin:
    """One image."""

    variable: str
    name: str
    """Repository and tag."""
    digest: str

    @property
    def reference(self) -> str:
        """As an engine takes it."""
        return f"{self.name}@{self.digest}"


def read_pins(root: Path) -> tuple[Pin, ...]:
    """The pins of a checkout; raises LabError IMAGE_UNPINNED with every line that is none, or for no text at all."""
    pins, problems = [], []
    for number, line in enumerate(_text_of(root / PINS).splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        entry = _LINE.fullmatch(line)
        pinned = _PINNED.fullmatch(entry["reference"]) if entry else None
        if entry is None or pinned is None:
            problems.append(Found(line, file=PINS, place=f"line {number}"))
        else:
            pins.append(Pin(entry["variable"], pinned["name"], pinned["digest"]))
    if problems:
        raise LabError(
            ErrorCode.IMAGE_UNPINNED,
            f"{PINS} has {len(problems)} lines that name no image by digest",
            found=problems,
            expected="VARIABLE=NAME:TAG@sha256:DIGEST",
            next_step="labctl images lock, after writing NAME:TAG@ and any digest",
        )
    return tuple(pins)


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.reason if isinstance(error, UnicodeDecodeError) else error.strerror
        raise LabError(
            ErrorCode.IMAGE_UNPINNED,
            f"{path.name} cannot be read, so nobody can tell what its images are",
            found=[Found(str(why), file=path.name)],
            next_step=f"git checkout {path.name}",
        ) from error


def mismatches(root: Path, pins: Iterable[Pin], *, env: Mapping[str, str], made: Mapping[str, str]) -> list[Found]:
    """Where something else than a pin would run: an image of compose.yaml, a variable of `env`, or of `.env` (`made`).

    An image that was made here instead is named by its id, and no mismatch. Raises LabError IMAGE_UNPINNED where
    compose.yaml cannot be read.
    """
    pins = tuple(pins)
    found = _other_images(_text_of(root / COMPOSE), pins)
    for pin in pins:
        for place, values in ((".env", made), ("environment", env)):
            other = values.get(pin.variable)
            if other and pin.digest not in other and not (place == ".env" and other.startswith("sha256:")):
                found.append(Found(f"{pin.variable}={other}, where {PINS} has {pin.reference}", file=place))
    return found


def _other_images(compose: str, pins: Iterable[Pin]) -> list[Found]:
    """The images of compose.yaml that are neither made here nor a pin by its variable."""
    pinned = {pin.variable: pin.reference for pin in pins}
    found = []
    for line in _IMAGE.finditer(compose):
        image, default = line["image"], _DEFAULT.fullmatch(line["image"])
        if _MADE_HERE.fullmatch(image) or (default and default["reference"] == pinned.get(default["variable"])):
            continue
        name = f"{default['variable']}={default['reference']}" if default else image
        other = pinned.get(default["variable"]) if default else None
        told = f"{name}, where {PINS} has {other}" if other else f"{name}, which {PINS} does not pin"
        found.append(Found(told, file=COMPOSE, place=f"line {compose.count(chr(10), 0, line.start('image')) + 1}"))
    return found


def write_pins(root: Path, pins: Iterable[Pin]) -> None:
    """Put the pins into images.env and into the defaults of compose.yaml; everything else stays as it is."""
    new = {pin.variable: pin.reference for pin in pins}

    def line(found: re.Match[str]) -> str:
        variable = found["variable"]
        return f"{variable}={new[variable]}" if variable in new else found[0]

    def default(found: re.Match[str]) -> str:
        variable = found["variable"]
        return f"${{{variable}:-{new[variable]}}}" if variable in new else found[0]

    for name, pattern, put in (
        (PINS, re.compile(f"^{_LINE.pattern}$", re.MULTILINE), line),
        (COMPOSE, _DEFAULT, default),
    ):
        path = root / name
        beside = path.with_name(name + ".new")
        beside.write_text(pattern.sub(put, path.read_text(encoding="utf-8")), encoding="utf-8")
        beside.replace(path)
