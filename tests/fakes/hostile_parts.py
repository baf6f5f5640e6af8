"""What odd requests are put together from: each entry of a tuple is as likely as any other."""

from __future__ import annotations

METHODS = (
    *(
        b"GET",
        b"POST",
        b"PUT",
        b"PATCH",
        b"DELETE",
        b"HEAD",
        b"OPTIONS",
        b"TRACE",
        b"CONNECT",
        b"PRI",
        b"QUERY",
        b"M-SEARCH",
    ),
    *(b"get", b"G\x00T", b"", b"P\xc3\xb6ST", b"X" * 300, b"GET GET", b"*", b"SOURCE", b"\r\nGET", b"DESCRIBE"),
)
RIGHT_TARGETS = (
    *[b"/orders/a-1/refunds", b"/orders/b~2/refunds", b"/v1/chat/completions"] * 3,
    *(b"/orders/a-1", b"/orders/a-1?view=full", b"/lines/0", b"/lines/1", b"/search?q=1", b"/thrice", b"/mcp"),
)
TARGETS = (
    *(b"/orders/a-1", b"/orders/none", b"/orders", b"/lines/0", b"/lines/0x", b"/lines/" + b"9" * 5000, b"/search?q=1"),
    *(
        b"/echo",
        b"/thrice",
        b"/down",
        b"/bytes",
        b"/health",
        b"/clock",
        b"/v1/models",
        b"/v1/chat/completions",
        b"/mcp",
        b"",
    ),
    *(
        b"/../../etc/passwd",
        b"/orders/..%2f..%2fetc%2fpasswd",
        b"/./orders/./a-1",
        b"//orders//a-1",
        b"/orders/a-1/../b~2",
    ),
    *(b"/%00", b"/orders/\x00", b"/orders/%ff%fe", b"/orders/\xff\xfe", b"/orders/%", b"/orders/%zz", b"/%u0041"),
    *(b"/" + b"a" * 70_000, b"/" + b"a/" * 20_000, b"/orders/a-1?" + b"a=b&" * 15_000, b"/?" + b"%00" * 5000),
    *(
        b"/search?q=%ff&q=%00&q&&=&q=a=b;c",
        b'/search?deep={"a":NaN}',
        b"/search?deep=%5B%22%5Cud800%22%5D",
        b"/search?q=1e999",
    ),
    *(
        b"/orders/a-1#fragment",
        b"/orders/a 1",
        b"/orders/a\t1",
        b"/orders/a-1;x=y",
        b"?",
        b"/search?q=" + b"[" * 30_000,
    ),
)
VERSIONS = (
    *[b" HTTP/1.1"] * 8,
    b" HTTP/1.0",
    b" HTTP/0.9",
    b" HTTP/2.0",
    b" HTTP/9.9",
    b" HTTP/1.1 x",
    b"",
    b" ICE/1.0",
    b" http/1.1",
)
TYPES = (
    *[b"application/json"] * 6,
    *(
        b"application/json; charset=utf-16",
        b"application/x+json",
        b"text/plain",
        b"\xff\xfe",
        b"",
        b"multipart/form-data",
    ),
)
HEADERS = (
    *(
        b"host: lab",
        b"host: a\r\nhost: b",
        b"accept: */*",
        b"x-eval-case: one",
        b"x-eval-case: none",
        b"x-eval-case: \xff\xfe",
    ),
    *(
        b"x-eval-case: one\r\nx-eval-case: two",
        b"x-eval-case:",
        b"expect: 100-continue",
        b"expect: 200-ok",
        b"x-role: staff",
    ),
    *(
        b"connection: close",
        b"connection: keep-alive",
        b"connection: upgrade\r\nupgrade: websocket",
        b"connection: close, upgrade",
    ),
    *(
        b"connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk",
        b"te: trailers",
        b"range: bytes=0-",
    ),
    *(
        b"a: b\x00c",
        b"a: b\rc",
        b"a: b\nc: d",
        b"a : b",
        b": b",
        b"a",
        b"a: b\r\n c",
        b"\xff: b",
        b"a: \xff\xfe",
        b"(): b",
    ),
    *(
        b"a: " + b"b" * 60_000,
        b"a: " + b"b" * 300_000,
        b"a: b\r\n" * 1500 + b"a: b",
        b"a: b\r\n" * 30_000 + b"a: b",
        b"a" * 70_000 + b": b",
    ),
    *(
        b"cookie: " + b"a=b; " * 2000,
        b"content-encoding: gzip",
        b"accept-encoding: br",
        b"x-forwarded-for: 127.0.0.1",
        b"date: now",
    ),
)
NUMBERS = (
    b"9" * 400,
    b"-0",
    b"1e400",
    b"1E-400",
    b"NaN",
    b"-Infinity",
    b"0x1",
    b"1" * 5000,
    b"9007199254740993",
    b"01",
    b"1.",
)
JSON = (
    *(
        b"{}",
        b"null",
        b"[]",
        b'""',
        b'{"kind": "full", "reason": 1}',
        b'{"kind": "part", "amount": 1}',
        b'{"kind": "full"}',
    ),
    *(
        b"[" * 100_000,
        b"[" * 99 + b"]" * 99,
        b"[" * 101 + b"]" * 101,
        b'{"a":' * 5000 + b"1" + b"}" * 5000,
        b'{"a": 1, "a": 2}',
    ),
    *(
        b'{"kind": "full", "reason": "\\ud800"}',
        b'{"kind": "\xff"}',
        b"\xef\xbb\xbf{}",
        '{"kind": "full"}'.encode("utf-16"),
        b"{",
        b"\x00",
    ),
    *(b'{"kind": "full", "reason": ' + number + b"}" for number in NUMBERS),
    *(
        b'{"messages": ' + said + b"}"
        for said in (b"[]", b"{}", b"[1]", b'[{"role": 1, "content": {}}]', b'[{"content": [{"text": 1}]}]')
    ),
    b'{"messages": [{"role": "assistant", "tool_calls": [{"id": [], "function": []}, 1]}, {"role": "tool"}]}',
    b'{"messages": [{"role": "tool", "tool_call_id": []}]}',
    b'{"messages": [{"role": "user", "content": "refund"}], "n": 2, "tools": 1, "stream": "yes"}',
    b'{"messages": [{"role": "user", "content": "' + b"a" * 50_000 + b'"}], "model": 7, "stream_options": []}',
    *(
        b'{"jsonrpc": "2.0", "id": 1, "method": "' + name + b'"}'
        for name in (b"initialize", b"tools/list", b"tools/call", b"none")
    ),
    *(b'{"jsonrpc": "2.0", "id": {}, "method": 1, "params": 1}', b'[{"jsonrpc": "1.0"}]'),
)
BAD_CHUNKS = (
    *(
        b"zz\r\n\r\n",
        b"-1\r\na\r\n",
        b"0x1\r\na\r\n0\r\n\r\n",
        b"ffffffffffffffff\r\na",
        b"1\r\nab\r\n0\r\n\r\n",
        b"1\na\n0\n\n",
        b" 1\r\na\r\n0\r\n\r\n",
    ),
    *(
        b"1;" + b"e" * 100_000 + b"\r\na\r\n0\r\n\r\n",
        b"0\r\n" + b"t: v\r\n" * 30_000 + b"\r\n",
        b"0\r\ncontent-length: 5\r\n\r\n",
        b"1;a=b\r\nx\r\n0\r\nt: v\r\n\r\n",
    ),
)
JUNK = (
    *(
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04",
        b"\r\n" * 50,
        b"\x00" * 100,
    ),
    *(
        b"GET /\r\n",
        b"GET\r\n\r\n",
        b"\n\n\n",
        b"SSH-2.0-x\r\n",
        b"EHLO x\r\n",
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"{}",
        b"*1\r\n$4\r\nPING\r\n",
    ),
)
