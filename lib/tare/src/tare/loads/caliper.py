"""Hyperledger Caliper as a load generator: one process with workers, in a node's network namespace and a cgroup of
its own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tare.errors import TareError
from tare.loads import LoadResult
from tare.loads import caliper_files as files
from tare.loads import caliper_output as output
from tare.manifest import Caliper as CaliperSpec
from tare.measure.sampler import Sampler
from tare.process import Argument, Commands
from tare.services.fabric import FabricDeployment

if TYPE_CHECKING:
    from tare.cluster import Cluster

# A transaction without an answer by then has failed. Caliper's own default.
TIMEOUT_SECONDS = 60.0
# Below this share of the offered rate, or above it of the CPU it can use, the generator is the bottleneck.
BOUND_SHARE = 0.95

# Caliper's start with its workers, its fixed pause of 5 s between rounds, its report.
_OVERHEAD_SECONDS = 60.0
_GATE_SECONDS = 60.0


class CaliperFailed(TareError):
    """Caliper ended without figures; ``log`` is what it printed."""

    def __init__(self, problem: str, log: Path) -> None:
        self.log = log
        super().__init__(f"Caliper: {problem}; its output is in {log}")


class Caliper:
    """A ``Load`` that sends create-asset transactions at a fixed rate, whatever comes back (an open loop)."""

    def __init__(self, *, cluster: Cluster, spec: CaliperSpec, commands: Commands) -> None:
        self._cluster = cluster
        self._spec = spec
        self._commands = commands
        self._node = cluster.nodes[spec.node]
        self._cgroup = f"{self._node.cgroup}/load"
        self._modules = Path(spec.modules)

    def run(
        self,
        deployment: FabricDeployment,
        *,
        rate: float,
        warmup_seconds: float,
        duration_seconds: float,
        directory: Path,
    ) -> LoadResult:
        """Run a warm-up and a measured round; see ``Load``.

        Before them, one transaction of every organisation goes through its gateway, so that
        neither a network that is still finding itself nor the backlog of an earlier run is
        measured. Raises CommandFailed, CaliperFailed, or MemberEnded if a container did not last.
        """
        directory.mkdir(parents=True, exist_ok=True)
        self._cluster.cgroups.make(self._cgroup, cpus=self._node.cpus)
        self._wait_for_gateways(deployment, directory)
        self._write_files(deployment, rate, warmup_seconds, duration_seconds, directory)
        log_file = directory / "caliper.log"
        deadline = _OVERHEAD_SECONDS + warmup_seconds + duration_seconds + 2 * TIMEOUT_SECONDS
        with Sampler(self._cluster.cgroups, {"load": [self._cgroup]}) as sampler:
            self._launch(directory, log_file, deadline)
        deployment.require_running()
        log = log_file.read_text(errors="replace")
        if reasons := output.round_errors(log):
            raise CaliperFailed(reasons[0], log_file)
        measured = files.rounds(warmup_seconds).index(files.MEASURED)
        raw_files = self._raw_files(directory, round_index=measured, log=log_file)
        sent = [
            transaction for file in raw_files for transaction in output.transactions(file.read_text(), source=str(file))
        ]
        if not sent:
            raise CaliperFailed("sent no transaction in the measured round", log_file)
        figures = output.figures(sent)
        usage = sampler.totals((figures.began_at, figures.last_sent_at))["load"]
        return LoadResult(
            offered_rate=rate,
            sent_rate=figures.sent_rate,
            goodput=figures.goodput,
            succeeded=figures.succeeded,
            failed=figures.failed,
            duration_seconds=figures.duration_seconds,
            began_at=figures.began_at,
            ended_at=figures.ended_at,
            latencies_seconds=figures.latencies_seconds,
            failures=output.count_failures(sent, output.failure_classes(log)),
            generator_cpu_cores=usage.cpu_cores,
            client_bound=bool(bottlenecks := self._bottlenecks(rate, figures.sent_rate, usage.cpu_cores)),
            notes=(*bottlenecks, *self._labels(), *disagreements(figures, output.table(log, source=str(log_file)))),
            raw_files=raw_files,
        )

    def _bottlenecks(self, rate: float, sent_rate: float, cpu_cores: float) -> tuple[str, ...]:
        usable = min(len(self._node.cpus), self._spec.workers)
        found = []
        if sent_rate < BOUND_SHARE * rate:
            found.append(f"the client sent {sent_rate:.1f} of {rate:g} transactions per second")
        if cpu_cores >= BOUND_SHARE * usable:
            found.append(f"the client used {cpu_cores:.2f} of the {usable} CPUs it can use")
        return tuple(found)

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
        argv = self._inside([self._spec.nodejs, Path(self._spec.workload) / "ready.js", config])
        self._commands.run(argv, deadline_seconds=_GATE_SECONDS + 30, env=self._environment(directory))

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

    def _launch(self, directory: Path, log_file: Path, deadline_seconds: float) -> None:
        argv = self._inside(
            [
                self._spec.nodejs,
                self._modules / "@hyperledger" / "caliper-cli" / "caliper.js",
                *("launch", "manager", "--caliper-flow-only-test"),
                *("--caliper-workspace", directory),
                *("--caliper-networkconfig", "network.yaml", "--caliper-benchconfig", "benchmark.yaml"),
                *("--caliper-report-path", directory / "report.html"),
                *("--caliper-progress-reporting-enabled", "false"),
            ]
        )
        with log_file.open("wb") as log:
            child = self._commands.spawn(argv, output=log, env=self._environment(directory), cwd=directory)
            try:
                code = child.wait(deadline_seconds=deadline_seconds)
            finally:
                child.stop(grace_seconds=2)
                self._cluster.cgroups.kill(self._cgroup)
        if code != 0:
            raise CaliperFailed(f"ended with exit code {code}", log_file)

    def _raw_files(self, directory: Path, *, round_index: int, log: Path) -> tuple[Path, ...]:
        expected = [directory / f"transactions-{round_index}-{worker}.csv" for worker in range(self._spec.workers)]
        missing = [file.name for file in expected if not file.exists()]
        if missing:
            raise CaliperFailed(f"its workers did not write {', '.join(missing)}", log)
        return tuple(expected)

    def _inside(self, argv: Sequence[Argument]) -> list[str]:
        """Return ``argv`` as run in the load's cgroup and its node's network namespace."""
        shell = (self._cluster.manifest.tools["busybox"], "sh")
        return self._node.argv(self._cluster.cgroups.entering(self._cgroup, shell, argv))

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


def disagreements(figures: output.Figures, rows: dict[str, output.Row]) -> tuple[str, ...]:
    """Return how Caliper's own table differs from the raw samples in what both count; nothing is expected."""
    row = rows.get(files.MEASURED)
    if row is None:
        return ("Caliper printed no table",)
    if (row.succeeded, row.failed) != (figures.succeeded, figures.failed):
        counted = f"{figures.succeeded} successes and {figures.failed} failures"
        return (f"Caliper's table has {row.succeeded} successes and {row.failed} failures, the raw samples {counted}",)
    return ()
