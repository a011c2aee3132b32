"""One run of an experiment from a built lab to kept results: what the command and the pytest plugin share."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from tare import __version__, availability, registry
from tare.cluster import Cluster
from tare.errors import TareError
from tare.hosts import LabHosts
from tare.labs import Lab
from tare.manifest import Level, Manifest
from tare.measure.disturbance import LIMIT
from tare.measure.sampler import Sampler
from tare.process import Commands
from tare.progress import Reporter
from tare.results import RunStore, StoredRun
from tare.services import Service
from tare.state import StateDirectory
from tare.stats.sequence import Method
from tare.trials import plan as planning
from tare.trials.design import Design
from tare.trials.run import Bench, Keeper, measure_block
from tare.trials.running import TrialFunction

if TYPE_CHECKING:
    from tare.machine import Machine
    from tare.trials.running import Trial as RunningTrial
    from tare.trials.trial import Trial


class Session(Protocol):
    """A lab that experiments are measured in; brought up when something first needs it."""

    @property
    def lab(self) -> Lab: ...

    @property
    def progress(self) -> Reporter: ...

    def unavailable(self, design: Design) -> planning.Unavailable:
        """Return the levels of the design that cannot run on this machine, with their reasons; needs no cluster."""
        ...

    def against_duet(self) -> str | None:
        """Return why level and baseline cannot run at the same moment on this machine; None if they can."""
        ...

    def facts(self) -> dict[str, Any]:
        """Return what the run record says of the machine and of what runs on it; needs no cluster."""
        ...

    def bench(self, function: TrialFunction, keeper: Keeper, *, disturbed_above: float) -> Bench:
        """Return all that a plan needs to be measured, the lab being up; see ``measure.disturbance`` for the bound.

        Raises TareError.
        """
        ...

    def hosts(self) -> Any:
        """Return the lab's nodes and pods as testinfra hosts, the lab being up. Raises TareError."""
        ...


class LabAtHand(LabHosts):
    """A lab that is up, as a test sees it: its nodes and pods, and its service when asked for."""

    def __init__(self, cluster: Cluster, service: Callable[[], Service[Any]]) -> None:
        super().__init__(cluster)
        self._service = service

    @contextmanager
    def deployed(self, **levels: Level) -> Iterator[Any]:
        """Deploy the lab's service at some levels, to be looked at and not measured; it is taken away at the end."""
        service = self._service()
        deployment = service.deploy(levels)
        try:
            service.configure(deployment, levels)
            yield deployment
        finally:
            deployment.close()


class LabSession:
    """A lab on this machine; a context manager that takes down what it brought up, unless ``keep`` leaves it."""

    def __init__(
        self, lab: Lab, *, machine: Machine, commands: Commands, progress: Reporter, keep: bool = False
    ) -> None:
        self.lab = lab
        self.progress = progress
        self._machine = machine
        self._commands = commands
        self._state = StateDirectory.of(lab.manifest.name, os.environ)
        self._cluster = Cluster(
            manifest=lab.manifest, state=self._state, commands=commands, machine=machine, progress=progress, keep=keep
        )
        self._open = ExitStack()
        self._up = False

    def __enter__(self) -> LabSession:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._up = False
        self._open.__exit__(kind, error, trace)

    def unavailable(self, design: Design) -> planning.Unavailable:
        found = availability.reasons(
            self.lab.manifest,
            design.factors,
            runtimes=self._cluster.runtime_levels(),
            cpus={name: node.cpus for name, node in self._cluster.nodes.items()},
        )
        return {
            factor: {level: reason for level, reason in levels.items() if reason is not None}
            for factor, levels in found.items()
        }

    def against_duet(self) -> str | None:
        cpus = {name: node.cpus for name, node in self._cluster.nodes.items()}
        return registry.against_duet(self.lab.manifest, cpus=cpus)

    def facts(self) -> dict[str, Any]:
        return {
            "machine": self._machine.as_facts(),
            "node_cpus": {name: list(node.cpus) for name, node in self._cluster.nodes.items()},
            "image_digests": dict(self._cluster.image_digests),
        }

    def bench(self, function: TrialFunction, keeper: Keeper, *, disturbed_above: float) -> Bench:
        manifest, cluster = self.lab.manifest, self._brought_up()
        return Bench(
            sides=registry.stands(
                manifest,
                cluster=cluster,
                directory=self._state.path / "service",
                commands=self._commands,
                progress=self.progress,
            ),
            default_load=manifest.experiment.load,
            function=function,
            units={name: metric.unit for name, metric in manifest.experiment.metrics.items()},
            sampler=functools.partial(Sampler, cluster.cgroups, limit=disturbed_above),
            keeper=keeper,
            progress=self.progress,
        )

    def hosts(self) -> LabAtHand:
        return LabAtHand(self._brought_up(), self._service)

    def _service(self) -> Service[Any]:
        return registry.service(
            self.lab.manifest,
            cluster=self._brought_up(),
            directory=self._state.path / "service",
            commands=self._commands,
            progress=self.progress,
        )

    def _brought_up(self) -> Cluster:
        if not self._up:
            self._open.enter_context(self._cluster)
            self._up = True
        return self._cluster


def of_lab(trial: RunningTrial) -> None:
    """The trial function of ``tare run``: the lab's own load, its options from the factors."""
    trial.load()


class Measurement:
    """A run that is being measured, block by block; a context manager that records how it ended.

    Raises, when it is made, what ``RunStore.create`` and ``RunStore.resume`` raise.
    """

    def __init__(
        self,
        session: Session,
        plan: planning.Plan,
        *,
        store: RunStore,
        function: TrialFunction,
        disturbed_above: float,
    ) -> None:
        self.plan = plan
        self.manifest: Manifest = session.lab.manifest
        self._session = session
        self._store = store
        self._function = function
        self._disturbed_above = disturbed_above
        self._trials: tuple[Trial, ...] | None = None
        self._failed: BaseException | None = None
        self._discarded = False

    @property
    def folder(self) -> Path:
        return self._store.folder

    def __enter__(self) -> Measurement:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._discarded:
            return
        error = error or self._failed
        state = "complete" if error is None else "failed" if isinstance(error, Exception) else "interrupted"
        told = None if error is None else f"{type(error).__name__}: {error}"
        self._store.close(state=state, timings=_timings(self._session.progress), error=told)
        if error is not None:
            self._session.progress.note(f"what was measured until then is in {self.folder}")

    @property
    def stored(self) -> StoredRun:
        """The run as it is on disk."""
        return StoredRun(self.folder)

    def extend(self) -> bool:
        """Measure the first block that is not whole; False when the design allows no more."""
        finished = self._store.finished()
        for number in range(self.plan.design.blocks.most):
            if any(trial.index not in finished for trial in self.plan.block(number)):
                break
        else:
            return False
        try:
            with self._session.progress.phase("measure"):
                measure_block(self.plan, number, self._bench)
        except BaseException as error:
            self._failed = error
            raise
        finally:
            self._trials = None
        return True

    def discard_empty(self) -> bool:
        """Remove the run if nothing of it was ever begun, so that leaving it records nothing; say whether it was."""
        self._discarded = self._failed is None and self._store.discard()
        return self._discarded

    def trials(self) -> tuple[Trial, ...]:
        """Return the trials that count, in order of index."""
        if self._trials is None:
            self._trials = tuple(trial for trial in self._store.trials() if not trial.set_aside)
        return self._trials

    @functools.cached_property
    def _bench(self) -> Bench:
        return self._session.bench(self._function, self._store, disturbed_above=self._disturbed_above)


def planned(session: Session, design: Design, *, seed: int) -> planning.Plan:
    """Return what would be measured of a design on this machine. Raises TareError, see ``trials.plan.make``."""
    return planning.make(
        design,
        seed=seed,
        unavailable=session.unavailable(design),
        against_duet=session.against_duet() if design.duet else None,
    )


def begin(
    session: Session,
    design: Design,
    *,
    results: Path,
    seed: int,
    name: str = "",
    function: TrialFunction = of_lab,
    function_digest: str | None = None,
    disturbed_above: float = LIMIT,
    interval: Method = "median",
    resume: Path | None = None,
) -> Measurement:
    """Return a new run of a design, or, with ``resume``, the run in that folder taken up again with its own seed.

    ``disturbed_above`` is the share of the CPUs that others may take before a trial is repeated, ``interval`` how
    reports make the run's intervals where the number of blocks is left open.

    Raises DifferentRun, which says what differs, when that run was of something else.
    """
    if resume is not None:
        seed = int(StoredRun(resume).record["seed"])
    plan = planned(session, design, seed=seed)
    if plan.duet_told:
        session.progress.note(plan.duet_told)
    written = record(session, plan, name=name, function_digest=function_digest) | {
        "disturbed_above": disturbed_above,
        "interval": interval,
    }
    if resume is not None:
        store = RunStore.resume(resume, record=written)
        for torn in store.lost:
            session.progress.note(f"{torn}; that trial is measured again")
    else:
        store = RunStore.create(
            results,
            session.lab.manifest.name,
            record=written,
            factors={
                factor: not any(isinstance(level, str) for level in about.levels)
                for factor, about in design.factors.items()
            },
            now=time.time(),
        )
    return Measurement(session, plan, store=store, function=function, disturbed_above=disturbed_above)


def record(session: Session, plan: planning.Plan, *, name: str, function_digest: str | None) -> dict[str, Any]:
    """Return what the run record says of what was measured, on what, and in which order."""
    lab = session.lab
    of_lab = identity(lab.folder)
    return {
        "tare": __version__,
        "experiment": name,
        "identity": {
            "manifest": of_lab["sha256"],
            "flake": lab.source.get("nar_hash"),
            "tare": __version__,
            "experiment": name,
            "function": function_digest,
            "plan": plan.as_record(),
        },
        "manifest": of_lab,
        "source": dict(lab.source),
        "seed": plan.seed,
        "blocks": {"least": plan.design.blocks.least, "most": plan.design.blocks.most},
        "plan": plan.as_record(),
        "duet": plan.duet_told,
        "metrics": list(lab.manifest.experiment.metrics),
        "units": {name: metric.unit for name, metric in lab.manifest.experiment.metrics.items()},
        "not_run": [
            {"factor": lost.factor, "level": lost.level, "reason": lost.reason, "cells": lost.cells}
            for lost in plan.not_run
        ],
        **session.facts(),
        "python": platform.python_version(),
        "pid": os.getpid(),
    }


def identity(folder: Path) -> dict[str, str | None]:
    """Return which lab this is: its path, its store path's hash (None outside a store), its manifest's hash."""
    found = re.search(r"/nix/store/([a-z0-9]{32})-", f"{folder}/")
    try:
        content = (folder / "lab.json").read_bytes()
    except OSError as error:
        raise TareError(f"{folder}/lab.json: cannot be read: {error.strerror}") from None
    return {
        "path": str(folder / "lab.json"),
        "store_hash": found[1] if found else None,
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def _timings(progress: Reporter) -> list[Mapping[str, Any]]:
    return [
        {
            "phase": list(timing.path),
            "began_seconds": round(timing.began_seconds, 3),
            "seconds": round(timing.seconds, 3),
            "ok": timing.ok,
        }
        for timing in progress.timings
    ]
