"""Holds the files of a run that follow from no other against the digests that environment.json has of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from contracts import evidence
from contracts.errors import Found
from contracts.manifest import EnvironmentManifest

_PREFIX = "sha256:"


def recorded_digests(sha256: Mapping[str, str]) -> dict[str, str]:
    """What environment.json says of them, from the hexadecimal digests of all files of a run by their names."""
    return {name: _PREFIX + sha256[name] for name in sorted(sha256) if _is_recorded(name)}


def recorded_problems(manifest: EnvironmentManifest, sha256: Mapping[str, str]) -> Iterator[Found]:
    """Files that are not those that the manifest names, and files that no run has.

    The seal has no key: whoever seals a run again after an edit has to edit environment.json too.
    """
    there, named = recorded_digests(sha256), manifest.recorded
    if not named:
        yield Found("has no digest of what was recorded", file=evidence.ENVIRONMENT, place="recorded")
        return
    for name in sorted(there.keys() | named.keys()):
        if name not in there:
            yield Found("is missing; environment.json says that it was recorded", file=name)
        elif name not in named:
            yield Found("was not recorded: environment.json does not name it", file=name)
        elif there[name] != named[name]:
            yield Found("is not what was recorded: environment.json has another digest of it", file=name)
    for name in sorted(sha256.keys() - there.keys() - set(evidence.FOLLOWING)):
        yield Found("is no file of a run", file=name)


def _is_recorded(name: str) -> bool:
    return name in evidence.RECORDED or name.partition("/")[0] in evidence.RECORDED_FOLDERS
