"""What the containers of attempts stand on and leave behind: lent Python, way out, folders; all gone after the run."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from contracts.errors import ErrorCode, Found, LabError
from driver.at_once import Duty, promise
from driver.base_images import OWN
from driver.ports import KeptContainer, OwnContainers, World
from driver.scratch import kept_folder, remove_kept_folder
from driver.stacks.attempt_containers import ATTEMPT_LABEL, AttemptContainers, Place
from driver.stacks.container_argv import AGENT_SUITE, LAB
from driver.stacks.container_calls import call, must, refuse_other_engine
from driver.stacks.networks import pool_exhausted
from driver.stacks.ownership import KEPT_LABEL

PROJECT_LABEL = "labctl.project"
"""The Compose project that a container belongs to; Compose itself does not know it."""
GONE_S = 30.0
"""How long the engine may take to remove what ended."""
LATE_S = 3.0
"""How long a container is looked for that the engine may be making for a client that was ended."""
_LOOK_S = 0.05


@dataclass(frozen=True)
class _Run:
    """One run's containers, by label."""

    runtime: str
    project: str

    def ids(self) -> list[str]:
        argv = [
            self.runtime,
            "ps",
            "--all",
            "--quiet",
            "--no-trunc",
            "--filter",
            f"label={PROJECT_LABEL}={self.project}",
        ]
        return must(argv, what="list the containers of attempts").split()

    def remove(self, *, may_come: bool = False) -> None:
        """Remove them all, also those that the engine is removing at this moment; raises LabError.

        With `may_come` one may turn up after the others: those are waited for as well, for LATE_S.
        """
        late_until = time.monotonic() + (LATE_S if may_come else 0.0)
        self._remove_found()
        while time.monotonic() < late_until:
            time.sleep(_LOOK_S)
            self._remove_found()

    def _remove_found(self) -> None:
        until = time.monotonic() + GONE_S
        while ids := self.ids():
            called = call([self.runtime, "rm", "--force", "--volumes", *ids])
            if called.exit_code == 0:
                return
            if time.monotonic() > until:
                raise LabError(
                    ErrorCode.ENGINE_FAILED,
                    f"{len(ids)} containers of attempts cannot be removed",
                    cause=called.last_line,
                    next_step="labctl clean",
                )
            time.sleep(_LOOK_S)

    def kept(self) -> dict[str, KeptContainer]:
        """Those that run, by their names; raises LabError."""
        look = [self.runtime, "ps", "--no-trunc", "--filter", f"label={PROJECT_LABEL}={self.project}", "--format"]
        lines = must([*look, f'{{{{.Names}}}}\t{{{{.Label "{ATTEMPT_LABEL}"}}}}'], what="list kept containers")
        kept = {
            name: KeptContainer(attempt=attempt, command=f"{self.runtime} exec -it {name} sh")
            for name, _, attempt in (line.partition("\t") for line in lines.splitlines())
        }
        return dict(sorted(kept.items(), key=lambda item: item[1].attempt))

    def disconnect(self, names: Iterable[str], networks: tuple[str, ...]) -> None:
        """Take each off the networks, which do not outlive the run; raises LabError once all were tried."""
        stayed = []
        for name, network in ((name, network) for name in names for network in networks):
            called = call([self.runtime, "network", "disconnect", "--force", network, name])
            if called.exit_code != 0:
                stayed.append(Found(called.last_line, network, name))
        if stayed:
            raise LabError(
                ErrorCode.ENGINE_FAILED,
                "kept containers could not be taken off their network",
                found=stayed,
                next_step="labctl clean --kept",
            )


@contextmanager
def attempt_place(  # noqa: PLR0913 - each is another part of a run
    world: World, own: OwnContainers, *, project: str, user: str, labels: dict[str, str], kept: list[KeptContainer]
) -> Iterator[AttemptContainers]:
    """Within: containers can be asked for. After: all are gone, or those that are kept stand in `kept`."""
    refuse_other_engine(own.runtime)
    run, tools = _Run(own.runtime, project), f"{project}_tools"
    with ExitStack() as stack:
        folder = _kept_folder() if own.keep else None
        not_left = promise(lambda _reason: Duty(remove=(str(folder),) if folder else (), takes_kept=own.keep))
        labels = {**labels, PROJECT_LABEL: project, **({KEPT_LABEL: str(folder)} if folder else {})}
        networks: tuple[str, ...] = (tools,)
        if world.plan.conditions.egress:
            networks = (tools, stack.enter_context(_way_out(own.runtime, f"{project}_egress", labels)))
        stack.callback(_drop_folder_of_nothing, folder, kept=kept)
        volume = stack.enter_context(_lent_python(world, own, f"{project}-python", labels, kept=kept))
        containers = AttemptContainers(
            Place(
                world=world,
                own=own,
                project=project,
                networks=networks,
                user=user,
                lent_volume=volume.result,
                labels=labels,
                mounts=_mounts(world, own, folder),
            )
        )

        def leave() -> None:
            _leave(run, keep=own.keep, networks=networks, kept=kept, may_come=containers.gave_up)
            not_left()

        stack.callback(leave)
        stack.callback(containers.close)
        yield containers


def _kept_folder() -> Path:
    folder = kept_folder()
    folder.chmod(0o755)  # a container's user must get in
    return folder


def _drop_folder_of_nothing(folder: Path | None, *, kept: list[KeptContainer]) -> None:
    if folder is not None and not kept:
        remove_kept_folder(str(folder))


def _leave(
    run: _Run, *, keep: bool, networks: tuple[str, ...], kept: list[KeptContainer], may_come: bool = False
) -> None:
    if keep:
        found = run.kept()
        kept.extend(found.values())  # first: they run on, and somebody must know of them, whatever comes
        run.disconnect(found, networks)
    if not kept:
        run.remove(may_come=may_come)


def _mounts(world: World, own: OwnContainers, folder: Path | None) -> dict[str, Path]:
    """What every container may read; copies that outlive the run where the containers do."""
    mounts = {AGENT_SUITE: world.agent_suite, **own.mounts}
    if folder is None:
        return mounts
    copies = {path: folder / f"mount-{number}" for number, path in enumerate(mounts)}
    for path, copy in copies.items():
        (shutil.copytree if mounts[path].is_dir() else shutil.copy2)(mounts[path], copy)
    return copies


@contextmanager
def _way_out(runtime: str, name: str, labels: dict[str, str]) -> Iterator[str]:
    named = [part for key, value in labels.items() for part in ("--label", f"{key}={value}")]
    try:
        must([runtime, "network", "create", *named, name], what="make a network that leads out")
    except LabError as error:
        if pool := pool_exhausted(error.cause or "", project=labels[PROJECT_LABEL]):
            raise pool from error
        raise
    try:
        yield name
    finally:
        must([runtime, "network", "rm", "--force", name], what="remove the network that leads out")


@contextmanager
def _lent_python(
    world: World, own: OwnContainers, name: str, labels: dict[str, str], *, kept: list[KeptContainer]
) -> Iterator[Future[str]]:
    """The volume for images that are not the lab's own, filled from that one while the stack comes up."""
    if set(own.image_of_case.values()) <= {OWN}:
        nothing: Future[str] = Future()
        yield nothing
        return
    with ThreadPoolExecutor(1, "lent-python") as background:
        filling = background.submit(_fill, own.runtime, name, world.plan.images[OWN].image_id, labels)
        try:
            yield filling
        finally:
            filling.exception()  # waits: what is not there yet cannot be removed
            if not kept:
                must([own.runtime, "volume", "rm", "--force", name], what="remove the lent Python")


def _fill(runtime: str, volume: str, image: str, labels: dict[str, str]) -> str:
    """The engine copies an image's files into an empty volume when a container of it is made; it never runs."""
    named = [part for key, value in labels.items() for part in ("--label", f"{key}={value}")]
    must([runtime, "volume", "create", *named, volume], what="make a volume for the lent Python")
    mount = f"type=volume,source={volume},target={LAB}"
    made = [runtime, "create", "--pull", "never", *named, "--network", "none", "--mount", mount, image]
    container = must(made, what="fill the volume of the lent Python").splitlines()[-1]
    must([runtime, "rm", "--force", container], what="remove what filled the volume")
    return volume
