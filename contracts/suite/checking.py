"""Checks a parsed document against its record."""

from __future__ import annotations

import json
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from contracts.record import Json
from contracts.suite.problems import Document, Place, Problem
from contracts.suite.reading import UnfitNumber
from contracts.suite.wording import not_json, problems_of

M = TypeVar("M", bound=BaseModel)


def checked(model: type[M], place: Place, value: Json) -> tuple[M | None, list[Problem]]:
    """The value as a record, or None with everything that is wrong with it.

    JSON text goes in, not Python objects: only so strict records take a list for a tuple and still no "1" for 1.
    """
    return _checked(model, place, value, json.dumps(value, default=_stand_in))


def checked_document(model: type[M], document: Document) -> tuple[M | None, list[Problem]]:
    """The whole document as a record; JSON is read from its own text, which is the quickest way."""
    text = json.dumps(document.value, default=_stand_in) if document.is_toml else document.text
    return _checked(model, document.place(), document.value, text)


def _checked(model: type[M], place: Place, value: Json, text: str) -> tuple[M | None, list[Problem]]:
    try:
        return model.model_validate_json(text, by_alias=True, by_name=False), []
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        if first["type"] == "json_invalid":
            why = not_json(str(first["ctx"]["error"]))
            return None, [Problem(why, place)] if why else []
        problems = problems_of(error, model=model, place=place, value=value)
        return None, [one for one in problems if not (one.place and _was_refused(one.place))]


def _was_refused(place: Place) -> bool:
    """True for a number that reading has already refused: of no other use, and worth one problem."""
    value = place.document.value
    for part in place.path:
        value = value[part]
    return isinstance(value, UnfitNumber)


def _stand_in(value: object) -> float:
    """A number for one that was already refused, so that the rest of the document is still checked."""
    if isinstance(value, UnfitNumber):
        return 0
    raise TypeError(type(value).__name__)
