"""Lines of pointers and keys are those that an editor shows."""

from __future__ import annotations

import json
import random

from contracts.suite.places import Lines, Path, duplicate_keys, json_offsets, pointer_of, toml_lines

TEXT = """\
{ "a": [1, {"b":
  2}, "]},{"],
  "c/d~": { "e\\u0041": null,
     "": {}
  },
  "a2": [ [], [ [ 3 ] ] ]
}
"""


def lines(text: str, *paths: Path) -> list[int | None]:
    offsets = json_offsets(text, paths)
    return [Lines(text).line_at(offsets[path]) if path in offsets else None for path in paths]


def test_a_member_has_the_line_of_its_key_and_an_item_that_of_its_value() -> None:
    found = lines(TEXT, (), ("a",), ("a", 1, "b"), ("a", 2), ("c/d~", "eA"), ("c/d~", ""), ("a2", 1, 0, 0))
    assert found == [1, 1, 1, 2, 3, 4, 6]


def test_what_is_not_there_has_no_line() -> None:
    assert lines(TEXT, ("a", 9), ("x",), ("a", 0, "b")) == [None, None, None]


def test_pointers_are_escaped() -> None:
    assert pointer_of(("c/d~", 0, "")) == "/c~1d~0/0/"


def random_value(draw: random.Random, depth: int) -> object:
    kind = draw.randrange(5 if depth else 3)
    if kind == 3:
        return [random_value(draw, depth - 1) for _ in range(draw.randrange(3))]
    if kind == 4:
        return {f'k"{index},': random_value(draw, depth - 1) for index in range(draw.randrange(3))}
    return [None, -1.5e3, 'x"]}'][kind]


def values_by_path(value: object, path: Path = ()) -> dict[Path, object]:
    found = {path: value}
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, one in members:
        found |= values_by_path(one, (*path, name))
    return found


def test_every_path_of_random_documents_is_found_where_its_value_stands() -> None:
    draw = random.Random(1701)  # noqa: S311 - a fixed sequence of documents
    for _ in range(200):
        document = random_value(draw, 5)
        text = " " + json.dumps(document, indent=draw.choice((None, 1)))
        wanted = values_by_path(document)
        offsets = json_offsets(text, wanted)
        assert offsets.keys() == wanted.keys()
        for path, offset in offsets.items():
            start = text.index(":", offset + len(path[-1]) + 3) + 2 if path and isinstance(path[-1], str) else offset
            assert json.JSONDecoder().raw_decode(text, start)[0] == wanted[path]


def test_every_repeated_key_is_found_at_its_depth() -> None:
    text = '{"a": 1, "b": [{"c": 1, "c": 2}, {"d": {"e": 1, "e": 2, "e": 3}}], "a": {"f": 1, "f": 1}}'
    assert sorted(map(pointer_of, duplicate_keys(text))) == ["/a", "/a/f", "/b/0/c", "/b/1/d/e", "/b/1/d/e"]


def test_tables_and_keys_of_toml_have_lines() -> None:
    text = 'a = 1\nb.c = 2\n[t."x y"]\n  k = """\nz = 1\n"""\nl = [\n  1]\n[[m]]\nn = 1 # [t2]\n'
    assert toml_lines(text) == {
        ("a",): 1,
        ("b", "c"): 2,
        ("t", "x y"): 3,
        ("t", "x y", "k"): 4,
        ("t", "x y", "l"): 7,
        ("m",): 9,
        ("m", "n"): 10,
    }
