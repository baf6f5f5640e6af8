"""One model of a provider through pydantic-ai's direct requests; importing this loads the library."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from json import JSONDecodeError
from typing import Any

from pydantic import ValidationError
from pydantic_ai.direct import model_request
from pydantic_ai.exceptions import ModelConnectionError, ModelHTTPError, UserError
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from contracts.model_endpoint import Endpoint
from providers.bounded_http import ReplyRefusedError
from providers.conversation import ProviderError, Reply, Sampling, ToolCall, ToolOffer
from providers.library_models import library_model
from providers.replies import reply_of

CLOSED = "the client was closed"
_TOO_MANY = 429
_SERVER_ERRORS = range(500, 600)
_CLOSING_S = 5.0
_SLACK_S = 10.0
_MOST_FIELDS = 4
"""Of a reply that is none, by name in its reason."""


class Client:
    """Asks one model for many threads, on one event loop of its own, so that they share its connections."""

    def __init__(self, endpoint: Endpoint, *, key: str | None) -> None:
        """Prepare the model; raises ProviderError where the library takes no model of that name."""
        try:
            self._model: Model[Any] = library_model(endpoint, key=key)
        except (UserError, ValueError) as trouble:
            raise ProviderError("the client library takes no such model", detail=str(trouble)) from trouble
        self._is_closed = False
        self._is_priced = endpoint.url is None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="provider", daemon=True)
        self._thread.start()

    def begin(
        self,
        *,
        system: str | None,
        tools: Sequence[ToolOffer] = (),
        sampling: Sampling,
        must_call: bool = False,
        headers: Callable[[], Mapping[str, str]] = dict,
    ) -> ProviderSession:
        """A new conversation; with `must_call` each reply has to call a tool; `headers` gives those of each request."""
        return ProviderSession(
            client=self,
            system=system,
            parameters=_parameters(tools),
            settings=_settings(sampling, must_call=must_call),
            headers=headers,
        )

    def request(
        self,
        messages: list[ModelMessage],
        *,
        parameters: ModelRequestParameters,
        settings: ModelSettings,
        seconds: float,
    ) -> tuple[ModelResponse, Reply]:
        """One request, never repeated by the library.

        Raises:
            ProviderError: no reply came, for whatever reason.

        """
        if self._is_closed:
            raise ProviderError(CLOSED)

        async def ask() -> ModelResponse:
            return await asyncio.wait_for(
                model_request(
                    self._model,
                    messages,
                    model_settings=settings,
                    model_request_parameters=parameters,
                    instrument=False,
                ),
                seconds,
            )

        waiting = asyncio.run_coroutine_threadsafe(ask(), self._loop)
        try:
            # the loop keeps the time; should it be stuck, or stopped meanwhile, nobody waits for it for ever
            response = waiting.result(seconds + _SLACK_S)
            return response, reply_of(response, is_priced=self._is_priced)
        except TimeoutError as trouble:
            raise ProviderError(f"the model's service gave no answer within {seconds:g} s") from trouble
        except concurrent.futures.CancelledError as trouble:
            raise ProviderError(CLOSED) from trouble
        except Exception as trouble:  # an odd answer makes a client library raise anything
            raise _failure(trouble) from trouble

    def close(self) -> None:
        """End every request under way, and the connections."""
        if self._is_closed:
            return
        self._is_closed = True
        ending = asyncio.run_coroutine_threadsafe(self._end(), self._loop)
        concurrent.futures.wait([ending], timeout=_CLOSING_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_CLOSING_S)
        if not self._thread.is_alive():
            self._loop.close()

    async def _end(self) -> None:
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await self._model.client.close()


@dataclass
class ProviderSession:
    """A conversation with a provider's model (`providers.conversation.Session`)."""

    client: Client
    system: str | None
    parameters: ModelRequestParameters
    settings: ModelSettings
    headers: Callable[[], Mapping[str, str]] = dict
    messages: list[ModelMessage] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._parts: list[Any] = [SystemPromptPart(self.system)] if self.system else []

    def tell(self, text: str) -> None:
        """Add what the user says."""
        self._parts.append(UserPromptPart(text))

    def answer(self, call: ToolCall, text: str) -> None:
        """Add the result of a call."""
        self._parts.append(ToolReturnPart(tool_name=call.name, content=text, tool_call_id=call.id))

    def ask(self, *, seconds: float) -> Reply:
        """What the model says next; raises ProviderError."""
        self.messages.append(ModelRequest(parts=self._parts))
        self._parts = []
        headers, settings = dict(self.headers()), self.settings.copy()
        if headers:
            settings["extra_headers"] = headers
        response, reply = self.client.request(
            self.messages, parameters=self.parameters, settings=settings, seconds=seconds
        )
        # as the provider gave it: some want parts of it back that no reply of ours shows
        self.messages.append(response)
        return reply


def _parameters(tools: Sequence[ToolOffer]) -> ModelRequestParameters:
    offered = [
        ToolDefinition(
            name=tool.name,
            description=tool.description,
            parameters_json_schema=tool.parameters,
            strict=True if tool.strict else None,
        )
        for tool in tools
    ]
    return ModelRequestParameters(function_tools=offered)


def _settings(sampling: Sampling, *, must_call: bool) -> ModelSettings:
    # a request that is repeated out of sight would be paid for and not counted
    settings = ModelSettings(max_retries=0)
    if sampling.temperature is not None:
        settings["temperature"] = sampling.temperature
    if sampling.seed is not None:
        settings["seed"] = sampling.seed
    if sampling.max_output_tokens is not None:
        settings["max_tokens"] = sampling.max_output_tokens
    if must_call:
        settings["tool_choice"] = "required"
        settings["parallel_tool_calls"] = False
    return settings


def _failure(trouble: Exception) -> ProviderError:
    detail = f"{type(trouble).__name__}: {trouble}"
    for cause in _causes(trouble):
        if isinstance(cause, ReplyRefusedError):
            reason = f"the model's service answered {cause}"
            return ProviderError(reason, detail=detail, is_too_long=cause.is_too_long)
    if isinstance(trouble, ModelHTTPError):
        status = trouble.status_code
        may_pass = status == _TOO_MANY or status in _SERVER_ERRORS
        return ProviderError(f"the model's service answered {status}", detail=detail, may_pass=may_pass, status=status)
    if isinstance(trouble, ModelConnectionError):
        return ProviderError("the model's service could not be reached", detail=detail, may_pass=True)
    what = next((words for cause in _causes(trouble) if (words := _what_is_wrong(cause))), "")
    return ProviderError(f"the model's service answered something that is no reply{what}", detail=detail)


def _causes(trouble: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = trouble
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def _what_is_wrong(cause: BaseException) -> str:
    """By the names that the interface has for its fields; values are the service's, and no reason quotes them."""
    if isinstance(cause, JSONDecodeError):
        return ": no JSON"
    if not isinstance(cause, ValidationError):
        return ""
    fields = [".".join(map(str, error["loc"])) for error in cause.errors(include_input=False, include_url=False)]
    more = f" and {len(fields) - _MOST_FIELDS} more" if len(fields) > _MOST_FIELDS else ""
    return f": missing or of another kind: {', '.join(fields[:_MOST_FIELDS])}{more}"
