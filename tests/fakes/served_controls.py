"""Served agents that are right, wrong, silent, cut off and lying, one deed for each case, and suites that ask them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.fakes.control_suites import (
    LOOKUP_CALL,
    SAYS_DONE,
    THINK,
    TOOLS,
    agent_table,
    settings_of,
    write_controls,
)


def served_table(name: str, *, path: str = "/answer", **keys: Any) -> str:
    """`[agents.NAME]` with the program below behind HTTP, at a port that the lab chooses."""
    url = f"http://localhost:{{port}}{path}"
    return agent_table(name, "http", **{"command": ["python3", "{suite}/agents/served.py"], "url": url, **keys})


CHATTY: dict[str, Any] = {
    "path": "/v1",
    "protocol": "openai",
    "model": "desk/large",
    "temperature": 0.5,
    "max_output_tokens": 99,
}
SERVED = served_table("served")
SETTINGS = settings_of(
    SERVED,
    served_table("chatty", **CHATTY),
    served_table("by-header", select="header"),
    served_table("guarded", auth="DESK_TOKEN", auth_required=True),
    served_table("missing", command=["/nowhere/agent"]),
    begin='default_agent = "served"\n',
)

AGENT = '''\
"""Does what its case is called, over HTTP."""
import http.server, json, os, subprocess, sys, time, urllib.error, urllib.request

TOKEN = os.environ.get("DESK_TOKEN")
GUARDS = os.environ.get("GUARDS") != "no"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.close_connection = True
        if TOKEN and GUARDS and self.headers.get("authorization") != "Bearer " + TOKEN:
            return self.whole(b"{}", status=401)
        self.asked = json.loads(body)
        case = self.headers.get("x-eval-case")
        if case is None:
            print("asked without a case:", body.decode(), flush=True)
            return self.whole(b'{"events": []}')
        globals()[case.rpartition(".")[2].replace("-", "_")](self)

    def whole(self, body, *, status=200, kind="application/json", length=None, **headers):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body) if length is None else length))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def events(self, *events):
        self.whole(json.dumps({"events": events}).encode())

    def begin(self):
        self.send_response(200)
        self.send_header("content-type", "application/x-ndjson")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()

    def piece(self, data):
        data = data if isinstance(data, bytes) else (json.dumps(data) + "\\n").encode()
        self.wfile.write(b"%x\\r\\n%s\\r\\n" % (len(data), data))
        self.wfile.flush()

    def call(self, method, path, body=None):
        url = self.headers["x-lab-fixture-url"]
        headers = {"content-type": "application/json"} if body else {}
        if "/~" not in url:
            headers["x-eval-case"] = self.headers["x-eval-case"]
        data = None if body is None else json.dumps(body).encode()
        try:
            return urllib.request.urlopen(
                urllib.request.Request(url + path, data, headers, method=method), timeout=30).status
        except urllib.error.HTTPError as answer:
            return answer.code


DONE = {"type": "message", "text": "done"}


def is_right(agent):
    agent.call("GET", "/things/1")
    agent.events({"type": "tool_call", "name": "lookup", "arguments": {"id": "1"}, "status": 200}, DONE)


def streams(agent):
    agent.begin()
    agent.piece(b"just a line of its log\\n")
    agent.piece({"type": "tool_call", "name": "lookup", "arguments": {"id": "1"}, "status": 200})
    agent.call("GET", "/things/1")
    agent.piece(b'{"type": "message", "te')
    agent.piece(b'xt": "done"}')
    agent.wfile.write(b"0\\r\\n\\r\\n")


def echoes(agent):
    text = json.dumps([agent.asked, dict(agent.headers.items()), sorted(os.environ)])
    agent.events(DONE, {"type": "message", "text": text})


def says_nothing(agent):
    agent.events()


def answers_500(agent):
    agent.whole(b"it is private", status=500)


def answers_429(agent):
    agent.whole(b"{}", status=429)


def redirects(agent):
    agent.whole(b"", status=302, location="http://127.0.0.1:1/elsewhere")


def answers_a_page(agent):
    agent.whole(b"<html>done</html>", kind="text/html")


def answers_nothing(agent):
    agent.whole(b"")


def answers_no_json(agent):
    agent.whole(b'{"events": [')


def answers_no_events(agent):
    agent.whole(b'{"text": "done"}')


def answers_a_wrong_event(agent):
    agent.events(DONE, "done")


def breaks_the_protocol(agent):
    agent.events(DONE, {"type": "message", "words": "done"})


def is_compressed(agent):
    agent.whole(b"done", content_encoding="gzip")


def reports_an_error(agent):
    agent.events(DONE, {"type": "error", "message": "something private"})


def blames_its_provider(agent):
    agent.events({"type": "error", "message": "429", "class": "provider"})


def hangs_up(agent):
    agent.connection.close()


def is_cut_off(agent):
    agent.whole(json.dumps({"events": [DONE]}).encode(), length=9999)


def is_cut_off_in_a_chunk(agent):
    agent.begin()
    agent.piece(DONE)
    agent.wfile.write(b"ff\\r\\n{")


def is_cut_off_without_a_length(agent):
    agent.wfile.write(b"HTTP/1.0 200 OK\\r\\ncontent-type: application/x-ndjson\\r\\n\\r\\n")
    agent.wfile.write(json.dumps(DONE).encode() + b'\\n{"type": "mess')


def speaks_no_http(agent):
    agent.wfile.write(b"hello\\r\\n\\r\\n")


def hangs(agent):
    time.sleep(600)


def waits(agent):
    # so that it can be seen from outside, whoever looks: arguments are for everybody
    who = ["LAB_CASE_ID=" + agent.headers["x-eval-case"], os.environ.get("LABTEST_RUN", "")]
    subprocess.run([sys.executable, "-c", "import time; time.sleep(600)", *who])


def drips(agent):
    agent.begin()
    agent.piece(DONE)
    while True:
        agent.piece(b" ")
        time.sleep(0.1)


def drips_its_head(agent):
    agent.wfile.write(b"HTTP/1.1 200 OK\\r\\nx-long: ")
    while True:
        agent.wfile.write(b"x")
        time.sleep(0.1)


def floods(agent):
    agent.begin()
    agent.piece(DONE)
    while True:
        agent.piece(b"x" * 65536)


def floods_one_document(agent):
    agent.whole(b'{"events": ["' + b"x" * 2_000_000)


def spends_too_much(agent):
    agent.begin()
    agent.piece(DONE)
    agent.piece({"type": "usage", "inputTokens": 1, "outputTokens": 1, "costUsd": 0.75})
    time.sleep(600)


def loops_on_tools(agent):
    agent.begin()
    agent.piece(DONE)
    while agent.call("GET", "/things/1"):
        pass


def loops_on_thoughts(agent):
    agent.begin()
    agent.piece(DONE)
    while True:
        agent.piece({"type": "tool_call", "name": "think", "arguments": {}})


def loops_on_the_model(agent):
    agent.begin()
    agent.piece(DONE)
    while agent.call("POST", "/v1/chat/completions", {"messages": [{"role": "user", "content": "talk"}]}):
        pass


def claims_a_call(agent):
    agent.events({"type": "tool_call", "name": "lookup", "arguments": {"id": "1"}, "status": 200}, DONE)


def is_denied(agent):
    agent.events({"type": "tool_call", "name": "pay", "arguments": {"amount": 5}, "status": "denied"}, DONE)


def is_let_through(agent):
    agent.call("POST", "/payments", {"amount": 5})
    agent.events({"type": "tool_call", "name": "pay", "arguments": {"amount": 5}, "status": "denied"}, DONE)


def meets_a_broken_suite(agent):
    agent.call("GET", "/things/broken")
    agent.events(DONE)


def tells_the_secret(agent):
    print("at", agent.headers["x-lab-fixture-url"], flush=True)
    agent.events(DONE, {"type": "message", "text": agent.headers["x-lab-model-url"]})


def tells_its_process(agent):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    agent.events(DONE, {"type": "message", "text": json.dumps([os.getpid(), child.pid])})


def dies(agent):
    print("the last words", flush=True)
    os._exit(3)


def chats(agent):
    said = agent.asked["messages"][-1]["content"]
    agent.call("GET", "/things/" + str(len(agent.asked["messages"])))
    message = {"role": "assistant", "content": "done with " + said}
    agent.whole(json.dumps({"choices": [{"message": message}], "usage": {"prompt_tokens": 3, "completion_tokens": 2},
                            "asked": agent.asked}).encode())


def chats_its_request(agent):
    message = {"role": "assistant", "content": "done " + json.dumps(agent.asked)}
    agent.whole(json.dumps({"choices": [{"message": message}]}).encode())


def asks_its_user_to_call(agent):
    call = {"id": "1", "type": "function", "function": {"name": "pay", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    agent.whole(json.dumps({"choices": [{"message": message}]}).encode())


def answers_no_completion(agent):
    agent.whole(b'{"error": {"message": "private"}}')


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, address):
        print("a connection was lost", file=sys.stderr)


Server((os.environ.get("HOST", "127.0.0.1"), int(os.environ["PORT"])), Handler).serve_forever()
'''

CASES: dict[str, dict[str, Any]] = {
    "is-right": {"expect": {**SAYS_DONE, "toolCalls": [LOOKUP_CALL], "toolMatch": "strict"}},
    "streams": {"expect": {**SAYS_DONE, "toolCalls": [LOOKUP_CALL], "toolMatch": "strict"}},
    "echoes": {},
    "says-nothing": {},
    "answers-500": {},
    "answers-429": {},
    "redirects": {},
    "answers-a-page": {},
    "answers-nothing": {},
    "answers-no-json": {},
    "answers-no-events": {},
    "answers-a-wrong-event": {},
    "breaks-the-protocol": {},
    "is-compressed": {},
    "reports-an-error": {},
    "blames-its-provider": {},
    "hangs-up": {},
    "is-cut-off": {},
    "is-cut-off-in-a-chunk": {},
    "is-cut-off-without-a-length": {},
    "speaks-no-http": {},
    "hangs": {"limits": {"seconds": 1}},
    "drips": {"limits": {"seconds": 1}},
    "drips-its-head": {"limits": {"seconds": 1}},
    "floods": {},
    "floods-one-document": {},
    "spends-too-much": {"limits": {"cost_usd": 0.5}},
    "loops-on-tools": {},
    "loops-on-thoughts": {},
    "claims-a-call": {"expect": {**SAYS_DONE, "toolCalls": [{"name": "lookup"}]}},
    "is-denied": {"expect": {**SAYS_DONE, "deniedTools": ["pay"]}},
    "is-let-through": {"expect": {**SAYS_DONE, "deniedTools": ["pay"]}},
    "meets-a-broken-suite": {},
    "tells-the-secret": {},
}
CHAT_CASES: dict[str, dict[str, Any]] = {
    "chats": {
        "input": [{"role": "user", "content": "one"}, {"role": "user", "content": "two"}],
        "expect": {**SAYS_DONE, "toolCalls": [{"name": "lookup", "arguments": {"id": number}} for number in "13"]},
    },
    "chats-its-request": {},
    "asks-its-user-to-call": {},
    "answers-no-completion": {},
    "answers-500": {},
    "hangs": {"limits": {"seconds": 1}},
    "floods-one-document": {},
}


def write_served(root: Path, cases: dict[str, dict[str, Any]], *, settings: str = SETTINGS) -> Path:
    """A suite of these cases below `root`, which it returns; `think` is a tool that nobody sees."""
    written = [{"id": name, "expect": SAYS_DONE, **case} for name, case in cases.items()]
    write_controls(root, written, settings=settings, tools=[*TOOLS, THINK])
    (root / "agents" / "served.py").write_text(AGENT)
    return root
