"""Hyperledger Caliper as a load generator: one process with workers, in a node's network namespace and a cgroup of
its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tare.loads import LoadResult, Loop, metrics
from tare.loads import caliper_files as files
from tare.loads import caliper_output as output
from tare.loads.generator import BOUND_SHARE, Generator, GeneratorFailed, Used
from tare.loads.options import Option, settle
from tare.manifest import Caliper as CaliperSpec
from tare.process import Argument, Commands
from tare.services.fabric import FabricDeployment
from tare.stats.histogram import Histogram

if TYPE_CHECKING:
    from tare.cluster import Cluster

# A transaction without an answer by then has failed. Caliper's own default.
TIMEOUT_SECONDS = 60.0
# From this share of late transactions on, the rate was met on average only.
LATE_SHARE = 0.05

# Caliper's start with its workers, its fixed pause of 5 s between rounds, its report.
_OVERHEAD_SECONDS = 60.0
_GATE_SECONDS = 60.0

_OPTIONS = {
    "send_rate": Option(kind="amount", unit="tx/s", description="transactions offered each second", example=50),
}


class Caliper:
    """A ``Load`` that sends create-asset transactions at a fixed rate, whatever comes back (an open loop)."""

    name = "caliper"
    loop: Loop = "open"
    option_names = frozenset(_OPTIONS)

    def __init__(self, *, cluster: Cluster, spec: CaliperSpec, commands: Commands) -> None:
        self._spec = spec
        self._modules = Path(spec.modules)
        self._generator = Generator(self.name, node=spec.node, cluster=cluster, commands=commands)

    def options(self, given: Mapping[str, object]) -> dict[str, float]:
        """Return the options; see ``Load``."""
        return settle(self.name, _OPTIONS, given)

    def obstacle(self, deployment: FabricDeployment) -> None:
        """Return None; see ``Load``."""

    def run(
        self,
        deployment: FabricDeployment,
        *,
        options: Mapping[str, object],
        warmup_seconds: float,
        duration_seconds: float,
        directory: Path,
    ) -> LoadResult:
        """Run a warm-up and a measured round; see ``Load``.

        Before them, one transaction of every organisation goes through its gateway, so that
        neither a network that is still finding itself nor the backlog of an earlier run is
        measured. Raises CommandFailed, GeneratorFailed, OutputError, or MemberEnded if a container did not last.
        """
        rate = self.options(options)["send_rate"]
        directory.mkdir(parents=True, exist_ok=True)
        self._wait_for_gateways(deployment, directory)
        self._write_files(deployment, rate, warmup_seconds, duration_seconds, directory)
        log_file = directory / "caliper.log"
        deadline = _OVERHEAD_SECONDS + warmup_seconds + duration_seconds + 2 * TIMEOUT_SECONDS
        used = self._launch(directory, log_file, deadline)
        deployment.require_running()
        log = log_file.read_text(errors="replace")
        if reasons := output.round_errors(log):
            raise GeneratorFailed(self.name, reasons[0], log_file)
        measured = files.rounds(warmup_seconds).index(files.MEASURED)
        raw_files = self._raw_files(directory, round_index=measured, log=log_file)
        workers = [output.transactions(file.read_text(), source=str(file)) for file in raw_files]
        sent = [transaction for of_worker in workers for transaction in of_worker]
        if not sent:
            raise GeneratorFailed(self.name, "sent no transaction in the measured round", log_file)
        figures = output.figures(sent)
        cpu_cores = used.cpu_cores(figures.began_at, figures.last_sent_at)
        late = sum(
            output.late(of_worker, rate=rate / len(workers), duration_seconds=duration_seconds) for of_worker in workers
        )
        bottlenecks = (
            *rate_not_met(rate, figures.sent_rate),
            *self._generator.bottlenecks(cpu_cores, threads=self._spec.workers),
        )
        return LoadResult(
            load=self.name,
            loop=self.loop,
            offered_rate=rate,
            metrics={
                "sent_rate": figures.sent_rate,
                "goodput": figures.goodput,
                "failures": metrics.failure_share(succeeded=figures.succeeded, failed=figures.failed),
                "client_cpu": cpu_cores,
                **metrics.latencies(figures.latencies_seconds, (50, 95, 99)),
            },
            succeeded=figures.succeeded,
            failed=figures.failed,
            late=late,
            began_at=figures.began_at,
            ended_at=figures.ended_at,
            latency=Histogram.of(figures.latencies_seconds) if figures.latencies_seconds else None,
            latencies_seconds=figures.latencies_seconds,
            completed_per_second=figures.completed_per_second,
            failures=output.count_failures(sent, output.failure_classes(log)),
            generator_cpu_cores=cpu_cores,
            client_bound=bool(bottlenecks),
            notes=(
                *bottlenecks,
                *uneven(late, len(sent)),
                *self._labels(),
                *disagreements(figures, output.table(log, source=str(log_file))),
            ),
            raw_files=raw_files,
        )

    def stop(self) -> None:
        self._generator.stop()

    def _labels(self) -> tuple[str, ...]:
        return ("native signing in the client: not stock Caliper",) if self._spec.native_signing else ()

    def _wait_for_gateways(self, deployment: FabricDeployment, directory: Path) -> None:
        config = directory / "ready.json"
        gateways = [
            {
                "msp": gateway.msp,
                "endpoint": gateway.endpoint,
                "tlsRoot": str(gateway.tls_root),
                "certificate": str(gateway.certificate),
                "privateKey": str(gateway.private_key),
            }
            for gateway in deployment.gateways
        ]
        config.write_text(
            json.dumps(
                {
                    "channel": deployment.channel,
                    "contract": deployment.chaincode,
                    "deadlineSeconds": _GATE_SECONDS,
                    "organizations": gateways,
                }
            )
        )
        self._generator.check(
            [self._spec.nodejs, Path(self._spec.workload) / "ready.js", config],
            deadline_seconds=_GATE_SECONDS + 30,
            env=self._environment(directory),
        )

    def _write_files(
        self,
        deployment: FabricDeployment,
        rate: float,
        warmup_seconds: float,
        duration_seconds: float,
        directory: Path,
    ) -> None:
        network = files.network(
            channel=deployment.channel, chaincode=deployment.chaincode, gateways=deployment.gateways
        )
        benchmark = files.benchmark(
            workload=Path(self._spec.workload) / "create-asset.js",
            chaincode=deployment.chaincode,
            organizations=[gateway.msp for gateway in deployment.gateways],
            workers=self._spec.workers,
            rate=rate,
            warmup_seconds=warmup_seconds,
            duration_seconds=duration_seconds,
            timeout_seconds=TIMEOUT_SECONDS,
            directory=directory,
        )
        (directory / "network.yaml").write_text(json.dumps(network, indent=2))
        (directory / "benchmark.yaml").write_text(json.dumps(benchmark, indent=2))

    def _launch(self, directory: Path, log_file: Path, deadline_seconds: float) -> Used:
        argv: list[Argument] = [
            self._spec.nodejs,
            self._modules / "@hyperledger" / "caliper-cli" / "caliper.js",
            *("launch", "manager", "--caliper-flow-only-test"),
            *("--caliper-workspace", directory),
            *("--caliper-networkconfig", "network.yaml", "--caliper-benchconfig", "benchmark.yaml"),
            *("--caliper-report-path", directory / "report.html"),
            *("--caliper-progress-reporting-enabled", "false"),
        ]
        env = self._environment(directory)
        return self._generator.run(argv, log=log_file, deadline_seconds=deadline_seconds, env=env, cwd=directory)

    def _raw_files(self, directory: Path, *, round_index: int, log: Path) -> tuple[Path, ...]:
        expected = [directory / f"transactions-{round_index}-{worker}.csv" for worker in range(self._spec.workers)]
        missing = [file.name for file in expected if not file.exists()]
        if missing:
            raise GeneratorFailed(self.name, f"its workers did not write {', '.join(missing)}", log)
        return tuple(expected)

    def _environment(self, directory: Path) -> dict[str, str]:
        environment = {
            "HOME": str(directory),
            # The workload stands in a folder of its own, away from Caliper's modules.
            "NODE_PATH": str(self._modules),
            "CALIPER_LOGGING_FORMATS_COLORIZE": "false",
        }
        if self._spec.native_signing:
            environment["NODE_OPTIONS"] = f"--require={Path(self._spec.workload) / 'native-signing.js'}"
        return environment


def rate_not_met(offered: float, sent: float) -> tuple[str, ...]:
    """Say that the client did not send at the rate (per second) it was to offer; nothing if it did."""
    return (
        () if sent >= BOUND_SHARE * offered else (f"the client sent {sent:.1f} of {offered:g} transactions per second",)
    )


def uneven(late: int, sent: int) -> tuple[str, ...]:
    """Say that the client sent unevenly; nothing if most transactions were sent when they were due."""
    return () if late <= LATE_SHARE * sent else (f"the client sent {late} of {sent} transactions late, or never",)


def disagreements(figures: output.Figures, rows: dict[str, output.Row]) -> tuple[str, ...]:
    """Return how Caliper's own table differs from the raw samples in what both count; nothing is expected."""
    row = rows.get(files.MEASURED)
    if row is None:
        return ("Caliper printed no table",)
    if (row.succeeded, row.failed) != (figures.succeeded, figures.failed):
        counted = f"{figures.succeeded} successes and {figures.failed} failures"
        return (f"Caliper's table has {row.succeeded} successes and {row.failed} failures, the raw samples {counted}",)
    return ()
