"""One row of the journal: what one attempt asked of the world and what it was answered, as digests."""

from __future__ import annotations

from enum import StrEnum

from contracts.record import Record


class Via(StrEnum):
    """The door through which a request came."""

    HTTP = "http"
    MCP = "mcp"
    MODEL = "model"


class JournalRow(Record):
    """One served request; `path` is without the attempt's prefix, digests are as CONTRACT §5 defines them."""

    case: str
    attempt: int
    sequence: int
    """From 1, without gaps, in the order in which answers were decided."""
    method: str
    path: str
    request_digest: str
    route: str | None = None
    """The id of the route that answered; `model:NAME#INDEX` for a rule of the scripted model; None: unmatched."""
    tool: str | None = None
    """The tool of tools.json that is bound to this method and path, if any."""
    via: Via
    status: int
    response_digest: str
    fault: str | None = None
    delay_ms: int

    def to_line(self) -> str:
        """One line of journal.jsonl, with every key of it: a row that no route answered says `"route":null`."""
        return self.model_dump_json(by_alias=True)
