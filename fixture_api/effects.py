"""What a request changes: RFC 7386 for a case's own state, JSON Patch (RFC 6902) for a route's effects."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import jsonpatch
from jsonpointer import JsonPointerException

from contracts.control import RequestMiss
from contracts.record import Json
from contracts.suite.route import Effect
from fixture_api.effect_refusals import refusal
from fixture_api.pointers import INDEX, PointerError, expand_text, shown, split
from fixture_api.state_size import StateTooLargeError, grown
from fixture_api.templates import Context, MissingReferenceError, Template, compile_template, invented
from fixture_api.untrue_tests import miss_of_test

_CANNOT_APPLY = (
    jsonpatch.JsonPatchException,
    JsonPointerException,
    MissingReferenceError,
    PointerError,
    TypeError,  # jsonpatch, for a member of a scalar
    ValueError,  # jsonpatch, for an index that only begins like a number
)


def merge_patch(target: Json, patch: Json) -> Json:
    """RFC 7386's merge; neither argument is changed, and the result shares what did not change."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged


@dataclass(frozen=True, slots=True)
class CompiledEffect:
    """One operation of a route's JSON Patch."""

    op: str
    path: str
    from_path: str | None
    value: Template | None
    """None where the operation takes no value."""


class EffectError(ValueError):
    """An operation that cannot apply to this state; the text names operation, pointer and reason, and no value."""

    def __init__(self, text: str, *, miss: RequestMiss | None) -> None:
        super().__init__(text)
        self.miss = miss
        """What the request lacks that the operation's value refers to; None: the suite is at fault."""


def compile_effect(effect: Effect) -> CompiledEffect:
    """The effect with its value's references parsed; raises TemplateError."""
    has_value = effect.op in ("add", "replace", "test")
    value = compile_template(effect.value) if has_value else None
    return CompiledEffect(op=effect.op, path=effect.path, from_path=effect.from_path, value=value)


def apply_effects(effects: Iterable[CompiledEffect], context: Context) -> Json:
    """The state after all operations, which is the old one's untouched sibling: they share what did not change.

    References in values are filled in from the state before the first operation. `context.grown` is as after them.

    Raises:
        EffectError: some operation cannot apply; then none has.

    """
    state, grown_to = context.state, context.grown
    for effect in effects:
        operation = {"op": effect.op, "path": expand_text(effect.path, context.params)}
        try:
            if effect.from_path is not None:
                operation["from"] = expand_text(effect.from_path, context.params)
            if effect.value is not None:
                operation["value"] = effect.value.render(context)
            grown_to = grown(grown_to, operation, state)
            state = _apply(state, operation)
        except StateTooLargeError as error:  # whatever the request says, it is the suite that adds without end
            raise EffectError(f"effect {effect.op} {shown(operation['path'])}: {error}", miss=None) from error
        except _CANNOT_APPLY as error:
            miss = error.miss if isinstance(error, MissingReferenceError) else _invented(effect, operation, state)
            if miss is None and isinstance(error, jsonpatch.JsonPatchTestFailed):
                miss = miss_of_test(
                    effect.value, planned=effect.path, path=operation["path"], context=context, state=state
                )
            # A patch's own error text has the whole state in it, whatever its size and whoever may not see it.
            why = str(error) if isinstance(error, MissingReferenceError) else _why(operation, state)
            raise EffectError(f"effect {effect.op} {shown(operation['path'])}: {why}", miss=miss) from error
    context.grown = grown_to
    return state


def _invented(effect: CompiledEffect, operation: dict[str, Json], state: Json) -> RequestMiss | None:
    """What the request lacks, where a parameter in one of the pointers names what is not in the state."""
    pointers = ((effect.from_path, operation.get("from", "")), (effect.path, operation["path"]))
    misses = (invented(state, split(told), planned=split(own)) for own, told in pointers if own is not None)
    return next((miss for miss in misses if miss is not None), None)


def _why(operation: dict[str, Json], state: Json) -> str:
    return refusal(state, op=operation["op"], path=operation["path"], from_path=operation.get("from"))


def _apply(state: Json, operation: dict[str, Json]) -> Json:
    for name in ("path", "from"):
        if name in operation:
            state = _with_own_path(state, split(operation[name])[:-1])
    return jsonpatch.JsonPatch([operation]).apply(state, in_place=True)


def _with_own_path(document: Json, tokens: tuple[str, ...]) -> Json:
    """The document with fresh copies of the containers on the path: the only ones that an operation changes.

    Copying the whole state for each effect would cost its size every time; the rest is shared with other attempts.
    """
    copied = _shallow(document)
    place = copied
    for token in tokens:
        key: str | int = token
        if isinstance(place, list):
            if not INDEX.fullmatch(token) or int(token) >= len(place):
                break
            key = int(token)
        elif not isinstance(place, dict) or token not in place:
            break
        place[key] = _shallow(place[key])
        place = place[key]
    return copied


def _shallow(value: Json) -> Json:
    if isinstance(value, dict):
        return dict(value)
    return list(value) if isinstance(value, list) else value
