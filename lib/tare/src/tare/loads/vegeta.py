"""Vegeta as a load generator: requests at a constant rate, whether or not earlier ones were answered."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tare.errors import TareError
from tare.loads import LoadResult, Loop, metrics
from tare.loads import vegeta_output as output
from tare.loads.generator import BOUND_SHARE, Generator, Used
from tare.loads.options import Option, settle
from tare.loads.target import ClientTarget, endpoint
from tare.manifest import Vegeta as VegetaSpec
from tare.process import Argument, Commands
from tare.stats.histogram import Histogram

if TYPE_CHECKING:
    from tare.cluster import Cluster

# The shortest time in which the capacity is looked for.
CAPACITY_SECONDS = 1.0
# From this share of late requests on, the rate was met on average only.
LATE_SHARE = 0.05
# Besides the duration: the last answers, and writing what was measured.
_OVERHEAD_SECONDS = 60.0

FROM_DUE = "latencies count from when a request was due, not from when it was sent (no coordinated omission)"


class Vegeta:
    """A ``Load`` of HTTP GET requests at a constant rate, which is a share of what the deployment can serve at most.

    What that is, Vegeta finds itself, just before: as many requests as the connections can carry, each sent when the
    last was answered. It is of this client on this machine, and kept as the metric ``paced_capacity``. wrk's is
    higher, for it needs less CPU itself.
    """

    name = "vegeta"
    loop: Loop = "open"

    def __init__(self, *, cluster: Cluster, spec: VegetaSpec, commands: Commands) -> None:
        self._spec = spec
        self._cluster = cluster
        self._commands = commands
        self._running: Generator | None = None
        self._known = {
            "load_share": Option(
                kind="amount", description="the rate, as a share of what can be served", example=0.8, default=0.5
            ),
            "connections": Option(
                kind="count", description="connections kept open", example=64, default=spec.connections
            ),
        }

    @property
    def option_names(self) -> frozenset[str]:
        return frozenset(self._known)

    def options(self, given: Mapping[str, object]) -> dict[str, Any]:
        """Return the options; see ``Load``."""
        return settle(self.name, self._known, given)

    def obstacle(self, deployment: ClientTarget) -> None:
        """Return None; see ``Load``."""

    def run(
        self,
        deployment: ClientTarget,
        *,
        options: Mapping[str, object],
        warmup_seconds: float,
        duration_seconds: float,
        directory: Path,
    ) -> LoadResult:
        """Find the capacity, which is the warm-up, and send at a share of it; see ``Load``.

        Raises ForeignTarget, GeneratorFailed, OutputError, CommandTimeout, and TareError where nothing is served.
        """
        settled = self.options(options)
        client = deployment.client
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "targets").write_text(f"GET {endpoint(deployment.url, client.path)}\n")
        generator = self._running = Generator(
            self.name, node=client.node, network=client.network, cluster=self._cluster, commands=self._commands
        )
        attack = _Attack(generator, self._spec, settled["connections"], client.keep_alive, directory)
        capacity = attack.capacity(max(CAPACITY_SECONDS, warmup_seconds))
        rate = max(1, round(settled["load_share"] * capacity))
        used, found = attack.at(rate, duration_seconds)
        deployment.require_running()
        return result(
            found,
            rate=rate,
            capacity=capacity,
            duration_seconds=duration_seconds,
            generator=generator,
            used=used,
            raw_files=(directory / "measured.csv",),
        )

    def stop(self) -> None:
        if self._running is not None:
            self._running.stop()


class _Attack:
    """Runs Vegeta, its files in a folder."""

    def __init__(
        self, generator: Generator, spec: VegetaSpec, connections: int, keep_alive: bool, directory: Path
    ) -> None:
        self._generator = generator
        self._spec = spec
        self._connections = connections
        self._keep_alive = keep_alive
        self._directory = directory

    def capacity(self, seconds: float) -> float:
        """Return how many requests are served each second when each connection always waits for one."""
        workers = ("-rate=0", f"-workers={self._connections}", f"-max-workers={self._connections}")
        self._attack("capacity", seconds, workers)
        report = self._directory / "capacity.json"
        self._vegeta("capacity-report", "report", "-type=json", f"-output={report}", self._directory / "capacity.bin")
        found = output.capacity(report.read_text(), source=str(report))
        if not found:
            raise TareError(f"vegeta: no request was answered with success while its capacity was looked for: {report}")
        return found

    def at(self, rate: int, seconds: float) -> tuple[Used, tuple[output.Request, ...]]:
        """Return the requests of an attack at a rate (per second), and what the generator used."""
        used = self._attack("measured", seconds, (f"-rate={rate}/1s", f"-workers={self._connections}"))
        table = self._directory / "measured.csv"
        self._vegeta("measured-table", "encode", "-to=csv", f"-output={table}", self._directory / "measured.bin")
        return used, output.requests(table.read_text(), source=str(table), rate=rate)

    def _attack(self, label: str, seconds: float, how: Sequence[str]) -> Used:
        return self._vegeta(
            label,
            "attack",
            *(f"-targets={self._directory / 'targets'}", f"-output={self._directory / f'{label}.bin'}"),
            *(f"-duration={round(seconds * 1000)}ms", f"-timeout={round(self._spec.timeout_seconds * 1000)}ms"),
            # No more than these: of a burst of new ones, after a stall, a service does not recover. What waits for a
            # connection counts from when it was due.
            *(f"-connections={self._connections}", f"-max-connections={self._connections}"),
            f"-keepalive={str(self._keep_alive).lower()}",
            # Bodies are read and not kept; redirects are answers.
            *("-max-body=0", "-redirects=-1", "-http2=false"),
            *how,
            seconds=seconds,
        )

    def _vegeta(self, label: str, *arguments: Argument, seconds: float = 0.0) -> Used:
        return self._generator.run(
            [self._spec.program, *arguments],
            log=self._directory / f"{label}.log",
            deadline_seconds=seconds + self._spec.timeout_seconds + _OVERHEAD_SECONDS,
            env={},
            cwd=self._directory,
        )


def result(
    found: Sequence[output.Request],
    *,
    rate: int,
    capacity: float,
    duration_seconds: float,
    generator: Generator,
    used: Used,
    raw_files: tuple[Path, ...],
) -> LoadResult:
    """Return what the requests of an attack say, as a ``LoadResult``. Raises TareError without a request."""
    if not found:
        raise TareError(f"vegeta: sent no request in {duration_seconds:g} s at {rate} a second")
    began_at, ended_at = found[0].due_at, max(request.sent_at + request.took_seconds for request in found)
    served = [request for request in found if request.failure is None]
    latencies = tuple(request.latency_seconds for request in served)
    planned = math.floor(rate * duration_seconds)
    late = sum(request.is_late for request in found) + max(0, planned - len(found))
    cpu_cores = used.cpu_cores(began_at, ended_at)
    sent_rate = len(found) / max(duration_seconds, found[-1].sent_at - began_at)
    bottlenecks = (
        *(
            (f"the client sent {sent_rate:.1f} of {rate} requests per second",)
            if sent_rate < BOUND_SHARE * rate
            else ()
        ),
        *((f"the client sent {late} of {planned} requests late, or never",) if late > LATE_SHARE * planned else ()),
        *generator.bottlenecks(cpu_cores, threads=len(found)),
    )
    of_latencies = metrics.latencies(latencies, (50, 95, 99))
    return LoadResult(
        load=Vegeta.name,
        loop=Vegeta.loop,
        offered_rate=rate,
        metrics={
            "paced_capacity": capacity,
            "paced_rate": sent_rate,
            "paced_goodput": len(served) / (ended_at - began_at),
            "paced_failures": metrics.failure_share(succeeded=len(served), failed=len(found) - len(served)),
            "paced_client_cpu": cpu_cores,
            **{f"paced_{name}": value for name, value in of_latencies.items()},
        },
        succeeded=len(served),
        failed=len(found) - len(served),
        late=late,
        began_at=began_at,
        ended_at=ended_at,
        latency=Histogram.of(latencies) if latencies else None,
        latencies_seconds=latencies,
        completed_per_second=metrics.per_second(
            (request.sent_at + request.took_seconds for request in served),
            began_at=began_at,
            ended_at=found[-1].sent_at,
        ),
        failures=output.count_failures(tuple(found)),
        generator_cpu_cores=cpu_cores,
        client_bound=bool(bottlenecks),
        notes=(*bottlenecks, FROM_DUE),
        raw_files=raw_files,
    )
