"""JSON Pointers (RFC 6901) whose tokens may hold `{param}`, as a suite writes them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from contracts.record import Json

_PARAM = re.compile(r"{(\w+)}")
INDEX = re.compile(r"0|[1-9][0-9]{0,8}")  # no list is longer, and int() refuses texts of thousands of digits

_LONGEST_SHOWN = 200
"""Characters of a name or pointer in a reason; with a request's path in it a pointer could have 64 KiB."""


class PointerError(LookupError):
    """A pointer that leads nowhere; the text says where it stopped."""


def escape(token: str) -> str:
    """A token as it stands in a pointer's text."""
    return token.replace("~", "~0").replace("/", "~1")


def text_of(tokens: tuple[str, ...]) -> str:
    """The pointer of unescaped tokens."""
    return "".join("/" + escape(token) for token in tokens)


def shown(text: str) -> str:
    """A name or pointer, of a length that a reason can hold."""
    return text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "…"


def split(pointer: str) -> tuple[str, ...]:
    """The unescaped tokens; raises PointerError for a text that is no pointer."""
    if pointer and not pointer.startswith("/"):
        raise PointerError(f"{pointer!r} does not begin with /")
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:])


def expand_tokens(tokens: tuple[str, ...], params: Mapping[str, str]) -> tuple[str, ...]:
    """The tokens with every known `{param}` replaced; a value with a slash stays one token."""
    return tuple(_PARAM.sub(lambda hit: params.get(hit[1], hit[0]), token) for token in tokens)


def expand_text(pointer: str, params: Mapping[str, str]) -> str:
    """The same for a pointer's text: values are escaped."""
    return _PARAM.sub(lambda hit: escape(params[hit[1]]) if hit[1] in params else hit[0], pointer)


def resolve(document: Json, tokens: tuple[str, ...]) -> Json:
    """The value that the tokens lead to; raises PointerError naming the step that is missing."""
    value = document
    for place, token in enumerate(tokens):
        if isinstance(value, dict) and token in value:
            value = value[token]
        elif isinstance(value, list) and INDEX.fullmatch(token) and int(token) < len(value):
            value = value[int(token)]
        else:
            raise PointerError(f"nothing is at {shown(text_of(tokens[: place + 1]))}")
    return value
