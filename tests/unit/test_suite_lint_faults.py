"""Every rule of a case's faults: a bad suite that breaks this rule and no other, with file, place and words."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.suite_changes import (
    BrokenRule,
    Change,
    both,
    case,
    response,
    response_fault,
    route,
    tool,
    toxic,
    toxics,
)
from tests.fakes.suite_folder import ROUTE
from tests.fakes.suite_problems import assert_exact_problem

FAULTS: list[BrokenRule] = [
    (
        "a fault on no route",
        response_fault({"route": "read-ordr", "kind": "empty"}),
        "cases.json /cases/0/faults/responses/0/route (line 17)",
        'unknown route "read-ordr"; did you mean "read-order"?',
    ),
    (
        "an unknown kind",
        response_fault({"kind": "truncate"}),
        "cases.json /cases/0/faults/responses/0/kind (line 18)",
        'did you mean "truncated"?',
    ),
    (
        "a fault that never comes",
        response_fault({"kind": "empty", "times": 0}),
        "cases.json /cases/0/faults/responses/0/times (line 19)",
        "expected at least 1",
    ),
    (
        "a skip into the past",
        response_fault({"kind": "empty", "skip": -1}),
        "cases.json /cases/0/faults/responses/0/skip (line 19)",
        "expected at least 0",
    ),
    (
        "a misspelt key of a fault",
        response_fault({"kind": "empty", "time": 1}),
        "cases.json /cases/0/faults/responses/0/time (line 19)",
        'did you mean "times"?',
    ),
    (
        "a status that is none",
        response_fault({"kind": "status", "value": 99}),
        "cases.json /cases/0/faults/responses/0/value (line 19)",
        "from 200 to 599, found the number",
    ),
    (
        "a status in quotes",
        response_fault({"kind": "status", "value": "500"}),
        "cases.json /cases/0/faults/responses/0/value (line 19)",
        'found the text "500"',
    ),
    (
        "a wait of days",
        response_fault({"kind": "timeout", "value": 86_400_001}),
        "cases.json /cases/0/faults/responses/0/value (line 19)",
        "from 1 to 86400000",
    ),
    (
        "a wait of no time, which could be taken for one without end",
        response_fault({"kind": "timeout", "value": 0}),
        "cases.json /cases/0/faults/responses/0/value (line 19)",
        "from 1 to 86400000, found the number 0",
    ),
    (
        "a cut before the start",
        response_fault({"kind": "truncated", "value": -1}),
        "cases.json /cases/0/faults/responses/0/value (line 19)",
        "from 0 to 2147483648",
    ),
    (
        "a value for nothing",
        response_fault({"kind": "empty", "value": 1}),
        "cases.json /cases/0/faults/responses/0/value (line 19)",
        "the kind empty has no value",
    ),
    (
        "two faults for one request",
        response_fault({"kind": "status", "skip": 1, "times": 2}, {"kind": "empty", "skip": 2, "times": 1}),
        "cases.json /cases/0/faults/responses/1 (line 22)",
        'request 3 of the route "read-order" is for fault 0 already; expected other `skip` and `times`',
    ),
    (
        "a fault behind one without end",
        response_fault({"kind": "status"}, {"kind": "empty", "skip": 9}),
        "cases.json /cases/0/faults/responses/1 (line 20)",
        "request 10 of the route",
    ),
    (
        "nothing to cut",
        both(response(), response_fault({"kind": "truncated"})),
        "cases.json /cases/0/faults/responses/0/kind (line 18)",
        'the kind truncated needs a body, and response 0 of "read-order" has none',
    ),
    (
        "an empty text to cut",
        both(response(text=""), response_fault({"kind": "truncated"})),
        "cases.json /cases/0/faults/responses/0/kind (line 18)",
        "response 0 of",
    ),
    (
        "no JSON to spoil, after a planned failure",
        both(
            route(responses=[{"json": 1}, {"status": 204}]),
            response_fault({"kind": "status", "times": 1}, {"kind": "malformed-json", "skip": 2, "times": 1}),
        ),
        "cases.json /cases/0/faults/responses/1/kind (line 23)",
        'the kind malformed-json needs a body, and response 1 of "read-order" has none',
    ),
    (
        "no type to spoil in the last answer",
        both(route(responses=[{"json": 1}, {"bytesBase64": ""}]), response_fault({"kind": "wrong-content-type"})),
        "cases.json /cases/0/faults/responses/0/kind (line 18)",
        "needs a body, and response 1",
    ),
    (
        "an answer to HEAD to spoil",
        both(route(method="HEAD"), response_fault({"kind": "malformed-json"}), tool(http=None)),
        "cases.json /cases/0/faults/responses/0/kind (line 18)",
        "an answer to HEAD has none",
    ),
    (
        "a cut at the end of a text",
        both(response(text="\u20ac"), response_fault({"kind": "truncated", "value": 3})),
        "cases.json /cases/0/faults/responses/0/value (line 19)",
        'expected less than 3, the bytes of response 0 of "read-order", found the number 3',
    ),
    (
        "a cut behind the end of bytes",
        both(response(bytesBase64="AAA="), response_fault({"kind": "truncated", "value": 9})),
        "cases.json /cases/0/faults/responses/0/value (line 19)",
        "expected less than 2, the bytes of",
    ),
    (
        "a cut behind the end of JSON that never changes",
        both(response(json={"a": ["\u00e9", 1]}), response_fault({"kind": "truncated", "value": 14})),
        "cases.json /cases/0/faults/responses/0/value (line 19)",
        "expected less than 14",
    ),
    (
        "nothing to cut in an own route",
        case(
            routes=[{**ROUTE, "id": "own", "responses": [{}]}],
            faults={"responses": [{"route": "own", "kind": "truncated"}]},
        ),
        "cases.json /cases/0/faults/responses/0/kind (line 28)",
        'response 0 of "own" has none',
    ),
    (
        "an unknown toxic",
        toxic(type="latncy"),
        "cases.json /cases/0/faults/network/0/type (line 17)",
        'did you mean "latency"?',
    ),
    (
        "an unknown stream",
        toxic(type="timeout", stream="downstram"),
        "cases.json /cases/0/faults/network/0/stream (line 18)",
        'did you mean "downstream"?',
    ),
    (
        "an unknown target",
        toxic(type="timeout", target="tool"),
        "cases.json /cases/0/faults/network/0/target (line 18)",
        'did you mean "tools"?',
    ),
    (
        "a toxic by chance",
        toxic(type="timeout", toxicity=0.5),
        "cases.json /cases/0/faults/network/0/toxicity (line 18)",
        "expected toxicity 1 or none, found the number 0.5",
    ),
    (
        "a random latency",
        toxic(type="latency", attributes={"latency": 5, "jitter": 1}),
        "cases.json /cases/0/faults/network/0/attributes/jitter (line 20)",
        "a random toxic (toxiproxy ignores its seed): expected jitter 0 or none, found the number 1",
    ),
    (
        "slices of random size",
        toxic(type="slicer", attributes={"average_size": 5, "size_variation": 1}),
        "cases.json /cases/0/faults/network/0/attributes/size_variation (line 20)",
        "expected size_variation 0 or none",
    ),
    (
        "a misspelt attribute",
        toxic(type="bandwidth", attributes={"rte": 1}),
        "cases.json /cases/0/faults/network/0/attributes/rte (line 19)",
        'unknown attribute of the type bandwidth "rte"; did you mean "rate"?',
    ),
    (
        "a missing attribute",
        toxic(type="limit_data", attributes={}),
        "cases.json /cases/0/faults/network/0/attributes (line 18)",
        "needs the attribute bytes",
    ),
    (
        "no attributes",
        toxic(type="slow_close"),
        "cases.json /cases/0/faults/network/0 (line 16)",
        "a toxic of the type slow_close needs the attribute delay",
    ),
    (
        "a negative attribute",
        toxic(type="latency", attributes={"latency": -1}),
        "cases.json /cases/0/faults/network/0/attributes/latency (line 19)",
        "expected a whole number from 1 to 86400000, found the number -1",
    ),
    (
        "half a millisecond",
        toxic(type="timeout", attributes={"timeout": 0.5}),
        "cases.json /cases/0/faults/network/0/attributes/timeout (line 19)",
        "expected a whole number",
    ),
    (
        "two that cut one stream",
        toxics({"type": "timeout"}, {"type": "limit_data", "attributes": {"bytes": 9}}),
        "cases.json /cases/0/faults/network/1 (line 19)",
        "toxic 0 (timeout on downstream) hides it: no attempt could tell whether it was met",
    ),
    (
        "a delay of what is cut already",
        toxics({"type": "reset_peer"}, {"type": "latency", "attributes": {"latency": 9}}),
        "cases.json /cases/0/faults/network/1 (line 19)",
        "toxic 0 (reset_peer on downstream) hides it",
    ),
    (
        "a delay of answers that never come",
        toxics({"type": "latency", "attributes": {"latency": 9}}, {"type": "timeout", "stream": "upstream"}),
        "cases.json /cases/0/faults/network/0 (line 16)",
        "toxic 1 (timeout on upstream) hides it",
    ),
]


@pytest.mark.parametrize(("change", "place", "words"), [pytest.param(*rest, id=name) for name, *rest in FAULTS])
def test_a_broken_rule_is_the_only_problem_and_is_named(tmp_path: Path, change: Change, place: str, words: str) -> None:
    assert_exact_problem(tmp_path, change, place=place, words=words)
