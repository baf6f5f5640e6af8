"""The lab's own pages of the data port, /health and /clock: the same by hand, by header and below any prefix."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from urllib.parse import unquote_to_bytes

from contracts.record import Json
from fixture_api.answers import Answer, allowed, json_bytes, make_answer, make_head, without_body
from fixture_api.clock import FixedClock
from fixture_api.problems import page_is_read_only

_LONGEST = len("/health")
_READING = frozenset({"GET", "HEAD"})


class LabPages:
    """What is answered at the two paths, whatever the method; no route takes them and no row tells of them."""

    def __init__(self, *, revision: str, clock: FixedClock) -> None:
        self._answers = {path.encode(): _page(page) for path, page in contents(revision, clock).items()}

    def answer(self, method: str, raw_path: bytes) -> Answer | None:
        """The answer at a path as it came over the wire, without prefix; None where the path is no page of the lab."""
        if b"%" in raw_path:
            raw_path = unquote_to_bytes(raw_path)
        if len(raw_path) > _LONGEST:
            return None
        page = self._answers.get(raw_path)
        if page is None or method == "GET":
            return page
        if method == "HEAD":
            return without_body(page)
        return allowed(_READING) if method == "OPTIONS" else page_is_read_only(raw_path.decode())


def contents(revision: str, clock: FixedClock) -> Mapping[str, dict[str, str | int]]:
    """The pages by path."""
    return {
        "/health": {"status": "ok", "revision": revision, "clock": clock.now},
        "/clock": {"clock": clock.now, "timezone": clock.timezone, "epochSeconds": clock.epoch_s},
    }


def _page(page: Json) -> Answer:
    return make_answer(make_head(HTTPStatus.OK, {"content-type": "application/json"}), json_bytes(page))
