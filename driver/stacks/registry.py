"""What a registry says a tag stands for today."""

from __future__ import annotations

import re
import subprocess

from contracts.errors import ErrorCode, LabError
from driver.stacks.engine import last_line

ANSWER_S = 30.0
"""How long a registry may take."""
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def digest_of_tag(name: str) -> str:
    """The digest of `REPOSITORY:TAG`, asked with the user's own credentials; raises LabError IMAGE_MISSING."""
    argv = ["docker", "buildx", "imagetools", "inspect", name, "--format", "{{.Manifest.Digest}}"]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=ANSWER_S, check=False)
    except FileNotFoundError:
        raise LabError(ErrorCode.NO_ENGINE, "there is no `docker` command on PATH") from None
    except subprocess.TimeoutExpired:
        raise _unknown(name, f"no answer within {ANSWER_S:g} s") from None
    found = _DIGEST.search(done.stdout) if done.returncode == 0 else None
    if found is None:
        raise _unknown(name, last_line(done.stderr) or "the registry named no digest")
    return found[0]


def _unknown(name: str, cause: str) -> LabError:
    return LabError(
        ErrorCode.IMAGE_MISSING,
        f"what {name} is today cannot be told",
        cause=cause,
        next_step="labctl images lock where the registry can be reached",
    )
