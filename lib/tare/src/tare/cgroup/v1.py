"""Cgroups of version 1: a hierarchy for each controller."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tare.cgroup.files import down, make_directory, table, vanishing, walk, write
from tare.cgroup.pressure import pressures
from tare.cgroup.tree import CgroupTree, CgroupUsage


class CgroupTreeV1(CgroupTree):
    """Version 1: a hierarchy for each controller, and perhaps an empty version 2 beside them, which is used too."""

    version = 1

    def __init__(self, *, lab: str, controllers: Mapping[str, Path], unified: Path | None) -> None:
        roots = [*controllers.values(), *((unified,) if unified else ())]
        super().__init__(lab=lab, roots=roots)
        self._controllers = dict(controllers)
        self._unified = unified
        self._lowered: dict[Path, int] = {}

    def make(self, path: str, *, cpus: tuple[int, ...] | None = None, cpu_shares: int | None = None) -> None:
        for root in self._roots:
            for directory in down(root, self.name, path):
                make_directory(directory)
                if root == self._controllers["cpuset"]:
                    self._fill_cpuset(directory)
        if cpus is not None:
            write(self._directory("cpuset", path) / "cpuset.cpus", ",".join(map(str, cpus)))
        if cpu_shares is not None:
            write(self._directory("cpu", path) / "cpu.shares", cpu_shares)

    def _fill_cpuset(self, directory: Path) -> None:
        # A new cpuset is empty and takes no process. Runtimes fill it in for runc's containers only, so
        # the kernel is asked to let everything below start as its parent.
        for name in ("cpuset.cpus", "cpuset.mems"):
            if not (directory / name).read_text().strip():
                write(directory / name, (directory.parent / name).read_text().strip())
        write(directory / "cgroup.clone_children", 1)

    def _directory(self, controller: str, path: str) -> Path:
        return self._controllers[controller] / self.name / path

    def set_cpu_quota(self, path: str, cpus: float | None) -> None:
        # Version 1 refuses a quota that is below one of its children's. Lowering those to the same figure
        # changes nothing, for they could not have more anyway; they get their own back when there is room.
        directory = self._directory("cpu", path)
        below = [child for child in walk(directory) if child != directory]
        if cpus is not None:
            for child in reversed(below):
                quota, period = _quota_v1(child)
                if quota > cpus * period:
                    self._lowered.setdefault(child, quota)
                    write(child / "cpu.cfs_quota_us", round(cpus * period))
        period = _quota_v1(directory)[1]
        write(directory / "cpu.cfs_quota_us", -1 if cpus is None else round(cpus * period))
        for child in below:
            if child in self._lowered:
                own, period = self._lowered[child], _quota_v1(child)[1]
                room = own if cpus is None else min(own, round(cpus * period))
                write(child / "cpu.cfs_quota_us", room)
                if room == own:
                    del self._lowered[child]

    def usage(self, path: str = "") -> CgroupUsage:
        cpu = table(self._directory("cpu", path) / "cpu.stat")
        memory = self._directory("memory", path)
        used_bytes = int((memory / "memory.usage_in_bytes").read_text())
        idle_bytes = table(memory / "memory.stat").get("total_inactive_file", 0)
        return CgroupUsage(
            cpu_seconds=int((self._directory("cpuacct", path) / "cpuacct.usage").read_text()) / 1e9,
            memory_bytes=max(0, used_bytes - idle_bytes),
            throttled_seconds=cpu.get("throttled_time", 0) / 1e9,
            periods=cpu.get("nr_periods", 0),
            throttled_periods=cpu.get("nr_throttled", 0),
            # The version 2 hierarchy beside the others has what Tare made, not what a container runtime makes.
            **(pressures(self._unified / self.name / path) if self._unified else {}),
        )

    def _kill_once(self, path: str, pids: set[int]) -> None:
        if "freezer" in self._controllers:
            for directory in walk(self._directory("freezer", path)):
                with vanishing():
                    (directory / "freezer.state").write_text("THAWED")  # a frozen process does not die
        super()._kill_once(path, pids)


def _quota_v1(directory: Path) -> tuple[int, int]:
    """Return quota (microseconds; -1: none) and period (microseconds)."""
    quota = int((directory / "cpu.cfs_quota_us").read_text())
    return quota, int((directory / "cpu.cfs_period_us").read_text())
