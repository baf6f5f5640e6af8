"""The data port's own pages, /health and /clock, as a FastAPI application."""

from __future__ import annotations

from fastapi import FastAPI

from fixture_api.world import World


def make_app(world: World) -> FastAPI:
    """The application below the data plane; it knows nothing of attempts."""
    app = FastAPI(title="labctl fixture API", openapi_url=None, docs_url=None, redoc_url=None)

    @app.get("/health")
    async def health() -> dict[str, str]:
        return {"status": "ok", "revision": world.revision, "clock": world.clock.now}

    @app.get("/clock")
    async def clock() -> dict[str, str | int]:
        return {"clock": world.clock.now, "timezone": world.clock.timezone, "epochSeconds": world.clock.epoch_s}

    return app
