"""Turns pydantic's errors into problems that say what is wrong, what was expected, and the nearest valid name."""

from __future__ import annotations

import re
import types
from collections.abc import Iterator, Mapping
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from contracts.record import Json
from contracts.suite.places import Path
from contracts.suite.problems import Place, Problem, nearest

_EXPECTED_TYPES = {
    "string_type": "text",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
}
_EXPECTED_PATTERNS = {
    r"^[a-z0-9][a-z0-9._-]{0,99}$": "1 to 100 of a-z, 0-9, `.`, `_` and `-`, the first a letter or digit",
    r"^[A-Z]+$": "a method in capital letters, such as GET",
    r"^/[^?#]*$": "a path that begins with / and has no ? or #",
    r"^(/([^~/]|~[01])*)*$": "a JSON pointer (RFC 6901), such as /refunds/0/amount",
    r"^[^/\s]+/\S+$": "provider/model, such as scripted/support",
}
_BOUNDS = {
    "greater_than": "more than",
    "greater_than_equal": "at least",
    "less_than": "less than",
    "less_than_equal": "at most",
}
_SIZES = {
    "too_short": "at least {min_length} items",
    "too_long": "at most {max_length} items",
    "string_too_short": "at least {min_length} characters",
    "string_too_long": "at most {max_length} characters",
}


def problems_of(error: ValidationError, *, model: type[BaseModel], place: Place, value: Json) -> Iterator[Problem]:
    """One problem for each wrong key or value; `value` is what stands at `place` and was checked against `model`."""
    located = [(detail, path_in(value, detail["loc"])) for detail in error.errors(include_url=False)]
    located = list(_without_misspelt(located, model))
    for path, details in _by_value(located):
        here = place
        for part in path:
            here = here / part
        yield from (Problem(text, here) for text in _texts(details, _model_at(model, path[:-1])))


def not_json(error: str) -> str | None:
    """What is wrong with a text that `json` reads and pydantic does not; None where reading has already said it."""
    if "number out of range" in error:
        return None
    if "hex escape" in error:
        return f"no valid JSON: half of a surrogate pair, {error[error.rindex(' at ') + 1 :]}"
    if "recursion limit" in error:
        return f"nested too deeply, {error[error.rindex(' at ') + 1 :]}"
    return f"no valid JSON: {error}"


def describe(value: Json) -> str:
    """A JSON value in a few words, as the end of `expected …, found …`."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return f'the text "{value}"' if len(value) <= 60 else f'the text "{value[:60]}…"'  # noqa: PLR2004 - enough to see it
    if isinstance(value, int | float):
        return f"the number {value}"
    return "a list" if isinstance(value, list | tuple) else "an object"


def path_in(value: Json, loc: tuple[int | str, ...]) -> Path:
    """The part of pydantic's location that is in the document: no missing key, no name of a union's branch."""
    path: list[str | int] = []
    for part in loc:
        is_key = isinstance(value, dict) and part in value
        if is_key or (isinstance(value, list) and isinstance(part, int) and part < len(value)):
            value = value[part]
            path.append(part)
    return tuple(path)


def _by_value(located: list[tuple[ErrorDetails, Path]]) -> Iterator[tuple[Path, list[ErrorDetails]]]:
    """The errors of each value, without those of union branches that another branch outdoes."""
    grouped: dict[Path, list[ErrorDetails]] = {}
    for detail, path in located:
        grouped.setdefault(path, []).append(detail)
    above = {path[:length] for path in grouped for length in range(len(path))}
    for path, details in grouped.items():
        # A list whose items are wrong counts as short too: only the items are worth a word.
        branches = [one for one in details if _is_branch(one, path)]
        has_deeper = path in above
        others = [
            one for one in details if not _is_branch(one, path) and not (has_deeper and one["type"] == "too_short")
        ]
        yield path, others if others or has_deeper else branches


def _without_misspelt(
    located: list[tuple[ErrorDetails, Path]], model: type[BaseModel]
) -> Iterator[tuple[ErrorDetails, Path]]:
    """The errors but for keys that are missing only because the unknown key beside them is a misspelt one."""
    misspelt: set[Path] = set()
    for detail, path in located:
        if detail["type"] == "extra_forbidden" and (record := _model_at(model, path[:-1])):
            misspelt.add((*path[:-1], nearest(str(path[-1]), _keys(record)) or ""))
    for detail, path in located:
        if detail["type"] != "missing" or (*path, detail["loc"][-1]) not in misspelt:
            yield detail, path


def _is_branch(detail: ErrorDetails, path: Path) -> bool:
    """True for `this is not what the branch of the union takes`."""
    return len(detail["loc"]) > len(path) and detail["type"] in _EXPECTED_TYPES


def _texts(details: list[ErrorDetails], model: type[BaseModel] | None) -> Iterator[str]:
    kinds = [detail["type"] for detail in details]
    if len(details) > 1 and all(kind in _EXPECTED_TYPES for kind in kinds):
        expected = " or ".join(_EXPECTED_TYPES[kind] for kind in kinds)
        yield f"expected {expected}, found {describe(details[0]['input'])}"
        return
    for detail in details:
        yield _text(detail, model)


def _text(detail: ErrorDetails, model: type[BaseModel] | None) -> str:
    kind, found, context = detail["type"], detail["input"], detail.get("ctx", {})
    last = detail["loc"][-1] if detail["loc"] else ""
    if kind == "extra_forbidden":
        return _unknown_key(str(last), model)
    if kind == "missing":
        return f'the key "{last}" is missing' if isinstance(last, str) else f"expected {last + 1} items at least"
    return f"expected {_expected(kind, context, detail['msg'])}, found {describe(found)}{_hint(kind, found, context)}"


def _unknown_key(name: str, model: type[BaseModel] | None) -> str:
    keys = sorted(_keys(model)) if model else []
    near = nearest(name, keys)
    if near:
        return f'unknown key "{name}"; did you mean "{near}"?'
    return f'unknown key "{name}"' + (f"; known: {', '.join(keys)}" if keys else "")


def _expected(kind: str, context: Mapping[str, Any], message: str) -> str:
    if kind in _EXPECTED_TYPES:
        return _EXPECTED_TYPES[kind]
    if kind == "literal_error":
        return str(context["expected"]).replace("'", '"')
    if kind == "string_pattern_mismatch":
        return _EXPECTED_PATTERNS.get(context["pattern"], f"text that matches {context['pattern']}")
    if kind in _BOUNDS:
        bound = context[next(iter(context))]
        return f"{_BOUNDS[kind]} {int(bound) if bound == int(bound) else bound}"
    if kind in _SIZES:
        return _SIZES[kind].format(**context)
    return message.removeprefix("Input should be ")


def _hint(kind: str, found: Json, context: Mapping[str, Any]) -> str:
    if kind == "string_type":
        return quoting_hint(found)
    if not isinstance(found, str):
        return ""
    near = None
    if kind == "literal_error":
        near = nearest(found, re.findall(r"'([^']+)'", str(context["expected"])))
    elif kind == "string_pattern_mismatch":
        likely = (found.upper(), found.lower(), found.lower().replace(" ", "-"), "/" + found)
        near = next((one for one in likely if re.search(context["pattern"], one)), None)
    return f'; did you mean "{near}"?' if near else ""


def quoting_hint(found: Json) -> str:
    """How a number, true or false is written where text is expected; empty for everything else."""
    if isinstance(found, bool | int | float):
        return f'; put it in quotes: "{str(found).lower() if isinstance(found, bool) else found}"'
    return ""


def _keys(model: type[BaseModel]) -> set[str]:
    return {field.alias or name for name, field in model.model_fields.items()}


def _model_at(annotation: Any, path: Path) -> type[BaseModel] | None:
    """The record that describes the object at a path below the annotation."""
    options = list(_options(annotation))
    for part in path:
        options = [deeper for option in options for deeper in _below(option, part)]
    return next((one for one in options if isinstance(one, type) and issubclass(one, BaseModel)), None)


def _options(annotation: Any) -> Iterator[Any]:
    if get_origin(annotation) in {Union, types.UnionType}:
        for one in get_args(annotation):
            yield from _options(one)
    elif hasattr(annotation, "__metadata__"):
        yield from _options(annotation.__origin__)
    else:
        yield annotation


def _below(annotation: Any, part: str | int) -> Iterator[Any]:
    """What a key or index of the annotated value may be."""
    if get_origin(annotation) is tuple:
        yield from _options(get_args(annotation)[0])
    elif get_origin(annotation) is dict:
        yield from _options(get_args(annotation)[1])
    elif isinstance(annotation, type) and issubclass(annotation, BaseModel):
        for name, field in annotation.model_fields.items():
            if (field.alias or name) == part:
                yield from _options(field.annotation)
