"""The two runs that the controls look at: agents of known outcome, and some of them again, one of which does worse."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from contracts.errors import ErrorCode, LabError
from contracts.machine_limits import limit_error
from contracts.plan import FAULT_PROFILE, Backend, Plan
from driver import clock
from driver.interrupts import Interrupted
from driver.pipeline import run_suite
from driver.ports import Progress, Stack
from driver.request import RunRequest
from driver.scratch import scratch_folder
from driver.self_test.expected import COMPARED, EXPECTED, NETWORK

SUITE = Path(__file__).parent / "suite"
TOKEN = "LAB_SELF_TEST_TOKEN"  # noqa: S105 - the name of a variable
_TOKEN_BYTES = 24
_NAME_BYTES = 6
_CONCURRENCY = 4

StackOf = Callable[[ExitStack], Stack]
"""A new stack; what it starts ends with the ExitStack."""


@dataclass(frozen=True)
class Runs:
    """Sealed run directories, which are gone when the self-test ends."""

    backend: Backend
    known: Path
    worse: Path
    """The worse agent over the cases of `COMPARED`: in one of them it does something else, in the others the same."""
    secret: str
    """Given to every agent, and to be nowhere in the runs."""
    work: Path
    """An empty folder for what a control makes."""
    no_network: str | None = None
    """Why no network fault was tried."""


@contextmanager
def made_runs(
    stack_of: StackOf, *, progress: Callable[[Plan], Progress], warn: Callable[[str], None]
) -> Iterator[Runs]:
    """The runs, through the same pipeline as every run; nothing of them is left afterwards.

    Raises:
        LabError: as `driver.pipeline.run_suite` does, and NO_ENGINE from `stack_of`.
        Interrupted: after a signal.

    """
    with scratch_folder() as folder:
        try:
            runs = _both(stack_of, folder, progress=progress, warn=warn)
        except (LabError, Interrupted) as ended:
            if ended.kept is not None:  # they name a run directory, which goes with the scratch folder
                ended.kept = ended.next_step = None
            if limit := limit_error(ended, is_temporary=True):  # the evidence lies there, too
                ended.next_step = limit.next_step
            raise
        yield runs


def _both(
    stack_of: StackOf, folder: Path, *, progress: Callable[[Plan], Progress], warn: Callable[[str], None]
) -> Runs:
    secret = clock.random_bytes(_TOKEN_BYTES).hex()
    prefix = f"self-test-{clock.random_bytes(_NAME_BYTES).hex()}"  # two self-tests at once share one engine
    work = folder / "work"
    work.mkdir()

    def made(name: str, cases: Iterable[str], *, stack: Stack, agent: str = "known") -> Path:
        chosen = tuple(case for case in cases if case != NETWORK or no_network is None)
        request = _request(f"{prefix}-{name}", chosen, agent=agent, evidence=folder / "evidence", secret=secret)
        return run_suite(request, stack=stack, host_env={}, progress=progress, warn=warn).path

    with ExitStack() as started:  # a stack carries one run
        first = stack_of(started)
        no_network = _why_no_network(first)
        known = made("known", EXPECTED, stack=first)
    with ExitStack() as started:
        worse = made("worse", COMPARED, stack=stack_of(started), agent="worse")
    return Runs(
        backend=first.backend,
        known=known,
        worse=worse,
        secret=secret,
        work=work,
        no_network=no_network,
    )


def _why_no_network(stack: Stack) -> str | None:
    """What toxiproxy lacks, on the backend that takes the machine's own; an image is looked at when the run begins."""
    try:
        stack.fault_proxy([NETWORK])
    except LabError as error:
        if error.code is not ErrorCode.FAULT_PROXY_MISSING:
            raise
        return error.cause or f"it needs {error.expected}"
    return None


def _request(name: str, cases: tuple[str, ...], *, agent: str, evidence: Path, secret: str) -> RunRequest:
    """What `labctl run` would ask for with these flags; bodies are kept, so that a secret has every place to be in."""
    return RunRequest(
        suite=SUITE,
        agent=agent,
        model=None,
        prompt=None,
        case_ids=cases,
        only=(),
        repeat=1,
        concurrency=_CONCURRENCY,
        seed=None,
        timeout_s=None,
        suite_timeout_s=None,
        profiles=(FAULT_PROFILE,),
        evidence=evidence,
        run_id=name,
        capture="payloads",
        env=(f"{TOKEN}={secret}",),
        not_secret=(),
        command=("labctl", "doctor", "--self-test"),
    )
