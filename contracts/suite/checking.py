"""Checks a parsed document against its record."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError

from contracts.record import Json
from contracts.suite.broken import Broken
from contracts.suite.mending import mended, readable
from contracts.suite.places import Path
from contracts.suite.problems import Document, Problem
from contracts.suite.reading import UnfitNumber
from contracts.suite.wording import not_json, problems_of

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True)
class Checked(Generic[M]):
    """A document as a record, as far as it has the right shape."""

    record: M | None
    """With stand-ins for what is broken; None where nothing can be used."""
    problems: tuple[Problem, ...] = ()
    """Everything that has the wrong shape."""
    broken: frozenset[Path] = frozenset()
    """The paths of it, and of what reading has refused."""


def checked_document(model: type[M], document: Document, *, was_refused: bool) -> Checked[M]:
    """The whole document as a record; `was_refused`: reading has found something in it.

    JSON text goes in, not Python objects: only so strict records take a list for a tuple and still no "1" for 1. It is
    the document's own text where that is JSON, which is the quickest way.
    """
    text = json.dumps(document.value, default=_stand_in) if document.is_toml else document.text
    whole = _validated(model, text)
    if not isinstance(whole, ValidationError) and not was_refused:
        return Checked(whole)
    value, refused = readable(document.value)
    lost = Broken()
    lost.add(document, refused)
    problems = tuple(_problems(whole, model, document, value, lost)) if isinstance(whole, ValidationError) else ()
    record, broken = mended(model, value)
    return Checked(record, problems, frozenset(refused | broken))


def _validated(model: type[M], text: str) -> M | ValidationError:
    try:
        return model.model_validate_json(text, by_alias=True, by_name=False)
    except ValidationError as error:
        return error


def _problems(
    error: ValidationError, model: type[BaseModel], document: Document, value: Json, lost: Broken
) -> Iterator[Problem]:
    """What is wrong with the text, and with the shape of `value`, which can be read of it, but for what is `lost`."""
    first = error.errors(include_url=False)[0]
    shape: object = error
    if first["type"] == "json_invalid":
        if why := not_json(str(first["ctx"]["error"])):
            yield Problem(why, document.place())
        shape = _validated(model, json.dumps(value))
    if isinstance(shape, ValidationError):
        found = problems_of(shape, model=model, place=document.place(), value=value)
        yield from (one for one in found if not (one.place and lost.is_lost(one.place)))


def _stand_in(value: object) -> float:
    """A number for one that was already refused, so that the rest of the document is still checked."""
    if isinstance(value, UnfitNumber):
        return 0
    raise TypeError(type(value).__name__)
