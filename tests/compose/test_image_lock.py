"""What a tag stands for is what a registry says of it, over its real protocol and the engine's own client."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from contracts.errors import ErrorCode, LabError
from driver.stacks.registry import digest_of_tag

pytestmark = pytest.mark.engine

_TYPE = "application/vnd.oci.image.manifest.v1+json"
_CONFIG = json.dumps({"architecture": "amd64", "os": "linux", "rootfs": {"type": "layers", "diff_ids": []}}).encode()
_CONFIG_DIGEST = f"sha256:{hashlib.sha256(_CONFIG).hexdigest()}"
_BLOB = {"mediaType": "application/vnd.oci.image.config.v1+json", "size": len(_CONFIG), "digest": _CONFIG_DIGEST}
_MANIFEST = json.dumps({"schemaVersion": 2, "mediaType": _TYPE, "config": _BLOB, "layers": []}).encode()
_DIGEST = f"sha256:{hashlib.sha256(_MANIFEST).hexdigest()}"


_ANSWERS = {
    "/v2/": b"{}",
    "/v2/lab/tool/manifests/1": _MANIFEST,
    f"/v2/lab/tool/manifests/{_DIGEST}": _MANIFEST,
    f"/v2/lab/tool/blobs/{_CONFIG_DIGEST}": _CONFIG,
}


class _Registry(BaseHTTPRequestHandler):
    """Has one image under one tag."""

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def log_message(self, *_: object) -> None:
        """Says nothing."""

    def _answer(self, *, with_body: bool) -> None:
        body = _ANSWERS.get(self.path)
        self.send_response(404 if body is None else 200)
        self.send_header("content-type", _TYPE)
        self.send_header("docker-content-digest", f"sha256:{hashlib.sha256(body or b'').hexdigest()}")
        self.send_header("content-length", str(len(body or b"")))
        self.end_headers()
        if with_body:
            self.wfile.write(body or b"")


@pytest.fixture
def registry() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Registry)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_tag_is_resolved_to_its_digest(registry: str) -> None:
    assert digest_of_tag(f"{registry}/lab/tool:1") == _DIGEST


def test_a_tag_that_nobody_has_is_named_with_the_registrys_own_words(registry: str) -> None:
    with pytest.raises(LabError) as caught:
        digest_of_tag(f"{registry}/lab/tool:2")
    assert caught.value.code is ErrorCode.IMAGE_MISSING
    assert f"{registry}/lab/tool:2" in caught.value.message
    assert caught.value.cause
