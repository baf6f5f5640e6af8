"""Keys of well-known kinds are found wherever they stand, and nothing that only looks a little like one."""

from __future__ import annotations

import time

import pytest

from ledger.key_shapes import SHAPES, without_keys

_LETTERS = "aB3dE5fG7hJ9kL1mN0pQ2rS4tU6vW8xY"
_PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{_LETTERS}{_LETTERS}\n{_LETTERS}==\n-----END RSA PRIVATE KEY-----"
# written in two pieces, so that no scanner of repositories takes the tests for a leak
KEYS = {
    "private-key": [_PEM, _PEM.replace("\n", "\\n"), _PEM.replace("RSA ", ""), _PEM[:80]],
    "jwt": ["eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0" + ".dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"],
    "aws-access-key": ["AKIA" + "IOSFODNN7EXAMPLE", "ASIA" + "Y34FZKBOKMUTVV7A"],
    "github": ["ghp_" + _LETTERS + "abcd", "github_pat_" + _LETTERS + "_" + _LETTERS],
    "gitlab": ["glpat-" + _LETTERS[:20]],
    "model-provider": ["sk-" + _LETTERS, "sk-ant-api03-" + _LETTERS, "sk-proj-" + _LETTERS, "gsk_" + _LETTERS],
    "stripe": ["sk_" + "live_" + _LETTERS, "rk_" + "test_" + _LETTERS],
    "google": ["AIza" + _LETTERS + "abc", "ya29." + _LETTERS, "GOCSPX-" + _LETTERS],
    "slack": ["xoxb-" + "123456789012-" + _LETTERS, "xapp-" + "1-" + _LETTERS],
    "hugging-face": ["hf_" + _LETTERS + "ab"],
    "package-registry": ["npm_" + _LETTERS + "abcd", "dckr_pat_" + _LETTERS],
}
IN_A_TEXT = {
    "url-password": ("postgres://admin:", "s3cr3t!pw", "@db.example:5432/x"),
    "bearer": ("authorization: Bearer ", _LETTERS, "\r\n"),
    "basic": ('"Authorization": "Basic ', "dXNlcjpwYXNzd29yZA==", '"'),
    "aws-secret-key": ("aws_secret_access_key = ", _LETTERS + "/bcdefg+", "\n"),
    "slack-webhook": ("https://hooks.slack.com/services/", "T01234567/B01234567/" + _LETTERS[:24], " x"),
}


def _found(text: str) -> tuple[str, list[str]]:
    names: list[str] = []
    return without_keys(text, found=names.append), names


def test_every_shape_has_an_example_here() -> None:
    assert {shape.name for shape in SHAPES} == KEYS.keys() | IN_A_TEXT.keys()


@pytest.mark.parametrize(("name", "key"), [(name, key) for name, keys in KEYS.items() for key in keys])
@pytest.mark.parametrize(
    ("before", "after"), [("", ""), ("key=", "; next"), ('{"k": "', '"}'), ("ö ", " é"), ("\n", "\n")]
)
def test_a_key_is_taken_out_and_counted_and_its_neighbours_stay(name: str, key: str, before: str, after: str) -> None:
    text, names = _found(f"{before}{key}{after}")
    assert text.startswith(f"{before}[redacted:shape:{name}]")
    assert text.endswith(after.strip())
    assert names == [f"shape:{name}"]


@pytest.mark.parametrize("name", IN_A_TEXT)
def test_of_a_header_or_an_address_only_the_secret_is_taken_out(name: str) -> None:
    before, secret, after = IN_A_TEXT[name]
    assert _found(before + secret + after) == (f"{before}[redacted:shape:{name}]{after}", [f"shape:{name}"])


@pytest.mark.parametrize(
    "text",
    [
        "sha256:" + "0f" * 32,
        "run-2026-09-09-170102-3fa9c1",
        "<130 bytes sha256:" + "ab" * 32 + ">",
        "task-force-risk-sk-assessment-of-everything",
        "Basic authentication is required, basic understanding too",
        "a bearer of good news everywhere in the world",
        "https://host:8080/a/b?c=d@e",
        "http://user:${PASSWORD}@host http://user:<password>@host http://user:[redacted:shape:url-password]@host",
        "AKIA is what such keys begin with, AKIATOOSHORT",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "eyJhbGciOiJIUzI1NiJ9 alone",
        "2f1c9a52-4f2e-4b5e-9a53-0d5b7f4f3c11",
    ],
)
def test_what_is_no_key_comes_back_itself(text: str) -> None:
    redacted, names = _found(text)
    assert redacted is text or redacted == text
    assert names == []


def test_taking_out_twice_changes_nothing() -> None:
    texts = [key for keys in KEYS.values() for key in keys] + ["".join(parts) for parts in IN_A_TEXT.values()]
    once, _ = _found(" ; ".join(texts))
    assert _found(once) == (once, [])


PIECES = (
    *(
        "eyJ",
        "eyJaaaaaaaa.",
        "sk-",
        "sk-a",
        "xoxb-",
        "://",
        "://a:",
        "://a:a",
        "bearer ",
        "basic aaaaaa ",
        "AKIA",
        "ghp_",
    ),
    *(
        "Bearer " + "a" * 22,
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----a",
        "aws_secret_key",
        "hf_",
        "a.",
    ),
    *("hooks.slack.com/services/a/", "_live_sk_"),
)


@pytest.mark.parametrize("piece", PIECES)
def test_a_hostile_text_takes_time_in_proportion_to_its_length(piece: str) -> None:
    text = piece * (640_000 // len(piece))
    started = time.process_time()
    without_keys(text, found=lambda _: None)
    assert time.process_time() - started < 10  # the square of its length would take minutes
