"""A job of the suite, by its name: the combination of profiles that a run of it has."""

from __future__ import annotations

from contracts.errors import ErrorCode, Found, LabError
from contracts.suite.problems import unknown_name
from contracts.suite.suite import Suite


def profiles_of(suite: Suite, *, job: str | None, profiles: tuple[str, ...]) -> tuple[str, ...]:
    """The profiles that were asked for, by name or by job.

    Raises:
        LabError: UNKNOWN_JOB, or BAD_USAGE where both were given.

    """
    if job is None:
        return profiles
    if profiles:
        raise LabError(
            ErrorCode.BAD_USAGE,
            "--job and --profile cannot be given together: a job is a combination of profiles",
            found=[Found(f'"{job}"', place="--job"), *(Found(f'"{name}"', place="--profile") for name in profiles)],
            next_step="leave one of them out, or declare another [jobs.NAME] in suite.toml",
        )
    known = suite.settings.jobs
    if job not in known:
        raise LabError(
            ErrorCode.UNKNOWN_JOB,
            unknown_name("job", job, known),
            found=[Found(f'"{job}"', place="--job")],
            expected=f"one of: {', '.join(known)}" if known else "none: the suite's suite.toml has no [jobs.NAME]",
            next_step="labctl jobs",
        )
    return known[job].profiles
