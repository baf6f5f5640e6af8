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


def input_digests(sha256: Mapping[str, str]) -> dict[str, str]:
    """What a run writes down of its inputs when it begins: plan, suite and agent, which nothing may change any more."""
    return {name: _PREFIX + sha256[name] for name in sorted(sha256) if name == evidence.PLAN or _is_input(name)}


def input_problems(inputs: Mapping[str, str], sha256: Mapping[str, str]) -> list[Found]:
    """Each input that is another one than when the run began; none where nobody wrote them down."""
    there = input_digests(sha256)
    found = [
        Found("is missing; it was there when the run began", name) for name in sorted(inputs.keys() - there.keys())
    ]
    for name in there:
        if name in inputs and there[name] != inputs[name]:
            found.append(Found("is not what it was when the run began", name))
        elif inputs and name not in inputs and name != evidence.PLAN:
            found.append(Found("was not there when the run began", name))
    return found


def recorded_inputs(manifest: EnvironmentManifest) -> dict[str, str]:
    """The same of a run that had written its manifest when it was killed; of its suite and its agent alone."""
    return {name: digest for name, digest in manifest.recorded.items() if _is_input(name)}


def _is_input(name: str) -> bool:
    return name.partition("/")[0] in evidence.RECORDED_FOLDERS


def _is_recorded(name: str) -> bool:
    return name in evidence.RECORDED or _is_input(name)
