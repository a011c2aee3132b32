"""wrk as a load generator: connections that each send the next request when the last is answered."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tare.errors import UsageError
from tare.loads import LoadResult, Loop, metrics, wrk_output
from tare.loads.generator import Generator, GeneratorFailed, Used
from tare.loads.options import Option, settle
from tare.loads.target import HttpTarget, endpoint
from tare.manifest import Wrk as WrkSpec
from tare.process import Argument, Commands
from tare.services.client import Client
from tare.stats.histogram import Histogram

if TYPE_CHECKING:
    from tare.cluster import Cluster

# wrk keeps a counter for every microsecond up to its time-out.
LONGEST_TIMEOUT_SECONDS = 60

# Besides the duration: connecting, the last requests, writing the histogram.
_OVERHEAD_SECONDS = 30.0

CLOSED_LOOP = (
    "closed loop: a connection sends its next request when the last is answered, so no rate is offered, and what a "
    "slow answer kept from being sent is in no latency (coordinated omission)"
)
NO_COURSE = "wrk gives no completions per second, so whether the load was steady is not known"
NO_HANDSHAKE = "without keep-alive, a latency leaves out the opening of its connection; throughput has it"


class Wrk:
    """A ``Load`` of HTTP GET requests in a closed loop.

    A response of status 400 or above, or after the time-out, has failed, and so has a socket that could not be
    connected, read or written. wrk does not count a request that is never answered; only when there was no
    answer at all are they told, one a connection. Latencies are those of all responses in time.
    """

    name = "wrk"
    loop: Loop = "closed"

    def __init__(self, *, cluster: Cluster, spec: WrkSpec, commands: Commands) -> None:
        self._spec = spec
        self._cluster = cluster
        self._commands = commands
        self._running: Generator | None = None
        self._known = {
            "threads": Option(
                kind="count", description="threads, which share the connections", example=8, default=spec.threads
            ),
            "connections": Option(
                kind="count", description="connections kept busy", example=64, default=spec.connections
            ),
            "path": Option(kind="text", description="path of the request", example="/1k", default=spec.path),
            "keep_alive": Option(
                kind="switch",
                description="whether a connection serves many requests",
                example=False,
                default=spec.keep_alive,
            ),
            "timeout": Option(
                kind="amount",
                unit="s",
                description="seconds, a whole number, after which an answer counts as failed",
                example="2 s",
                default=spec.timeout_seconds,
            ),
        }

    @property
    def option_names(self) -> frozenset[str]:
        return frozenset(self._known)

    def options(self, given: Mapping[str, object]) -> dict[str, int | float | bool | str]:
        """Return the options; see ``Load``. wrk gives each thread the same number of connections, and rounds times."""
        options = settle(self.name, self._known, given)
        threads, connections, timeout, path = (options[name] for name in ("threads", "connections", "timeout", "path"))
        if connections % threads:
            raise UsageError(
                f"load wrk: option 'connections': expected a multiple of threads ({threads}), found {connections}. "
                f"Write connections={math.ceil(connections / threads) * threads}."
            )
        if timeout > LONGEST_TIMEOUT_SECONDS or timeout != int(timeout):
            raise UsageError(
                f"load wrk: option 'timeout': expected whole seconds, 1 to {LONGEST_TIMEOUT_SECONDS}, "
                f"found {timeout:g}. Write timeout='{min(LONGEST_TIMEOUT_SECONDS, math.ceil(timeout))} s'."
            )
        if not path.startswith("/") or not path.isascii() or not path.isprintable() or " " in path:
            raise UsageError(
                f"load wrk: option 'path': expected a path that begins with a slash, blanks escaped, found {path!r}. "
                "Write path='/1k'."
            )
        return options

    def obstacle(self, deployment: HttpTarget) -> None:
        """Return None; see ``Load``."""

    def run(
        self,
        deployment: HttpTarget,
        *,
        options: Mapping[str, object],
        warmup_seconds: float,
        duration_seconds: float,
        directory: Path,
    ) -> LoadResult:
        """Run a warm-up, unless it is 0 s, and a measured round on connections of its own; see ``Load``.

        Raises ForeignTarget, GeneratorFailed (nobody listens there, for one), OutputError, CommandTimeout.
        """
        settled = self._asked(self.options(options), deployment.client)
        generator = self._running = self._generator(deployment.client)
        url = endpoint(deployment.url, str(settled["path"]))
        directory.mkdir(parents=True, exist_ok=True)
        if warmup_seconds > 0:
            self._round(generator, "warm-up", url, settled, seconds=math.ceil(warmup_seconds), directory=directory)
        seconds = math.ceil(duration_seconds)
        used, report, raw_files = self._round(generator, "measured", url, settled, seconds=seconds, directory=directory)
        deployment.require_running()
        cpu_cores = used.cpu_cores(report.began_at, report.ended_at)
        bottlenecks = generator.bottlenecks(cpu_cores, threads=int(settled["threads"]))
        rounded = (f"wrk counts whole seconds: {seconds} s for {duration_seconds:g} s",)
        return result(
            report,
            connections=int(settled["connections"]),
            cpu_cores=cpu_cores,
            bottlenecks=bottlenecks,
            notes=(
                *((NO_HANDSHAKE,) if not settled["keep_alive"] else ()),
                *(rounded if seconds != duration_seconds else ()),
            ),
            raw_files=raw_files,
        )

    def stop(self) -> None:
        if self._running is not None:
            self._running.stop()

    def _generator(self, client: Client | None) -> Generator:
        node, network = (self._spec.node, None) if client is None else (client.node, client.network)
        return Generator(self.name, node=node, network=network, cluster=self._cluster, commands=self._commands)

    def _asked(self, options: dict[str, Any], client: Client | None) -> dict[str, Any]:
        """What is asked for, and on which connections, a deployment with a client of its own says by its factors."""
        if client is None:
            return options
        for name in ("path", "keep_alive"):
            if options[name] != self._known[name].default:
                raise UsageError(
                    f"load wrk: option {name!r}: the service's own factors set it; leave {name}={options[name]!r} out"
                )
        return {**options, "path": client.path, "keep_alive": client.keep_alive}

    def _round(
        self,
        generator: Generator,
        label: str,
        url: str,
        options: Mapping[str, Any],
        *,
        seconds: int,
        directory: Path,
    ) -> tuple[Used, wrk_output.Report, tuple[Path, ...]]:
        log, latencies = directory / f"{label}.log", directory / f"{label}.latencies"
        argv: list[Argument] = [
            self._spec.program,
            *(f"--threads={options['threads']}", f"--connections={options['connections']}"),
            *(f"--duration={seconds}s", f"--timeout={options['timeout']:.0f}s"),
            *("--latency", f"--script={self._spec.script}"),
            *(() if options["keep_alive"] else ("--header=Connection: close",)),
            url,
        ]
        latencies.unlink(missing_ok=True)  # of an attempt that was given up
        used = generator.run(
            argv,
            log=log,
            deadline_seconds=seconds + _OVERHEAD_SECONDS,
            env={"TARE_WRK_REPORT": str(latencies)},
            cwd=directory,
        )
        if not latencies.exists():
            raise GeneratorFailed(self.name, "ended well, but did not write its latencies", log)
        connections = int(options["connections"])
        report = wrk_output.report(latencies.read_text(), source=str(latencies), connections=connections)
        return used, report, (latencies, log)


def result(
    report: wrk_output.Report,
    *,
    connections: int,
    cpu_cores: float,
    bottlenecks: tuple[str, ...],
    notes: tuple[str, ...],
    raw_files: tuple[Path, ...],
) -> LoadResult:
    """Return what a report says, as a ``LoadResult``. Pure."""
    failures = {name: count for name, count in report.errors.items() if count}
    succeeded, failed = report.succeeded, report.failed
    if not report.responses and not failed:
        failures, failed = {"unanswered": connections}, connections
    latency = None
    if report.latencies:
        latency = Histogram()
        latency.add_counts((microseconds / 1e6, count) for microseconds, count in report.latencies)
    of_errors = (f"latencies include those of {report.errors['status']} answers with an error status",)
    return LoadResult(
        load=Wrk.name,
        loop=Wrk.loop,
        offered_rate=None,
        metrics={
            "throughput": succeeded / report.duration_seconds,
            "failures": metrics.failure_share(succeeded=succeeded, failed=failed),
            "client_cpu": cpu_cores,
            "transfer": report.received_bytes / report.duration_seconds,
            **metrics.latencies(latency, (50, 90, 99, 99.9)),
        },
        succeeded=succeeded,
        failed=failed,
        late=None,
        began_at=report.began_at,
        ended_at=report.ended_at,
        latency=latency,
        failures=failures,
        generator_cpu_cores=cpu_cores,
        client_bound=bool(bottlenecks),
        notes=(*bottlenecks, CLOSED_LOOP, NO_COURSE, *(of_errors if report.errors["status"] else ()), *notes),
        raw_files=raw_files,
    )
