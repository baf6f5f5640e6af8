"""The HTTP client behind the models: a reply is bounded while it is read, for a long one would hold up every thread."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2
from pydantic_ai.models import create_async_httpx2_client

from providers.conversation import MAX_REPLY_BYTES


class ReplyRefusedError(Exception):
    """A reply that is not read to its end."""

    def __init__(self, reason: str, *, is_too_long: bool) -> None:
        super().__init__(reason)
        self.is_too_long = is_too_long


def bounded_client() -> httpx2.AsyncClient:
    """The library's own client, asking for replies as they are and reading no more than MAX_REPLY_BYTES of each."""
    client: httpx2.AsyncClient = create_async_httpx2_client()
    client.headers["accept-encoding"] = "identity"
    client.event_hooks = {**client.event_hooks, "response": [_bound]}
    return client


async def _bound(response: httpx2.Response) -> None:
    if response.headers.get("content-encoding", "identity") != "identity":
        raise ReplyRefusedError("compressed, which nobody asked for", is_too_long=False)
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Bounded(response.stream)


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = MAX_REPLY_BYTES
        async for piece in self._stream:
            left -= len(piece)
            if left < 0:
                raise ReplyRefusedError(f"more than {MAX_REPLY_BYTES} bytes", is_too_long=True)
            yield piece

    async def aclose(self) -> None:
        """The stream's own end."""
        await self._stream.aclose()
