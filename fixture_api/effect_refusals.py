"""Why an operation of a JSON Patch cannot apply, in words of our own: no value of the state or the patch is in them."""

from __future__ import annotations

from contracts.record import Json
from fixture_api.pointers import INDEX, shown, split, text_of

_MAKES_ITS_TARGET = frozenset({"add", "move", "copy"})


def refusal(state: Json, *, op: str, path: str, from_path: str | None) -> str:
    """Why the operation cannot apply to that state; pointers are expanded and name the step that leads nowhere."""
    if op == "move" and from_path is not None and path.startswith(from_path + "/"):
        return "what is moved cannot hold its own new place"
    missing = None if from_path is None else _miss(state, split(from_path), makes_last=False)
    missing = missing or _miss(state, split(path), makes_last=op in _MAKES_ITS_TARGET)
    if missing is not None:
        return missing
    return "the value there is another one" if op == "test" else "what is there does not allow it"


def _miss(state: Json, tokens: tuple[str, ...], *, makes_last: bool) -> str | None:
    """The first step that leads nowhere and why; None where all lead somewhere, or may by making the last one."""
    value = state
    for at, token in enumerate(tokens):
        is_made = makes_last and at == len(tokens) - 1
        why = _refusal_of(value, token, is_made=is_made)
        if why is not None:
            return f"{shown(text_of(tokens[: at + 1]))} {why}"
        if is_made:
            return None
        value = value[int(token)] if isinstance(value, list) else value[token]
    return None


def _refusal_of(value: Json, token: str, *, is_made: bool) -> str | None:
    """Why a step from the value does not lead on."""
    if isinstance(value, dict):
        return None if is_made or token in value else "is missing"
    if not isinstance(value, list):
        return "is below what is neither an object nor a list"
    if is_made and token == "-":  # noqa: S105 - the end of a list
        return None
    if not INDEX.fullmatch(token):
        return "is no index of the list there"
    return None if int(token) < len(value) + is_made else "is out of the range of the list there"
