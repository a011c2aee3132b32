"""A lab that experiments are measured in: brought up when something first needs it, taken down at the end."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from tare import availability, registry
from tare.cluster import Cluster
from tare.hosts import LabHosts
from tare.labs import Lab
from tare.manifest import Level
from tare.measure.sampler import Sampler
from tare.process import Commands
from tare.progress import Reporter
from tare.services import Service
from tare.state import StateDirectory
from tare.trials import plan as planning
from tare.trials.design import Design
from tare.trials.run import Bench, Keeper
from tare.trials.running import TrialFunction

if TYPE_CHECKING:
    from tare.machine import Machine


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
            own_loads=manifest.experiment.loads,
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
