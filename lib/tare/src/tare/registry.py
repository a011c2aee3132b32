"""Which services and loads there are, by the names that a lab's experiment uses.

The one place that a new service or load is entered. Each is imported only when it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tare import sides
from tare.errors import UsageError
from tare.process import Commands
from tare.progress import Progress
from tare.trials import duet
from tare.trials.run import Side

if TYPE_CHECKING:
    from tare.cluster import Cluster
    from tare.loads import Load
    from tare.manifest import Manifest
    from tare.services import Service

T = TypeVar("T")


def _fabric(
    side: int, manifest: Manifest, cluster: Cluster, directory: Path, commands: Commands, progress: Progress
) -> Service[Any]:
    from tare.services.fabric import FabricService

    spec = _declared("service", "fabric", manifest.services.fabric)
    load = manifest.loads.caliper
    return FabricService(
        cluster=cluster,
        spec=spec,
        client=spec.node if load is None else load.node,
        directory=directory,
        commands=commands,
        progress=progress,
        side=side,
    )


def _http(
    side: int, manifest: Manifest, cluster: Cluster, directory: Path, commands: Commands, progress: Progress
) -> Service[Any]:
    from tare.services.http import HttpService

    spec = _declared("service", "http", manifest.services.http)
    return HttpService(cluster=cluster, spec=spec, commands=commands, progress=progress)


def _caliper(manifest: Manifest, cluster: Cluster, commands: Commands) -> Load[Any]:
    from tare.loads.caliper import Caliper

    return Caliper(cluster=cluster, spec=_declared("load", "caliper", manifest.loads.caliper), commands=commands)


def _tcp_rr(manifest: Manifest, cluster: Cluster, commands: Commands) -> Load[Any]:
    from tare.loads.tcp_rr import TcpRoundTrip

    return TcpRoundTrip(cluster=cluster, spec=_declared("load", "tcp_rr", manifest.loads.tcp_rr), commands=commands)


def _vegeta(manifest: Manifest, cluster: Cluster, commands: Commands) -> Load[Any]:
    from tare.loads.vegeta import Vegeta

    return Vegeta(cluster=cluster, spec=_declared("load", "vegeta", manifest.loads.vegeta), commands=commands)


def _wrk(manifest: Manifest, cluster: Cluster, commands: Commands) -> Load[Any]:
    from tare.loads.wrk import Wrk

    return Wrk(cluster=cluster, spec=_declared("load", "wrk", manifest.loads.wrk), commands=commands)


SERVICES: Mapping[str, Callable[[int, Manifest, Cluster, Path, Commands, Progress], Service[Any]]] = {
    "fabric": _fabric,
    "http": _http,
}

# The services of which two deployments can stand at the same moment, each on a side of its own.
TWICE = frozenset({"fabric"})

LOADS: Mapping[str, Callable[[Manifest, Cluster, Commands], Load[Any]]] = {
    "caliper": _caliper,
    "tcp_rr": _tcp_rr,
    "vegeta": _vegeta,
    "wrk": _wrk,
}


def against_duet(manifest: Manifest, *, cpus: Mapping[str, Sequence[int]]) -> str | None:
    """Return why the lab's service cannot be measured on two sides at once; None if it can. ``cpus`` are by node."""
    service = manifest.experiment.service
    twice = service in TWICE
    of_sides = [sides.cpus(side, cpus) for side in sides.of_lab(manifest)] if twice else []
    return duet.obstacle(of_sides, service=service, twice=twice)


def stands(
    manifest: Manifest, *, cluster: Cluster, directory: Path, commands: Commands, progress: Progress
) -> list[Side]:
    """Return the service and the loads on each side of the lab; see ``service`` and ``loads``."""
    return [
        Side(
            service=service(
                of_side, cluster=cluster, directory=directory, commands=commands, progress=progress, side=number
            ),
            loads=loads(of_side, cluster=cluster, commands=commands),
        )
        for number, of_side in enumerate(sides.of_lab(manifest))
    ]


def service(
    manifest: Manifest, *, cluster: Cluster, directory: Path, commands: Commands, progress: Progress, side: int = 0
) -> Service[Any]:
    """Return the service of the lab's experiment; ``directory`` is its own place for keys and state, and ``manifest``
    the lab as its ``side`` sees it (``tare.sides``).

    Raises UsageError when the service is not known or the lab does not declare it.
    """
    make = _known("service", manifest.experiment.service, SERVICES)
    return make(side, manifest, cluster, directory, commands, progress)


def loads(manifest: Manifest, *, cluster: Cluster, commands: Commands) -> dict[str, Load[Any]]:
    """Return the load generators that the lab declares, by name; those of its experiment are among them.

    Raises UsageError when one of the experiment's is not known or not declared.
    """
    for name in manifest.experiment.loads:
        _known("load", name, LOADS)
        _declared("load", name, getattr(manifest.loads, name))
    return {
        name: make(manifest, cluster, commands)
        for name, make in LOADS.items()
        if getattr(manifest.loads, name) is not None
    }


def _known(kind: str, name: str, table: Mapping[str, T]) -> T:
    if name not in table:
        raise UsageError(f"experiment.{kind}: {name!r} is not known; there are: {', '.join(sorted(table))}")
    return table[name]


def _declared(kind: str, name: str, spec: T | None) -> T:
    if spec is None:
        raise UsageError(f"experiment.{kind} is {name!r}, but the lab does not declare {kind}s.{name}")
    return spec
