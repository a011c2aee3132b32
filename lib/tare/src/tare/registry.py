"""Which services and loads there are, by the names that a lab's experiment uses.

The one place that a new service or load is entered. Each is imported only when it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tare.errors import UsageError
from tare.process import Commands
from tare.progress import Progress

if TYPE_CHECKING:
    from tare.cluster import Cluster
    from tare.loads import Load
    from tare.manifest import Manifest
    from tare.services import Service

T = TypeVar("T")


def _fabric(
    manifest: Manifest, cluster: Cluster, directory: Path, commands: Commands, progress: Progress
) -> Service[Any]:
    from tare.services.fabric import FabricService

    spec = _declared("service", "fabric", manifest.services.fabric)
    return FabricService(cluster=cluster, spec=spec, directory=directory, commands=commands, progress=progress)


def _http(
    manifest: Manifest, cluster: Cluster, directory: Path, commands: Commands, progress: Progress
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


SERVICES: Mapping[str, Callable[[Manifest, Cluster, Path, Commands, Progress], Service[Any]]] = {
    "fabric": _fabric,
    "http": _http,
}

LOADS: Mapping[str, Callable[[Manifest, Cluster, Commands], Load[Any]]] = {
    "caliper": _caliper,
    "tcp_rr": _tcp_rr,
    "vegeta": _vegeta,
    "wrk": _wrk,
}


def service(
    manifest: Manifest, *, cluster: Cluster, directory: Path, commands: Commands, progress: Progress
) -> Service[Any]:
    """Return the service of the lab's experiment; ``directory`` is its own place for keys and state.

    Raises UsageError when the service is not known or the lab does not declare it.
    """
    make = _known("service", manifest.experiment.service, SERVICES)
    return make(manifest, cluster, directory, commands, progress)


def loads(manifest: Manifest, *, cluster: Cluster, commands: Commands) -> dict[str, Load[Any]]:
    """Return the load generators that the lab declares, by name; that of its experiment is among them.

    Raises UsageError when the experiment's is not known or not declared.
    """
    _known("load", manifest.experiment.load, LOADS)
    _declared("load", manifest.experiment.load, getattr(manifest.loads, manifest.experiment.load))
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
