"""What `--agent` names: an agent of the suite, a docker-agent file, or a reference into a registry."""

from __future__ import annotations

import re
from pathlib import Path

from contracts.errors import ErrorCode, LabError

DEFAULT_SUITE = Path("fixtures")
EVALS = "evals"
_FILE = re.compile(r".*\.(?:ya?ml|hcl)$", re.IGNORECASE)
_PART = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_REFERENCE = re.compile(
    rf"(?P<name>(?:[A-Za-z0-9][A-Za-z0-9.-]*(?::\d+)?/)?{_PART}(?:/{_PART})*)(?::(?P<tag>\w[\w.-]{{0,127}}))?"
    r"(?:@(?P<digest>sha256:[0-9a-f]{64}))?"
)


def is_file(name: str) -> bool:
    """True for the name of an agent file, whether it is there or not."""
    return bool(_FILE.fullmatch(name)) or ("/" in name and Path(name).is_file())


def is_reference(name: str) -> bool:
    """True for `namespace/name`, also with a registry, a tag or a digest; a bare word is an agent of the suite."""
    found = _REFERENCE.fullmatch(name)
    return found is not None and not is_file(name) and ("/" in name or ":" in name)


def digest_in(reference: str) -> str | None:
    """The digest that the reference ends with, or None."""
    found = _REFERENCE.fullmatch(reference)
    return found["digest"] if found else None


def with_digest(reference: str, digest: str) -> str:
    """The reference by digest, without its tag."""
    found = _REFERENCE.fullmatch(reference)
    name = found["name"] if found else reference
    return f"{name}@{digest}"


def default_suite(agent: str | None) -> Path:
    """The suite of a run that names none: `evals/` beside an agent file, else the checkout's own.

    Raises:
        LabError: BAD_USAGE for a registry reference, beside which there is nothing.

    """
    if agent is None:
        return DEFAULT_SUITE
    if is_file(agent):
        return Path(agent).parent / EVALS
    if is_reference(agent):
        raise LabError(
            ErrorCode.BAD_USAGE,
            f"the agent {agent} is a registry reference, and no suite is named",
            expected="labctl run --agent REF SUITE",
            next_step=f"labctl run --agent {agent} evals",
        )
    return DEFAULT_SUITE
