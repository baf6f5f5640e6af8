"""The provider client over real HTTP: what is sent, what is counted, and what each failure is called."""

from __future__ import annotations

import gzip
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

from contracts.model_endpoint import Endpoint
from providers.client import Client
from providers.conversation import MAX_REPLY_BYTES, ProviderError, Reply, Sampling, ToolOffer
from tests.fakes.model_service import Answer, ModelService, completion, model_service

SAMPLING = Sampling(temperature=0.0, seed=7, max_output_tokens=99)
PATIENCE_S = 30.0
LOOKUP = ToolOffer(name="lookup", description=None, parameters={"type": "object", "properties": {}})


@contextmanager
def client_of(
    answer: Callable[[dict[str, Any]], Answer], *, model: str = "own/some", key: str | None = None
) -> Iterator[tuple[Client, ModelService]]:
    with model_service(answer) as service, closing(Client(Endpoint(model, url=service.url), key=key)) as client:
        yield client, service


def ask(client: Client, text: str = "hello", *, seconds: float = PATIENCE_S, **begin: Any) -> Reply:
    session = client.begin(**{"system": "Be kind.", "sampling": SAMPLING, **begin})
    session.tell(text)
    return session.ask(seconds=seconds)


def test_the_request_says_what_was_planned_and_the_key_is_in_its_header_only() -> None:
    with client_of(lambda _: completion("hi"), key="a-secret-key") as (client, service):
        assert ask(client, tools=[LOOKUP]).text == "hi"
    (request,) = service.requests
    assert [(message["role"], message["content"]) for message in request["messages"]] == [
        ("system", "Be kind."),
        ("user", "hello"),
    ]
    assert (request["model"], request["temperature"], request["seed"]) == ("some", 0.0, 7)
    assert request["max_tokens"] == 99
    assert request["tools"][0]["function"]["name"] == "lookup"
    assert service.keys == ["Bearer a-secret-key"]
    assert service.paths == ["/v1/chat/completions"]
    assert "a-secret-key" not in str(request)


def test_each_request_carries_the_headers_of_its_moment() -> None:
    places = iter(["00-a-1-01", "00-a-2-01"])
    with client_of(lambda _: completion("hi")) as (client, service):
        session = client.begin(system=None, sampling=SAMPLING, headers=lambda: {"traceparent": next(places)})
        for text in ("one", "two"):
            session.tell(text)
            session.ask(seconds=PATIENCE_S)
        ask(client)
    assert service.traceparents == ["00-a-1-01", "00-a-2-01", None]


def test_openai_itself_is_told_its_own_name_for_the_limit_of_tokens() -> None:
    with client_of(lambda _: completion("hi"), model="openai/some") as (client, service):
        ask(client)
    assert service.requests[0]["max_completion_tokens"] == 99


def test_calls_come_back_as_they_were_written_also_where_they_are_no_json() -> None:
    calls = ("lookup", '{ "a" :1 }'), ("lookup", '{"a":')
    answers = iter([completion("wait", *calls), completion("done")])
    with client_of(lambda _: next(answers)) as (client, service):
        session = client.begin(system=None, tools=[LOOKUP], sampling=Sampling())
        session.tell("go")
        reply = session.ask(seconds=PATIENCE_S)
        assert [(call.name, call.arguments, call.written) for call in reply.calls] == [
            ("lookup", {"a": 1}, '{ "a" :1 }'),
            ("lookup", None, '{"a":'),
        ]
        for call in reply.calls:
            session.answer(call, "{}")
        assert session.ask(seconds=PATIENCE_S).text == "done"
    first, second = service.requests[1]["messages"][1]["tool_calls"]
    assert json.loads(first["function"]["arguments"]) == {"a": 1}
    assert '{\\"a\\":' in second["function"]["arguments"]  # the library quotes what is no JSON
    assert "temperature" not in service.requests[0]


def test_tokens_are_what_the_service_told_and_an_own_endpoint_has_no_price() -> None:
    told = completion("hi", usage={"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}, model="gpt-4o")
    with client_of(lambda _: told, model="openai/gpt-4o") as (client, _):
        reply = ask(client)
    assert (reply.input_tokens, reply.output_tokens, reply.cost_usd) == (10, 2, None)
    with client_of(lambda _: completion("hi")) as (client, _):
        reply = ask(client)
    assert (reply.input_tokens, reply.output_tokens, reply.cost_usd) == (None, None, None)


@pytest.mark.parametrize(
    ("answer", "reason", "may_pass"),
    [
        ((401, b'{"error":{"message":"private"}}'), "the model's service answered 401", False),
        ((403, b"{}"), "the model's service answered 403", False),
        ((404, b"{}"), "the model's service answered 404", False),
        ((429, b"{}"), "the model's service answered 429", True),
        ((500, b"oops"), "the model's service answered 500", True),
        ((503, b""), "the model's service answered 503", True),
        ((200, b"nothing"), "no reply", False),
        ((200, b""), "no reply", False),
        ((200, b"[]"), "no reply", False),
        ((200, b"{}"), "no reply", False),
        ((200, b'{"choices":[]}'), "no reply", False),
        ((200, b'{"choices":[{"message":7}]}'), "no reply", False),
    ],
)
def test_a_service_that_fails_is_asked_once_and_never_quoted(answer: Answer, reason: str, may_pass: bool) -> None:
    with client_of(lambda _: answer, key="a-secret-key") as (client, service), pytest.raises(ProviderError) as caught:
        ask(client)
    assert reason in str(caught.value)
    assert "private" not in str(caught.value)
    assert "a-secret-key" not in str(caught.value) + caught.value.detail
    assert caught.value.may_pass is may_pass
    assert caught.value.status == (answer[0] if answer[0] >= 400 else None)
    assert len(service.requests) == 1


def test_a_service_that_is_not_there_may_come_back() -> None:
    with model_service(lambda _: completion("hi")) as gone:
        url = gone.url
    with closing(Client(Endpoint("own/some", url=url), key=None)) as client, pytest.raises(ProviderError) as caught:
        ask(client)
    assert str(caught.value) == "the model's service could not be reached"
    assert caught.value.may_pass


def test_an_answer_that_does_not_come_in_time_ends_the_request_and_not_the_client() -> None:
    leave = threading.Event()

    def answer(request: dict[str, Any]) -> Answer:
        if "slow" in str(request):
            leave.wait(PATIENCE_S)
        return completion("hi")

    with client_of(answer) as (client, _):
        with pytest.raises(ProviderError, match=r"no answer within 0\.2 s"):
            ask(client, "slow", seconds=0.2)
        leave.set()
        assert ask(client).text == "hi"


def test_a_reply_is_read_up_to_its_bound_and_not_an_endless_one_to_its_end() -> None:
    with client_of(lambda _: completion("x" * (MAX_REPLY_BYTES - 2000))) as (client, _):
        assert len(ask(client).text or "") == MAX_REPLY_BYTES - 2000
    with client_of(lambda _: completion("x" * MAX_REPLY_BYTES)) as (client, service):
        with pytest.raises(ProviderError, match=f"more than {MAX_REPLY_BYTES} bytes") as told:
            ask(client)
        assert (told.value.is_too_long, told.value.may_pass, len(service.requests)) == (True, False, 1)


def test_closing_ends_what_is_under_way() -> None:
    leave, asked = threading.Event(), threading.Event()

    def answer(_: dict[str, Any]) -> Answer:
        asked.set()
        leave.wait(PATIENCE_S)
        return completion("hi")

    with client_of(answer) as (client, _):
        failures: list[ProviderError] = []

        def ask_slowly() -> None:
            try:
                ask(client)
            except ProviderError as trouble:
                failures.append(trouble)

        thread = threading.Thread(target=ask_slowly)
        thread.start()
        assert asked.wait(PATIENCE_S)
        client.close()
        thread.join(PATIENCE_S)
        leave.set()
        with pytest.raises(ProviderError, match="closed"):
            ask(client)
    assert [str(failure) for failure in failures] == ["the client was closed"]


def test_a_reply_that_was_packed_unasked_is_refused() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with closing(connection):
                asked = b""
                while b"\r\n\r\n" not in asked:
                    asked += connection.recv(65536)
                assert b"\r\naccept-encoding: identity\r\n" in asked.lower()
                body = gzip.compress(b"{}")
                head = f"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {len(body)}\r\n\r\n"
                connection.sendall(head.encode() + body)

        thread = threading.Thread(target=serve)
        thread.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        with closing(Client(Endpoint("own/some", url=url), key=None)) as client:
            with pytest.raises(ProviderError, match="answered compressed, which nobody asked for") as told:
                ask(client)
            assert (told.value.is_too_long, told.value.may_pass) == (False, False)
        thread.join(PATIENCE_S)
