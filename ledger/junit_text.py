"""How junit.xml spells texts, and its head: the same bytes whatever XML library a machine has."""

from __future__ import annotations

import re
from dataclasses import dataclass

from contracts.outcome import Outcome
from contracts.results import CaseResult
from ledger.case_results import is_not_run

SUITE_NAME = "labctl"
"""The name of the one testsuite and the class name of its testcases, the same in every run: CI pairs runs by it."""

CLOSING = b"</testsuite></testsuites>\n"
"""How the file ends."""

_NOT_XML = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
_TEXT_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})
_ESCAPES = _TEXT_ESCAPES | str.maketrans({'"': "&quot;", "\n": "&#10;", "\t": "&#9;"})
_PLAIN = re.compile(r"[ !#-%'-;=?-~]*")


@dataclass
class JUnitCounts:
    """What the testsuite says of its testcases."""

    tests: int = 0
    failures: int = 0
    errors: int = 0
    skipped: int = 0
    duration_ms: int = 0

    def add(self, case: CaseResult) -> None:
        """Count one case."""
        self.tests += 1
        self.failures += case.outcome is Outcome.FAIL
        self.skipped += is_not_run(case)
        self.errors += case.outcome is Outcome.UNKNOWN and not is_not_run(case)
        self.duration_ms += sum(attempt.duration_ms for attempt in case.attempts)

    def add_passed(self, passed: int, *, duration_ms: int) -> None:
        """Count so many cases that passed, which took so long together."""
        self.tests += passed
        self.duration_ms += duration_ms


def junit_head(counts: JUnitCounts, *, run_id: str) -> bytes:
    """What stands before the first testcase."""
    told = (
        f'name="{SUITE_NAME}" tests="{counts.tests}" failures="{counts.failures}" errors="{counts.errors}" '
        f'skipped="{counts.skipped}" time="{counts.duration_ms / 1000}"'
    )
    of_run = f'<properties><property name="runId" value="{attribute(clean(run_id))}"></property></properties>'
    head = f'<?xml version="1.0" encoding="utf-8"?>\n<testsuites {told}><testsuite {told}>{of_run}\n'
    return head.encode()


def clean(text: str) -> str:
    """The text with U+FFFD for every character that XML 1.0 cannot carry."""
    return text if _PLAIN.fullmatch(text) else _NOT_XML.sub("\ufffd", text)


def attribute(value: str) -> str:
    """A clean text as the value of an attribute, without its quotes."""
    return value if _PLAIN.fullmatch(value) else value.translate(_ESCAPES)


def clean_attribute(text: str) -> str:
    """A text, cleaned, as the value of an attribute, without its quotes."""
    return text if _PLAIN.fullmatch(text) else attribute(clean(text))


def content(text: str) -> str:
    """A clean text as the content of an element."""
    return text.translate(_TEXT_ESCAPES)
