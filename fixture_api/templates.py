"""`$state` and `$request` in a JSON body or an effect: compiled once, filled in for each request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from contracts.control import RequestMiss
from contracts.record import Json
from fixture_api.pointers import PointerError, expand_tokens, resolve, shown, split, text_of
from fixture_api.request import ABSENT
from fixture_api.state_size import Size

IN_STATE = "a value in the state"
TESTED = "the value that the route tests for"
"""What a miss expects at a pointer that a path leads to."""


@dataclass(slots=True)
class Context:
    """What a template may refer to."""

    state: Json
    params: Mapping[str, str]
    query: list[tuple[str, str]]
    body: Json
    """The request's JSON body; `fixture_api.request.ABSENT` when it had none."""
    grown: Size
    """What the attempt's effects have added to its state so far."""


class MissingReferenceError(LookupError):
    """A `$state` or `$request` that refers to nothing; the text names reference and pointer."""

    def __init__(self, text: str, *, miss: RequestMiss | None) -> None:
        super().__init__(text)
        self.miss = miss
        """What the request lacks, where it is the request that makes the reference miss; None: the suite does."""


class Template(Protocol):
    """A JSON value with references in it."""

    def render(self, context: Context) -> Json:
        """The value with every reference filled in, never to be changed; raises MissingReferenceError."""
        ...


@dataclass(frozen=True, slots=True)
class _Constant:
    value: Json

    def render(self, context: Context) -> Json:  # noqa: ARG002 - the protocol's
        return self.value


@dataclass(frozen=True, slots=True)
class _StateReference:
    tokens: tuple[str, ...]

    def render(self, context: Context) -> Json:
        tokens = expand_tokens(self.tokens, context.params)
        try:
            return resolve(context.state, tokens)
        except PointerError as error:
            text = f"$state {shown(text_of(tokens))}: {error} in the state"
            raise MissingReferenceError(text, miss=invented(context.state, tokens, planned=self.tokens)) from error


def invented(state: Json, tokens: tuple[str, ...], *, planned: tuple[str, ...]) -> RequestMiss | None:
    """What a request lacks whose parameters name what is not in the state; None: the suite is at fault.

    `planned` are the tokens as the suite has them, before parameters were filled in.
    """
    value = state
    for at, (own, token) in enumerate(zip(planned, tokens, strict=True)):
        try:
            value = resolve(value, (token,))
        except PointerError:
            if own == token or not isinstance(value, dict | list):
                return None
            return RequestMiss(part="path", name=text_of(tokens[: at + 1]), expected=IN_STATE)
    return None


_PARTS: Mapping[str, Literal["path", "query", "json"]] = {"path": "path", "query": "query", "json": "json"}


@dataclass(frozen=True, slots=True)
class _RequestReference:
    tokens: tuple[str, ...]

    def render(self, context: Context) -> Json:
        part, rest = self.tokens[0], self.tokens[1:]
        try:
            return resolve(_request_part(part, context), rest)
        except PointerError as error:
            reference = f"$request {shown(text_of(self.tokens))}"
            why = f"{reference}: {error} of the request's {part}; a `match` would keep such a request out"
            name = text_of(rest) if part == "json" else ".".join(rest)
            raise MissingReferenceError(why, miss=RequestMiss(part=_PARTS[part], name=name, expected="any")) from error


def _request_part(part: str, context: Context) -> Json:
    if part == "path":
        return context.params
    if part == "query":
        # The first of a repeated key, as most servers read it.
        return dict(reversed(context.query))
    if context.body is ABSENT:
        raise PointerError("nothing is there")
    return context.body


@dataclass(frozen=True, slots=True)
class _Object:
    members: tuple[tuple[str, Template], ...]

    def render(self, context: Context) -> Json:
        return {key: template.render(context) for key, template in self.members}


@dataclass(frozen=True, slots=True)
class _Array:
    items: tuple[Template, ...]

    def render(self, context: Context) -> Json:
        return [template.render(context) for template in self.items]


def told_by_request(template: Template, context: Context) -> RequestMiss | None:
    """The first part of the request that a rendered template's value depends on, as a miss; None: on none."""
    if isinstance(template, _RequestReference):
        part, rest = template.tokens[0], template.tokens[1:]
        name = text_of(rest) if part == "json" else ".".join(rest)
        return RequestMiss(part=_PARTS[part], name=name, found=template.render(context))
    if isinstance(template, _StateReference):
        tokens = expand_tokens(template.tokens, context.params)
        name = text_of(tokens)
        return RequestMiss(part="path", name=name, expected=TESTED) if tokens != template.tokens else None
    inner: tuple[Template, ...] = template.items if isinstance(template, _Array) else ()
    if isinstance(template, _Object):
        inner = tuple(member for _, member in template.members)
    misses = (told_by_request(one, context) for one in inner)
    return next((miss for miss in misses if miss is not None), None)


class TemplateError(ValueError):
    """A reference that could never be filled in, whatever the request."""


def is_constant(template: Template) -> bool:
    """True when nothing in it depends on state or request."""
    return isinstance(template, _Constant)


def compile_template(value: Json) -> Template:
    """The template of a JSON value as a suite writes it; raises TemplateError for a reference that is no pointer."""
    if isinstance(value, dict):
        if len(value) == 1:
            (key, pointer), *_ = value.items()
            if key in ("$state", "$request"):
                return _compile_reference(key, pointer)
        members = tuple((key, compile_template(member)) for key, member in value.items())
        return _Object(members) if any(not is_constant(member) for _, member in members) else _Constant(value)
    if isinstance(value, list):
        items = tuple(compile_template(item) for item in value)
        return _Array(items) if any(not is_constant(item) for item in items) else _Constant(value)
    return _Constant(value)


def _compile_reference(kind: str, pointer: Json) -> Template:
    if not isinstance(pointer, str):
        raise TemplateError(f"{kind} takes a JSON pointer, not {pointer!r}")
    try:
        tokens = split(pointer)
    except PointerError as error:
        raise TemplateError(f"{kind}: {error}") from error
    if kind == "$state":
        return _StateReference(tokens)
    if not tokens or tokens[0] not in ("path", "query", "json"):
        raise TemplateError(f"$request takes /path/…, /query/… or /json/…, not {pointer!r}")
    return _RequestReference(tokens)
