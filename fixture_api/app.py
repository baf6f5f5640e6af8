"""The data port's own pages, /health and /clock, as a FastAPI application."""

from __future__ import annotations

from fastapi import FastAPI

from fixture_api.world import World, pages_of

_READING = ["GET", "HEAD"]


def make_app(world: World) -> FastAPI:
    """The application below the data plane; it knows nothing of attempts."""
    app = FastAPI(title="labctl fixture API", openapi_url=None, docs_url=None, redoc_url=None)
    pages = pages_of(world.revision, world.clock)

    @app.api_route("/health", methods=_READING)
    async def health() -> dict[str, str | int]:
        return pages["/health"]

    @app.api_route("/clock", methods=_READING)
    async def clock() -> dict[str, str | int]:
        return pages["/clock"]

    return app
