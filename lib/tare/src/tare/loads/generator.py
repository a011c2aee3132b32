"""Where a load generator runs: in a node's network namespace and a cgroup of its own, which shows what it used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tare.errors import TareError
from tare.measure.sampler import Sampler
from tare.process import Argument, Commands

if TYPE_CHECKING:
    from tare.cluster import Cluster

# From this share of what it offers, or of the CPUs it can use, on, the generator counts as the bottleneck.
BOUND_SHARE = 0.95

_LABEL = "load"


class GeneratorFailed(TareError):
    """A load generator ended without figures; ``log`` is what it printed."""

    def __init__(self, generator: str, problem: str, log: Path) -> None:
        self.generator = generator
        self.log = log
        super().__init__(f"{generator}: {problem}; its output is in {log}")


class Used:
    """What a generator used while it ran."""

    def __init__(self, sampler: Sampler) -> None:
        self._sampler = sampler

    def cpu_cores(self, began_at: float, ended_at: float) -> float:
        """Return CPU seconds per second between two Unix times (seconds)."""
        return self._sampler.totals((began_at, ended_at))[_LABEL].cpu_cores


class Generator:
    """Runs the programs of the load ``name`` on a node, one at a time; nothing of them outlives a run.

    ``network`` is the file of the network namespace they run in, by default the node's.
    """

    def __init__(
        self, name: str, *, node: str, cluster: Cluster, commands: Commands, network: str | None = None
    ) -> None:
        self._name = name
        self._network = network
        self._cluster = cluster
        self._commands = commands
        self._node = cluster.nodes[node]
        self._cgroup = f"{self._node.cgroup}/load"

    def check(self, argv: Sequence[Argument], *, deadline_seconds: float, env: Mapping[str, str]) -> None:
        """Run a program that has to succeed before the load. Raises CommandFailed, CommandTimeout."""
        self._commands.run(self._inside(argv), deadline_seconds=deadline_seconds, env=env)

    def run(
        self, argv: Sequence[Argument], *, log: Path, deadline_seconds: float, env: Mapping[str, str], cwd: Path
    ) -> Used:
        """Run the generator to its end, its output going to ``log``, and return what it used.

        Raises GeneratorFailed with the log's last line when its exit code is not 0, and CommandTimeout.
        """
        inside = self._inside(argv)
        with Sampler(self._cluster.cgroups, {_LABEL: [self._cgroup]}) as sampler, log.open("wb") as output:
            child = self._commands.spawn(inside, output=output, env=env, cwd=cwd)
            try:
                code = child.wait(deadline_seconds=deadline_seconds)
            finally:
                child.stop(grace_seconds=2)
                self._cluster.cgroups.kill(self._cgroup)
        if code != 0:
            raise GeneratorFailed(self._name, f"ended with exit code {code} ({last_line(log)})", log)
        return Used(sampler)

    def stop(self) -> None:
        """End what runs in another thread, which then raises."""
        self._cluster.cgroups.kill(self._cgroup)

    def bottlenecks(self, cpu_cores: float, *, threads: int) -> tuple[str, ...]:
        """Say whether the CPUs of a generator with so many threads were its limit; nothing if they were not."""
        usable = min(len(self._node.cpus), threads)
        if cpu_cores < BOUND_SHARE * usable:
            return ()
        return (f"the client used {cpu_cores:.2f} of the {usable} CPUs it can use",)

    def _inside(self, argv: Sequence[Argument]) -> list[str]:
        """Return ``argv`` as run in the load's cgroup, which is made, and its network namespace."""
        self._cluster.cgroups.make(self._cgroup, cpus=self._node.cpus)
        tools = self._cluster.manifest.tools
        entering = self._cluster.cgroups.entering(self._cgroup, (tools["busybox"], "sh"), argv)
        if self._network is None:
            return self._node.argv(entering)
        return [tools["nsenter"], f"--net={self._network}", "--", *entering]


def last_line(log: Path) -> str:
    """Return the last line of a log that is not blank."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1][:200] if lines else "it printed nothing"
