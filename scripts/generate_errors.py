"""Writes docs/errors.md from the closed list of errors; with --check says whether it is current."""

from __future__ import annotations

import sys
from pathlib import Path

from contracts.errors import ErrorCode
from contracts.exits import Exit

TARGET = Path(__file__).resolve().parent.parent / "docs" / "errors.md"
_HEAD = """# Errors

Made by `python -m scripts.generate_errors` from `contracts/errors.py`; do not edit.

The first line of every error is `labctl: <code>: <what is wrong, naming the thing>`. Then come only those of `found:`
(with file and place), `expected:`, `cause:` (the tool's own last line), `kept:` (what evidence exists) and `next:`
(one command or edit) that apply. All problems of a phase are reported at once. There is no traceback without `--debug`.

## Exit codes

| exit | means |
|---|---|
"""
_EXITS = {
    Exit.YES: "yes: every case passed; sealed and unchanged; no regression",
    Exit.NO: "no: a case failed; a regression",
    Exit.USAGE: "usage or bad input",
    Exit.CANNOT_TELL: "cannot tell: some outcome is unknown, or the runs are not comparable",
    Exit.ENVIRONMENT: "environment: engine, image, stack",
    Exit.EVIDENCE: "evidence: unsealed, altered, truncated",
    Exit.BUG: "a bug in labctl",
    Exit.INTERRUPTED: "interrupted; everything it started is gone",
    Exit.TERMINATED: "terminated; everything it started is gone",
}


def errors_page() -> str:
    """The page as Markdown."""
    exits = "".join(f"| {code.value} | {meaning} |\n" for code, meaning in _EXITS.items())
    rows = "".join(f"| `{entry.code}` | {entry.exit_code.value} | {entry.meaning} |\n" for entry in ErrorCode)
    return f"{_HEAD}{exits}\n## Codes\n\n| code | exit | meaning |\n|---|---|---|\n{rows}"


def main() -> int:
    """Write the page, or compare it; 1 when it is not current."""
    page = errors_page()
    if "--check" not in sys.argv[1:]:
        TARGET.write_text(page)
        return 0
    if TARGET.is_file() and TARGET.read_text() == page:
        return 0
    print("docs/errors.md is not current; next: python -m scripts.generate_errors", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
