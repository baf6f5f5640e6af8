"""Writes the table of KEYs in docs/comparison.md from `comparison.keys`; with --check says whether it is current."""

from __future__ import annotations

import sys
from pathlib import Path

from comparison.keys import KEYS, Key

TARGET = Path(__file__).resolve().parent.parent / "docs" / "comparison.md"
_BEGIN = "<!-- keys: made by `python -m scripts.generate_comparison_keys` from comparison/keys.py; do not edit -->\n"
_END = "<!-- end of keys -->\n"


def keys_table() -> str:
    """The table as Markdown."""
    rows = "".join(f"| {key.kind} | `{key.name}` | {key.meaning} | {_place(key)} |\n" for key in KEYS)
    return f"| kind | KEY | what it is | where it stands |\n|---|---|---|---|\n{rows}"


def _place(key: Key) -> str:
    return f"`{key.file}`" + (f" `{key.pointer}`" if key.pointer else "")


def page_with_keys(page: str) -> str:
    """The page with the current table; raises ValueError for a page without the marks around it."""
    before, begin, rest = page.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise ValueError("docs/comparison.md has no place for the table of KEYs")
    return f"{before}{begin}\n{keys_table()}\n{end}{after}"


def main() -> int:
    """Write the page, or compare it; 1 when it is not current."""
    page = TARGET.read_text()
    current = page_with_keys(page)
    if page == current:
        return 0
    if "--check" not in sys.argv[1:]:
        TARGET.write_text(current)
        return 0
    print("docs/comparison.md is not current; next: python -m scripts.generate_comparison_keys", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
