"""The second net: texts that have the shape of a well-known kind of key, whoever's it is."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass

_SHORTEST = 12
"""No shape matches a shorter text."""
_WORD = "A-Za-z0-9_-"
_PLACEHOLDER = re.compile(r"[$<{%*\[]|(?:x+|\.+|pass(?:word)?|pwd|secret|token)$", re.IGNORECASE)
"""What stands for a password in an example, and what was redacted before."""


@dataclass(frozen=True)
class Shape:
    """One kind of key; `pattern` replaces its group 1, and all of the match where it has none.

    Every pattern takes linear time: it begins where no character of its own stands before it, or its repeats are
    bounded or possessive and cannot run over their own beginning.
    """

    name: str
    needles: tuple[str, ...]
    """One of them stands in every match; looking for them is what most texts cost."""
    pattern: re.Pattern[str]
    is_key: Callable[[str], bool] = lambda _: True
    """Asked for what the pattern found."""


def _run_of(heads: str, *, least: int, more: str = _WORD, has_digit: bool = False) -> re.Pattern[str]:
    """A word that begins with one of the heads and goes on for `least` characters or more."""
    digit = rf"(?=[{more}]{{0,256}}?\d)" if has_digit else ""
    return re.compile(rf"(?<![{_WORD}])(?:{heads}){digit}[{more}]{{{least},}}+")


def _is_basic(token: str) -> bool:
    """Whether it decodes to `user:password`: the word after "Basic" may be any."""
    try:
        text = base64.b64decode(
            token + "=" * (-len(token) % 4), altchars=b"-_" if "-" in token or "_" in token else None
        )
        user, colon, password = text.decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return False
    return bool(colon and password) and (user + password).isprintable()


SHAPES = (
    Shape(
        "private-key",
        ("PRIVATE KEY",),
        re.compile(
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:[A-Za-z0-9+/=\s,:\\]|-(?!----))*+"
            r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?"
        ),
    ),
    Shape("jwt", ("eyJ",), re.compile(rf"(?<![{_WORD}])eyJ[{_WORD}]{{8,}}+\.eyJ[{_WORD}]{{8,}}+\.[{_WORD}]*+")),
    Shape("aws-access-key", ("AKIA", "ASIA"), re.compile(r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z2-7]{16}(?![A-Za-z0-9])")),
    Shape(
        "aws-secret-key",
        ("ecret", "SECRET"),
        re.compile(
            r"(?i:aws|secret)[_-]?(?i:secret)?[_-]?(?i:access)[_-]?(?i:key)[\"'\\]{0,4}\s{0,4}[=:]\s{0,4}[\"'\\]{0,4}"
            r"([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])"
        ),
    ),
    Shape(
        "github",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        _run_of("gh[pousr]_|github_pat_", least=22),
    ),
    Shape("gitlab", ("glpat-",), _run_of("glpat-", least=20)),
    Shape("model-provider", ("sk-", "gsk_", "xai-"), _run_of("sk-|gsk_|xai-", least=20, has_digit=True)),
    Shape("stripe", ("_live_", "_test_"), _run_of("[sr]k_(?:live|test)_", least=16)),
    Shape("google", ("AIza", "ya29.", "GOCSPX-"), _run_of(r"AIza|ya29\.|GOCSPX-", least=20)),
    Shape("slack", ("xox", "xapp-"), _run_of("xox[abeoprs]-|xapp-", least=10, has_digit=True)),
    Shape(
        "slack-webhook", ("hooks.slack.com",), re.compile(r"hooks\.slack\.com/services/([A-Za-z0-9]+/[A-Za-z0-9]+/\w+)")
    ),
    Shape("hugging-face", ("hf_",), _run_of("hf_", least=30, more="A-Za-z0-9")),
    Shape("package-registry", ("npm_", "pypi-", "dckr_pat_"), _run_of("npm_|pypi-Ag|dckr_pat_", least=20)),
    Shape(
        "url-password",
        ("://",),
        re.compile(r"://[^\s/:@\"'<>\\?#]{0,128}:([^\s/@\"'<>\\?#]{1,256})@"),
        lambda password: _PLACEHOLDER.match(password) is None,
    ),
    Shape(
        "bearer",
        ("earer", "EARER"),
        re.compile(r"\b(?i:bearer)[ +]{1,4}((?=[A-Za-z._~+/-]{0,512}\d)[A-Za-z0-9._~+/-]{20,}+=*)"),
    ),
    Shape(
        "basic",
        ("asic ", "ASIC "),
        re.compile(r"\b(?i:basic) {1,4}([A-Za-z0-9+/_-]{6,}+={0,2})"),
        _is_basic,
    ),
)
_NEEDLES = tuple((needle, shape) for shape in SHAPES for needle in shape.needles)


def without_keys(text: str, *, found: Callable[[str], None]) -> str:
    """The text with every key of a known shape as `[redacted:shape:NAME]`; `found` is told the name of each.

    A text without any comes back itself.
    """
    if len(text) < _SHORTEST:
        return text
    for needle, shape in _NEEDLES:
        if needle in text:
            text = _without(shape, text, found)
    return text


def _without(shape: Shape, text: str, found: Callable[[str], None]) -> str:
    group = shape.pattern.groups

    def replaced(match: re.Match[str]) -> str:
        if not shape.is_key(match[group]):
            return match[0]
        found(f"shape:{shape.name}")
        start, end = match.start(), match.end()
        return text[start : match.start(group)] + f"[redacted:shape:{shape.name}]" + text[match.end(group) : end]

    return shape.pattern.sub(replaced, text)
