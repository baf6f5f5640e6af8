"""The control port: opens and closes attempts and says when one passed a limit; only the runner can reach it."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter, FastAPI, Request, Response
from pydantic import ValidationError

from contracts.control import AttemptBreach, AttemptKey, AttemptOpened, AttemptOpening
from contracts.record import Record
from fixture_api.attempts import AlreadyOpenError, Attempts, UnknownNameError
from fixture_api.lab_pages import contents
from fixture_api.problems import MEDIA_TYPE, problem


def make_control_app(attempts: Attempts) -> FastAPI:
    """The control port's application.

    Its handlers take and return bytes: FastAPI's own reading and writing of bodies would cost more than the attempt.
    """
    app = FastAPI(title="labctl fixture API control", openapi_url=None, docs_url=None, redoc_url=None)
    app.include_router(_make_router(attempts))
    app.add_exception_handler(ValidationError, _bad_record)
    app.add_exception_handler(UnknownNameError, _unknown)
    app.add_exception_handler(AlreadyOpenError, _conflict)
    return app


def _make_router(attempts: Attempts) -> APIRouter:
    router = APIRouter()
    health_page = contents(attempts.world.revision, attempts.world.clock)["/health"]

    @router.get("/health")
    async def health() -> dict[str, str | int]:
        return health_page

    async def open_attempt(request: Request) -> Response:
        opening = AttemptOpening.model_validate_json(await request.body())
        return _record(AttemptOpened(prefix=attempts.open(opening)), status=HTTPStatus.CREATED)

    async def close_attempt(request: Request) -> Response:
        return _record(attempts.close(AttemptKey.model_validate_json(await request.body())))

    async def wait_for_breach(request: Request) -> Response:
        attempt = attempts.open_attempt(AttemptKey.model_validate_json(await request.body()))
        await attempt.ended.wait()
        return _record(AttemptBreach(limit=attempt.breached))

    # as routes of Starlette, which FastAPI's are made of: what those do more is most of what they cost
    for path, handler in (("", open_attempt), ("/close", close_attempt), ("/breach", wait_for_breach)):
        router.add_route(f"/attempts{path}", handler, methods=["POST"])
    return router


def _record(record: Record, *, status: HTTPStatus = HTTPStatus.OK) -> Response:
    # Nulls stay: a state may be null, and it is a field that the reader requires.
    return Response(record.model_dump_json(by_alias=True), status_code=status, media_type="application/json")


def _problem_response(status: HTTPStatus, title: str, detail: str) -> Response:
    answer = problem(status, title, detail)
    return Response(answer.body, status_code=answer.status, media_type=MEDIA_TYPE)


async def _bad_record(_request: Request, error: Exception) -> Response:
    return _problem_response(HTTPStatus.UNPROCESSABLE_ENTITY, "Not understood", str(error))


async def _unknown(_request: Request, error: Exception) -> Response:
    return _problem_response(HTTPStatus.NOT_FOUND, "Not there", str(error))


async def _conflict(_request: Request, error: Exception) -> Response:
    return _problem_response(HTTPStatus.CONFLICT, "In the way", str(error))
