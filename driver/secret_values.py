"""Which values look like secrets, by their variable's name or by their own shape: the rule of docs/redaction.md."""

from __future__ import annotations

import re
from collections.abc import Mapping

from contracts.json_text import is_unicode

_WORDS = re.compile(
    r"ACCESS|APIKEY|AUTH|AUTHORIZATION|BEARER|CERT|CERTIFICATE|COOKIE|CRED|CREDENTIAL|CREDENTIALS|CREDS|"
    r"DSN|KEY|KEYS|LOGIN|OTP|PASS|PASSCODE|PASSPHRASE|PASSWD|PASSWORD|PASSWORDS|PAT|PIN|PRIVATE|PW|PWD|"
    r"SALT|SECRET|SECRETS|SESSION|SIGNATURE|SIGNING|TOKEN|TOKENS|WEBHOOK"
)
"""A variable that has one of them among the words of its name, whatever the letters' case."""
_ENDINGS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIALS")
"""Of a name's last word: APIKEY, PGPASSWORD, OAUTHTOKEN."""
_NO_PASSWORDS = frozenset({"PWD", "OLDPWD"})
"""Every shell sets them, to folders."""
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

_PLAIN = re.compile(
    r"""
      -?[0-9]{1,5}(?:\.[0-9]{1,5})?                 # a small number
    | [A-Za-z][a-z]{0,10} | [A-Z]{1,11}             # one short word: debug, Warning, UTC, production
    | https?://[A-Za-z0-9.-]{1,253}(?::[0-9]{1,5})?/?  # a host and nothing more
    """,
    re.VERBOSE,
)
_HELD_SIZES = range(8, 513)
"""Characters of a variable of labctl's own environment: what nobody named must neither take words out of the evidence,
nor make a run wait for the patterns of a long key, which is found by its shape."""


HELD = "host:"
"""Before the names of labctl's own variables: the same variable may have another value for the agent."""


def looks_secret(name: str, value: str) -> bool:
    """Whether a variable that somebody named with -e, or in a file of values, is taken for a secret.

    It is one by its name, else unless its value is plainly a setting: empty, a small number, one short word, or the
    address of a host. An error on the side of too much costs a mark in the evidence; the other one a key.
    """
    return bool(value) and (_is_named_like_one(name) or _PLAIN.fullmatch(value) is None)


def held_secrets(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables of labctl's own environment that are credentials by name and by shape, whoever they are for.

    By names that begin with HELD. Paths are none, nor is what no UTF-8 text can hold.
    """
    return {HELD + name: value for name, value in environ.items() if _is_named_like_one(name) and _could_be_one(value)}


def _could_be_one(value: str) -> bool:
    return (
        is_unicode(value)
        and len(value) in _HELD_SIZES
        and not value.startswith("/")
        and _PLAIN.fullmatch(value) is None
    )


def _is_named_like_one(name: str) -> bool:
    if name.upper() in _NO_PASSWORDS:
        return False
    words = _CAMEL.sub("_", name).upper().split("_")
    return any(_WORDS.fullmatch(word) for word in words) or words[-1].endswith(_ENDINGS)
