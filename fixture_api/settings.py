"""What the process is configured with: environment variables, or the same names as one JSON line on stdin."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from contracts.errors import ErrorCode, Found, LabError
from contracts.first_line import read_first_line
from contracts.suite.settings import SuiteSettings
from fixture_api.attempts import Selection
from fixture_api.clock import FixedClock, fixed_clock
from fixture_api.connections import BODY_S, HEADERS_S, LINGER_S, Patience

_SECONDS = re.compile(r"[0-9]{1,6}(\.[0-9]+)?")


@dataclass(frozen=True)
class Settings:
    """What DATASET_PATH, FIXED_NOW, FIXTURE_* and CONTROL_* say."""

    dataset_path: Path
    fixed_now: str | None
    """None: the suite's clock."""
    fixture_host: str
    fixture_port: int
    """0: any free port."""
    control_host: str
    control_port: int
    selection: Selection
    patience: Patience


def variables_of_line(stdin: int) -> dict[str, str]:
    """The first line of that descriptor, which stays open: a JSON object of texts.

    Empty when stdin ended before: whoever wanted this process is gone. Raises LabError (bad-usage) for anything else.
    """
    line = read_first_line(stdin)
    if not line.endswith(b"\n"):
        return {}
    try:
        return TypeAdapter(dict[str, str]).validate_json(line)
    except ValidationError as error:
        raise LabError(ErrorCode.BAD_USAGE, "the first line of stdin is no settings", cause=str(error)) from error


def settings_from(environment: Mapping[str, str]) -> Settings:
    """The settings; raises LabError (bad-usage) for what cannot be used, all at once."""
    found: list[Found] = []

    def port(name: str, default: str) -> int:
        text = environment.get(name) or default
        if text.isascii() and text.isdigit() and int(text) <= 65535:  # noqa: PLR2004 - a port
            return int(text)
        found.append(Found(text=f"{text!r} is no port", place=name))
        return 0

    def seconds(name: str, default: float) -> float:
        text = environment.get(name) or str(default)
        if _SECONDS.fullmatch(text) and float(text):
            return float(text)
        found.append(Found(text=f"{text!r} is no number of seconds", place=name))
        return default

    patience = Patience(
        headers_s=seconds("FIXTURE_HEADERS_S", HEADERS_S),
        body_s=seconds("FIXTURE_BODY_S", BODY_S),
        linger_s=seconds("FIXTURE_LINGER_S", LINGER_S),
    )
    fixture_port, control_port = port("FIXTURE_PORT", "8080"), port("CONTROL_PORT", "8081")
    select = environment.get("FIXTURE_SELECT") or Selection.HAND
    if select not in list(Selection):
        found.append(Found(text=f"{select!r} is not one of hand, prefix, header", place="FIXTURE_SELECT"))
    dataset_path = environment.get("DATASET_PATH")
    if not dataset_path:
        found.append(Found(text="names no suite directory", place="DATASET_PATH"))
    if found:
        raise LabError(ErrorCode.BAD_USAGE, "the fixture API's environment cannot be used", found=found)
    return Settings(
        dataset_path=Path(dataset_path or ""),
        fixed_now=environment.get("FIXED_NOW") or None,
        fixture_host=environment.get("FIXTURE_HOST") or "0.0.0.0",  # noqa: S104 - agents are on a network of their own
        fixture_port=fixture_port,
        control_host=environment.get("CONTROL_HOST") or "127.0.0.1",
        control_port=control_port,
        selection=Selection(select),
        patience=patience,
    )


def clock_of(settings: Settings, suite: SuiteSettings) -> FixedClock:
    """FIXED_NOW's instant, else the suite's; raises LabError (bad-usage) when it is none."""
    try:
        return fixed_clock(settings.fixed_now or suite.clock, timezone=suite.timezone)
    except ValueError as error:
        place = "FIXED_NOW" if settings.fixed_now else "suite.toml clock"
        found = [Found(text=str(error), place=place)]
        raise LabError(ErrorCode.BAD_USAGE, "the clock is no instant", found=found) from error
