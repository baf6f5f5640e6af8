"""The closed list of errors, the text that a person reads, and the exit code each one owns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Any

from contracts.exits import Exit


class ErrorCode(Enum):
    """An error's kebab-case code, the exit it causes, and what it means; docs/errors.md is made from this list."""

    def __init__(self, code: str, exit_code: Exit, meaning: str) -> None:
        self.code = code
        self.exit_code = exit_code
        self.meaning = meaning

    BAD_USAGE = ("bad-usage", Exit.USAGE, "A flag or argument that cannot be used as given.")
    SUITE_MISSING = ("suite-missing", Exit.USAGE, "The suite directory or one of its files is not there.")
    SUITE_INVALID = ("suite-invalid", Exit.USAGE, "The suite has problems; all of them are listed with file and place.")
    NO_CASES = ("no-cases", Exit.USAGE, "The suite, or what was selected of it, has no case.")
    UNKNOWN_CASE = ("unknown-case", Exit.USAGE, "No case has that id.")
    UNKNOWN_AGENT = ("unknown-agent", Exit.USAGE, "The suite declares no agent of that name.")
    UNKNOWN_MODEL = ("unknown-model", Exit.USAGE, "The suite has no such model.")
    UNKNOWN_PROMPT = ("unknown-prompt", Exit.USAGE, "The suite declares no prompt of that name.")
    UNKNOWN_PROFILE = ("unknown-profile", Exit.USAGE, "Neither the lab nor a compose file of the suite has it.")
    UNKNOWN_JOB = ("unknown-job", Exit.USAGE, "The suite declares no job of that name.")
    AGENT_FILE_INVALID = (
        "agent-file-invalid",
        Exit.USAGE,
        "A docker-agent file is missing, or cannot be used as it is.",
    )
    NOT_BUILT_YET = ("not-built-yet", Exit.USAGE, "The contract has it, this version of labctl does not.")
    UNSET_VARIABLE = ("unset-variable", Exit.USAGE, "`-e KEY` names a variable that has no value anywhere.")
    RUN_ID_TAKEN = ("run-id-taken", Exit.USAGE, "A run directory of that id is already there; nothing was changed.")
    NO_RUN = ("no-run", Exit.USAGE, "The path is no run directory, or `latest:JOB` finds none.")
    NO_BASELINE = ("no-baseline", Exit.USAGE, "What was given as a run is a file of another tool.")
    NOTHING_IN_COMMON = ("nothing-in-common", Exit.USAGE, "The two runs have no case in common, or one has none.")
    BAD_TOLERANCE = ("bad-tolerance", Exit.USAGE, "A tolerance that is no number from 0 to 1.")
    UNKNOWN_DRIFT = ("unknown-drift", Exit.USAGE, "`--allow-drift` names no KEY of the kind drift.")
    SEALED_RUN = (
        "sealed-run",
        Exit.USAGE,
        "Nothing else is written into a run: its seal would not hold.",
    )
    NO_TRACE = ("no-trace", Exit.USAGE, "The run has no spans: it was made without the profile observe.")
    NOT_RESUMABLE = (
        "not-resumable",
        Exit.CANNOT_TELL,
        "`labctl resume` cannot go on with the run: it is live, made by hand, or would run something else than it did.",
    )
    NO_ENGINE = ("no-engine", Exit.ENVIRONMENT, "No container engine answers, or it is too old.")
    ENGINE_FAILED = ("engine-failed", Exit.ENVIRONMENT, "The container engine refused or failed a call.")
    IMAGE_MISSING = ("image-missing", Exit.ENVIRONMENT, "An image of the stack is not on this machine.")
    IMAGE_UNPINNED = ("image-unpinned", Exit.ENVIRONMENT, "A third-party image is not the one that images.env pins.")
    IMAGE_STALE = ("image-stale", Exit.ENVIRONMENT, "An own image was built from other files than this checkout's.")
    NETWORK_POOL = ("network-pool-exhausted", Exit.ENVIRONMENT, "The engine has no address range left for a network.")
    LEFTOVERS = ("leftovers", Exit.ENVIRONMENT, "Dead runs left something on the engine or the disk; see labctl clean.")
    STACK_UNHEALTHY = ("stack-not-healthy", Exit.ENVIRONMENT, "A service did not get healthy in time.")
    AGENT_HOST_MISSING = ("agent-host-missing", Exit.ENVIRONMENT, "The agent's host could not be reached.")
    AGENT_UNREACHABLE = ("agent-not-reachable", Exit.ENVIRONMENT, "The served agent accepts no connection.")
    FAULT_PROXY_MISSING = (
        "fault-proxy-missing",
        Exit.ENVIRONMENT,
        "Network faults are planned, and there is no toxiproxy to apply them.",
    )
    FAULT_NOT_APPLIED = (
        "fault-not-applied",
        Exit.ENVIRONMENT,
        "The fault proxy does not do what it was asked; nothing was run.",
    )
    LISTENER_OPEN = ("listener-open", Exit.ENVIRONMENT, "The served agent answers without credentials.")
    RUNNER_FAILED = ("runner-failed", Exit.ENVIRONMENT, "The runner ended before the first attempt.")
    ISOLATION_MISSING = ("isolation-missing", Exit.ENVIRONMENT, "The case needs a container of its own.")
    EGRESS_MISSING = ("egress-missing", Exit.ENVIRONMENT, "The agent's model is out of reach of a closed network.")
    RUNTIME_UNUSABLE = ("runtime-unusable", Exit.ENVIRONMENT, "The `--container-runtime` cannot run agents here.")
    KEY_MISSING = ("key-missing", Exit.ENVIRONMENT, "A model's service needs a key that nobody who asks it would have.")
    DOCKER_AGENT_MISSING = ("docker-agent-missing", Exit.ENVIRONMENT, "There is no program docker-agent on the path.")
    AGENT_UNRESOLVED = (
        "agent-unresolved",
        Exit.ENVIRONMENT,
        "A registry reference of an agent could not be resolved to a digest, or not fetched.",
    )
    MACHINE_LIMIT = (
        "machine-limit",
        Exit.ENVIRONMENT,
        "The machine has no more open files, file size, memory or space for this process; the limit is named.",
    )
    EVIDENCE_UNWRITABLE = ("evidence-unwritable", Exit.ENVIRONMENT, "The evidence folder cannot be written.")
    UNSEALED = ("unsealed", Exit.EVIDENCE, "The run has no COMPLETE: it was interrupted or made by hand.")
    ALTERED = ("altered", Exit.EVIDENCE, "The run is not what was sealed; the files are named.")
    OTHER_SCHEMA = ("other-schema", Exit.EVIDENCE, "The run was written in another version of the evidence's schema.")
    RESULTS_DIVERGE = ("results-diverge", Exit.EVIDENCE, "results.json does not follow from plan and attempts.")
    WRITE_FAILED = ("write-failed", Exit.EVIDENCE, "Evidence could not be written; the run stays unsealed.")
    BUG = ("internal-error", Exit.BUG, "A bug in labctl.")


_CODES = {entry.code: entry for entry in ErrorCode}


def error_code_of(code: str) -> ErrorCode:
    """The entry for a kebab-case code; raises KeyError for a code that is not in the list."""
    return _CODES[code]


def one_line(text: str) -> str:
    """The text with escapes for what is not printable: names from files may hold line ends and worse."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


@dataclass(frozen=True)
class Found:
    """Where a problem is, and what is there."""

    text: str
    file: str | None = None
    place: str | None = None
    """JSON pointer, TOML key, line or flag."""

    def __str__(self) -> str:
        where = " ".join(part for part in (self.file, self.place) if part)
        return one_line(f"{where}: {self.text}" if where else self.text)


class LabError(Exception):
    """An error with everything that a person needs to go on; its text is what stderr shows."""

    def __init__(  # noqa: PLR0913 - the fields of the error format, each optional
        self,
        code: ErrorCode,
        message: str,
        *,
        found: Sequence[Found] = (),
        expected: str | None = None,
        cause: str | None = None,
        kept: str | None = None,
        next_step: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.found = tuple(found)
        self.expected = expected
        self.cause = cause
        self.kept = kept
        self.next_step = next_step

    @property
    def exit_code(self) -> Exit:
        """The exit status that this error causes."""
        return self.code.exit_code

    def __reduce__(self) -> tuple[Any, ...]:
        """An error crosses a process boundary whole."""
        fields = {name: getattr(self, name) for name in ("found", "expected", "cause", "kept", "next_step")}
        return partial(LabError, **fields), (self.code, self.message)

    def __str__(self) -> str:
        lines = [f"labctl: {self.code.code}: {one_line(self.message)}"]
        lines += [f"found: {found}" for found in self.found]
        rest = {"expected": self.expected, "cause": self.cause, "kept": self.kept, "next": self.next_step}
        lines += [f"{name}: {one_line(text)}" for name, text in rest.items() if text]
        return "\n".join(lines)
