"""YAML 1.2 as docker-agent reads it: a document as a JSON value, and one change that leaves the rest as it was."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from datetime import date
from typing import Any

from contracts.record import Json

_MOST_VALUES = 100_000
_MOST_DEPTH = 60
_LONGEST_LINE = 1 << 30
_LARGEST_EXACT_INTEGER = 2**53 - 1


class NoYamlError(ValueError):
    """The text is no YAML that could be used: what is wrong, and in which line."""

    def __init__(self, what: str, *, where: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.where = where


def read_yaml(text: str) -> Json:
    """The only document of the text; raises NoYamlError, also for repeated keys and for what has no end."""
    from ruamel.yaml import YAML  # noqa: PLC0415 - a run without an agent file does not wait for it
    from ruamel.yaml.error import MarkedYAMLError, YAMLError  # noqa: PLC0415 - as above

    yaml = YAML(typ="safe", pure=True)
    yaml.Scanner = _bounded_scanner()
    yaml.composer.warn_double_anchors = False  # YAML 1.2 has them: the last one counts
    try:
        value = yaml.load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}" if mark is not None else None
        raise NoYamlError(f"is no YAML: {error.problem or error.context}", where=where) from error
    except (YAMLError, ValueError, RecursionError) as error:
        first_line = str(error).partition("\n")[0]
        raise NoYamlError(f"is no YAML: {first_line}") from error
    return _Json().of(value)


def _bounded_scanner() -> type[Any]:
    """A scanner that refuses deep nesting where it comes to it: over open brackets its work grows with their square."""
    from ruamel.yaml.scanner import Scanner, ScannerError  # noqa: PLC0415 - as above

    class BoundedScanner(Scanner):  # type: ignore[misc, unused-ignore]  # a base without types
        def fetch_flow_collection_start(self, token: Any, to_push: str) -> None:
            if self.flow_level >= _MOST_DEPTH:
                raise ScannerError(problem="nested too deeply", problem_mark=self.reader.get_mark())
            super().fetch_flow_collection_start(token, to_push)

    return BoundedScanner


class _Json:
    """Turns what the reader makes into JSON; aliases are written out, so their number is bounded."""

    def __init__(self) -> None:
        self._values = 0

    def of(self, value: Any, *, depth: int = 0) -> Json:
        self._values += 1
        if self._values > _MOST_VALUES or depth > _MOST_DEPTH:
            raise NoYamlError("holds too many values, or is nested too deeply")
        if isinstance(value, dict):
            return {self._key(key): self.of(one, depth=depth + 1) for key, one in value.items()}
        if isinstance(value, list | tuple | set):
            return [self.of(one, depth=depth + 1) for one in value]
        return _scalar(value)

    def _key(self, key: Any) -> str:
        if isinstance(key, dict | list | tuple | set):
            raise NoYamlError("has a key that is no text")
        return key if isinstance(key, str) else str(_scalar(key))


def _scalar(value: Any) -> Json:
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int):
        return int(value) if abs(value) <= _LARGEST_EXACT_INTEGER else str(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(value)
    if isinstance(value, date):
        return value.isoformat()
    raise NoYamlError(f"holds a value of the type {type(value).__name__}")


def changed_yaml(text: str, change: Callable[[Any], None]) -> str:
    """The text after a change of its document, with comments, order and quoting as they were.

    The text must be one that `read_yaml` takes.
    """
    from ruamel.yaml import YAML  # noqa: PLC0415 - as above

    yaml = YAML(typ="rt", pure=True)
    yaml.preserve_quotes = True
    yaml.width = _LONGEST_LINE
    yaml.composer.warn_double_anchors = False
    document = yaml.load(text)
    change(document)
    written = io.StringIO()
    yaml.dump(document, written)
    return written.getvalue()
