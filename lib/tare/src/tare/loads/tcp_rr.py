"""Round trips of single bytes: one there and one back on one connection, as netperf's TCP_RR measures it.

netperf itself does, where the lab has it: Debian does not count it as free software. Where it has not, tcp-rr takes its
place. Every result says which it was.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tare.errors import UsageError
from tare.loads import LoadResult, Loop, netperf_output
from tare.loads.generator import Generator, GeneratorFailed, Used
from tare.loads.options import settle
from tare.loads.target import ClientTarget, endpoint
from tare.loads.tcp_rr_output import round_trips
from tare.manifest import TcpRoundTrip as TcpRoundTripSpec
from tare.process import Commands
from tare.stats.histogram import Histogram

if TYPE_CHECKING:
    from tare.cluster import Cluster

_OVERHEAD_SECONDS = 30.0
_VERSION_SECONDS = 10.0
_WHOLE = 0.99
_PERCENTS = (50, 90, 99)

BY_TCP_RR = "round trips by tcp-rr, Tare's own, which does what netperf's TCP_RR does: netperf is not in this lab"
# Its test begins with a connection, which a warm-up before it cannot have made.
BY_NETPERF = "round trips by netperf {version} (TCP_RR), with that in which proxies connect to each other among them"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Measured:
    """``count`` round trips in ``seconds``, one after the other; ``percentiles`` by percent, in seconds."""

    count: int
    seconds: float
    percentiles: Mapping[int, float]
    latency: Histogram | None
    ended_at: float
    used: Used
    log: Path
    note: str


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

    def obstacle(self, deployment: ClientTarget) -> str | None:
        """See ``Load``."""
        if deployment.round_trip is None:
            return "single bytes are not forwarded here: its proxies work on HTTP requests"
        return None

    def run(
        self,
        deployment: ClientTarget,
        *,
        options: Mapping[str, object],
        warmup_seconds: float,
        duration_seconds: float,
        directory: Path,
    ) -> LoadResult:
        """Measure round trips after a warm-up, with tcp-rr on the same connection; see ``Load``. netperf counts in
        whole seconds: it measures for the next, and warms up for the nearest.

        Raises UsageError for a deployment that does not forward bytes, GeneratorFailed, OutputError, CommandTimeout.
        """
        if deployment.round_trip is None:
            raise UsageError(f"load tcp_rr: {self.obstacle(deployment)}")
        endpoint(f"http://{deployment.round_trip}", "")
        client = deployment.client
        directory.mkdir(parents=True, exist_ok=True)
        self._running = Generator(
            self.name, node=client.node, network=client.network, cluster=self._cluster, commands=self._commands
        )
        if deployment.netserver is None:
            found = self._by_tcp_rr(self._running, deployment.round_trip, (warmup_seconds, duration_seconds), directory)
        else:
            endpoint(f"http://{deployment.netserver}", "")
            found = self._by_netperf(
                self._running,
                (deployment.netserver, deployment.round_trip),
                (warmup_seconds, duration_seconds),
                directory,
            )
        deployment.require_running()
        cpu_cores = found.used.cpu_cores(found.ended_at - found.seconds, found.ended_at)
        return LoadResult(
            load=self.name,
            loop=self.loop,
            offered_rate=None,
            metrics={
                "round_trip_rate": found.count / found.seconds,
                # Exact, where the percentiles are those of buckets: each begins when the last has ended.
                "round_trip_mean": found.seconds / found.count,
                **{f"round_trip_p{percent}": found.percentiles[percent] for percent in _PERCENTS},
                "round_trip_client_cpu": cpu_cores,
            },
            succeeded=found.count,
            failed=0,
            late=None,
            began_at=found.ended_at - found.seconds,
            ended_at=found.ended_at,
            latency=found.latency,
            failures={},
            generator_cpu_cores=cpu_cores,
            client_bound=False,
            notes=(found.note,),
            raw_files=(found.log,),
        )

    def stop(self) -> None:
        if self._running is not None:
            self._running.stop()

    def _by_tcp_rr(
        self, generator: Generator, address: str, seconds: tuple[float, float], directory: Path
    ) -> _Measured:
        log = directory / "round-trips.json"
        times = [f"{round(each * 1000)}ms" for each in seconds]
        used = _run(generator, [self._spec.program, "call", address, *times], sum(seconds), log)
        ended_at = time.time()
        found = round_trips(log.read_text(), source=str(log))
        latency = Histogram()
        latency.add_counts(found.times)
        return _Measured(
            count=found.count,
            seconds=found.seconds,
            percentiles={percent: latency.quantile(percent / 100) for percent in _PERCENTS},
            latency=latency,
            ended_at=ended_at,
            used=used,
            log=log,
            note=BY_TCP_RR,
        )

    def _by_netperf(
        self, generator: Generator, addresses: tuple[str, str], seconds: tuple[float, float], directory: Path
    ) -> _Measured:
        program = self._spec.netperf
        if program is None:
            raise UsageError(
                "load tcp_rr: netperf answers here, and the lab has no program for it: loads.tcpRr.netperf"
            )
        version = netperf_output.version(self._commands.run([program, "-V"], deadline_seconds=_VERSION_SECONDS).stdout)
        # The nearest for the warm-up, which may so be left out: of a connection of its own, it warms only the path.
        warmup, measured = round(seconds[0]), math.ceil(seconds[1])
        if warmup:
            _run(generator, arguments(program, *addresses, warmup), warmup, directory / "warm-up.log")
        log = directory / "round-trips.log"
        used = _run(generator, arguments(program, *addresses, measured), measured, log)
        ended_at = time.time()
        found = netperf_output.rounds(log.read_text(), source=str(log))
        # It calls a test that ended with its connection a success.
        if found.seconds < _WHOLE * measured:
            raise GeneratorFailed(
                self.name, f"netperf's connection was lost after {found.seconds:.2f} s of {measured} s", log
            )
        return _Measured(
            count=found.count,
            seconds=found.seconds,
            percentiles=found.percentiles,
            latency=None,  # it tells percentiles alone
            ended_at=ended_at,
            used=used,
            log=log,
            note=BY_NETPERF.format(version=version),
        )


def arguments(program: str, netserver: str, round_trip: str, seconds: int) -> list[str]:
    """Return the call of netperf that asks ``netserver`` for a test and makes its round trips at ``round_trip``, both
    ``address:port``, for whole seconds. Pure."""
    control, _, control_port = netserver.rpartition(":")
    data, _, data_port = round_trip.rpartition(":")
    # Named, an address is that at which its server listens too, and not every one of the server's.
    elsewhere = [] if data == control else ["-H", data]
    return [
        *(program, "-4", "-H", control, "-p", control_port, "-t", "TCP_RR", "-l", str(seconds), "-j", "-P", "0"),
        *("--", *elsewhere, "-P", f",{data_port}", "-r", "1,1", "-k", ",".join(netperf_output.SELECTORS)),
    ]


def _run(generator: Generator, argv: Sequence[str], seconds: float, log: Path) -> Used:
    return generator.run(argv, log=log, deadline_seconds=seconds + _OVERHEAD_SECONDS, env={}, cwd=log.parent)
