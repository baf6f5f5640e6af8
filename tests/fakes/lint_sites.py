"""Finds every statement of the lint that makes a problem's text, and which of them a call reaches."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

SUITE = Path(__file__).parents[2] / "contracts" / "suite"
FILES = sorted(
    [
        *SUITE.glob("lint*.py"),
        *(SUITE / f"{name}.py" for name in ("checking", "files", "reading", "session_files", "wording")),
    ]
)
_MAKERS = frozenset({"Problem", "unknown_name"})


class Site(NamedTuple):
    """A statement that makes the text of a problem."""

    file: str
    first: int
    last: int
    source: str


def sites() -> list[Site]:
    """All of them: each calls a maker of problems, or yields or returns words, from within a function."""
    return [site for path in FILES for site in _sites_of(path)]


def _sites_of(path: Path) -> Iterator[Site]:
    text = path.read_text()
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    for node in (statement for function in functions for statement in ast.walk(function)):
        if isinstance(node, ast.Return | ast.Raise | ast.Expr | ast.Assign | ast.AugAssign) and _speaks(node):
            source = " ".join((ast.get_source_segment(text, node) or "").split())
            yield Site(path.name, node.lineno, node.end_lineno or node.lineno, source)


def _speaks(statement: ast.stmt) -> bool:
    value = statement.value if isinstance(statement, ast.Return | ast.Expr | ast.Assign | ast.AugAssign) else statement
    if isinstance(value, ast.Constant):
        return isinstance(statement, ast.Return) and _is_words(value)
    if value is None or (isinstance(statement, ast.Expr) and not isinstance(value, ast.Yield | ast.YieldFrom)):
        return False
    within = list(ast.walk(value))
    made = any(isinstance(one, ast.Call) and getattr(one.func, "id", "") in _MAKERS for one in within)
    return made or any(isinstance(one, ast.JoinedStr) or _is_words(one) for one in within)


def _is_words(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip()


def lines_reached(call: Callable[[], object]) -> set[tuple[str, int]]:
    """The file and line of everything in the lint that runs during the call."""
    files = {str(path): path.name for path in FILES}
    reached: set[tuple[str, int]] = set()

    def trace(frame: FrameType, event: str, _argument: Any) -> Any:
        name = files.get(frame.f_code.co_filename)
        if name is None:
            return None
        if event == "line":
            reached.add((name, frame.f_lineno))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return reached
