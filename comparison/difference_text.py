"""What differs around the behaviour as lines for people: the KEY, both values, and the file that proves it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from comparison.case_text import ARROW
from comparison.shown_values import cut_alike
from contracts.comparison import Comparison, Difference, ToolResponse
from contracts.record import Json

_DIGEST = re.compile("sha256:([0-9a-f]{12})[0-9a-f]{52}")
_MOST_CHARS = 120
_MOST_RESPONSES = 20


def environment_lines(comparison: Comparison) -> Iterator[str]:
    """Drift first, then the subject, then the names of the context; then answers that were unequal."""
    yield from _kind_lines("drift", comparison.drift)
    yield from _kind_lines("subject", comparison.subject)
    context = ", ".join(difference.key for difference in comparison.context)
    yield f"context: {context or 'none'}"
    if comparison.tool_responses:
        more = comparison.left_out.get("toolResponses", 0)
        yield f"toolResponses: {len(comparison.tool_responses) + more} equal requests got unequal answers"
        for response in comparison.tool_responses[:_MOST_RESPONSES]:
            yield f"  {response_line(response)}"


def _kind_lines(kind: str, found: Sequence[Difference]) -> Iterator[str]:
    if not found:
        yield f"{kind}: none"
    for difference in found:
        yield f"{kind}: {difference_line(difference)}"


def difference_line(difference: Difference) -> str:
    """`seed 1 → 2  (environment.json /conditions/seed)`."""
    remarks = [f"{difference.file} {difference.pointer}".rstrip()]
    remarks += ["the same label, other content"] if difference.label_reused else []
    remarks += ["allowed"] if difference.allowed else []
    was, now = cut_alike(_value(difference.baseline), _value(difference.candidate), most=_MOST_CHARS)
    return f"{difference.key} {was} {ARROW} {now}  ({'; '.join(remarks)})"


def response_line(response: ToolResponse) -> str:
    """The request, both answers, and their lines in the journals."""
    was, now = response.baseline, response.candidate
    cause = "after the same requests" if response.same_requests_before else "after other requests"
    return (
        f"{response.case_id}: {response.method} {response.path} ({response.occurrence}): {was.status} {ARROW} "
        f"{now.status}, {cause}  ({response.file} line {was.line} {ARROW} {now.line})"
    )


def _value(value: Json) -> str:
    if value is None:
        return "absent"
    if isinstance(value, dict) and value.keys() == {"revision", "digest"}:
        label, digest = value["revision"], str(value["digest"]).removeprefix("sha256:")[:12]
        return f"{label}" if str(label).startswith("sha256:") else f"{label} ({digest})"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return _DIGEST.sub(r"\1", text)
