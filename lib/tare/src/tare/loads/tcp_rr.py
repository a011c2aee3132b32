"""tcp-rr as a load: one byte there and one back on one connection, as netperf's TCP_RR measures it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tare.errors import UsageError
from tare.loads import LoadResult, Loop
from tare.loads.generator import Generator
from tare.loads.options import settle
from tare.loads.target import ClientTarget, endpoint
from tare.loads.tcp_rr_output import round_trips
from tare.manifest import TcpRoundTrip as TcpRoundTripSpec
from tare.process import Commands
from tare.stats.histogram import Histogram

if TYPE_CHECKING:
    from tare.cluster import Cluster

_OVERHEAD_SECONDS = 30.0

INSTEAD = "tcp-rr, Tare's own, which does what netperf's TCP_RR does; netperf is not free software in Debian's sense"


class TcpRoundTrip:
    """A ``Load`` of single bytes, the next one sent when the last came back. A lost connection is an error."""

    name = "tcp_rr"
    loop: Loop = "closed"
    option_names: frozenset[str] = frozenset()

    def __init__(self, *, cluster: Cluster, spec: TcpRoundTripSpec, commands: Commands) -> None:
        self._spec = spec
        self._cluster = cluster
        self._commands = commands
        self._running: Generator | None = None

    def options(self, given: Mapping[str, object]) -> dict[str, Any]:
        """Return no option, for there is none; see ``Load``."""
        return settle(self.name, {}, given)

    def run(
        self,
        deployment: ClientTarget,
        *,
        options: Mapping[str, object],
        warmup_seconds: float,
        duration_seconds: float,
        directory: Path,
    ) -> LoadResult:
        """Measure round trips after a warm-up on the same connection; see ``Load``.

        Raises UsageError for a deployment that does not forward bytes, GeneratorFailed, OutputError, CommandTimeout.
        """
        if deployment.round_trip is None:
            raise UsageError("load tcp_rr: single bytes are not forwarded here: its proxies work on HTTP requests")
        endpoint(f"http://{deployment.round_trip}", "")
        client = deployment.client
        directory.mkdir(parents=True, exist_ok=True)
        generator = self._running = Generator(
            self.name, node=client.node, network=client.network, cluster=self._cluster, commands=self._commands
        )
        log = directory / "round-trips.json"
        used = generator.run(
            [
                *(self._spec.program, "call", deployment.round_trip),
                *(f"{round(warmup_seconds * 1000)}ms", f"{round(duration_seconds * 1000)}ms"),
            ],
            log=log,
            deadline_seconds=warmup_seconds + duration_seconds + _OVERHEAD_SECONDS,
            env={},
            cwd=directory,
        )
        ended_at = time.time()
        deployment.require_running()
        found = round_trips(log.read_text(), source=str(log))
        cpu_cores = used.cpu_cores(ended_at - found.seconds, ended_at)
        latency = Histogram()
        latency.add_counts(found.times)
        return LoadResult(
            load=self.name,
            loop=self.loop,
            offered_rate=None,
            metrics={
                "round_trip_rate": found.count / found.seconds,
                # Exact, where the histogram's is a little high: each begins when the last has ended.
                "round_trip_mean": found.seconds / found.count,
                "round_trip_p50": latency.quantile(0.5),
                "round_trip_p99": latency.quantile(0.99),
                "round_trip_client_cpu": cpu_cores,
            },
            succeeded=found.count,
            failed=0,
            late=None,
            began_at=ended_at - found.seconds,
            ended_at=ended_at,
            latency=latency,
            failures={},
            generator_cpu_cores=cpu_cores,
            client_bound=False,
            notes=(INSTEAD,),
            raw_files=(log,),
        )

    def stop(self) -> None:
        if self._running is not None:
            self._running.stop()
