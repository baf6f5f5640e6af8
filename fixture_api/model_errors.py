"""Errors of the scripted model's service, so that a person reads the reason in any OpenAI client's exception.

The lab's own ones are problem+json as everywhere, with OpenAI's `error` member in it: clients show nothing but
`error.message`. The statuses of a bad request and of a missing rule are such that no client tries again.
"""

from __future__ import annotations

from http import HTTPStatus

from contracts.record import Json
from contracts.suite.scripted_model import ScriptedError
from fixture_api.answers import Answer, json_bytes, make_answer, make_head, own_headers
from fixture_api.problems import problem

_INVALID = "invalid_request_error"


def _error(message: str, *, kind: str, param: str | None = None, code: str | None = None) -> dict[str, Json]:
    return {"message": message, "type": kind, "param": param, "code": code}


_LIMIT = "The attempt has made all the model calls that its limit allows."
MODEL_CALL_LIMIT = problem(
    HTTPStatus.TOO_MANY_REQUESTS,
    "Model call limit",
    _LIMIT,
    error=_error(_LIMIT, kind="requests", code="rate_limit_exceeded"),
)


def bad_request(reason: str, *, param: str) -> Answer:
    """400: the request is none, or asks for what the scripted model does not do."""
    message = f"{param}: {reason}"
    error = _error(message, kind=_INVALID, param=param)
    return problem(HTTPStatus.BAD_REQUEST, "No chat-completions request", message, error=error)


def no_rule(reason: str, **members: Json) -> Answer:
    """422: the request is right and no rule answers it; `members` are further ones of the problem."""
    error = _error(reason, kind=_INVALID, param="messages", code="no_rule")
    return problem(HTTPStatus.UNPROCESSABLE_ENTITY, "No rule answers", reason, **members, error=error)


def no_scripted_model(*, case: str, method: str, path: str) -> Answer:
    """404: the attempt has no scripted model; unmatched, so the problem has that one's members too."""
    message = (
        f"This attempt of case {case} has no scripted model, so nothing answers {method} {path}: its agent's model "
        'is none of models/*.json. Next: give the agent model = "scripted/NAME" in suite.toml, or run with '
        "--model scripted/NAME; a real model is asked at its own address, which model_url names."
    )
    unmatched: dict[str, Json] = {"method": method, "path": path, "nearestRoute": None, "misses": []}
    error = _error(message, kind=_INVALID, param="model", code="no_scripted_model")
    return problem(HTTPStatus.NOT_FOUND, "No scripted model", message, case=case, **unmatched, error=error)


def no_model(name: str, *, known: str) -> Answer:
    """404: the service has another model than the one that is asked for."""
    message = f"The model {name!r} does not exist; this attempt's model is {known!r}."
    error = _error(message, kind=_INVALID, param="model", code="model_not_found")
    return problem(HTTPStatus.NOT_FOUND, "No such model", message, error=error)


def planned_error(planned: ScriptedError) -> Answer:
    """The error that a rule plans, as the real service would send it; raises answers.ResponseError."""
    headers = {"content-type": "application/json"} | own_headers(planned.headers)
    kind, code = _INVALID, None
    if planned.status == HTTPStatus.TOO_MANY_REQUESTS:
        kind, code = "requests", "rate_limit_exceeded"
    elif planned.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        kind = "server_error"
    error = _error(f"planned error {planned.status}", kind=kind, code=code)
    return make_answer(make_head(planned.status, headers), json_bytes({"error": error}))
