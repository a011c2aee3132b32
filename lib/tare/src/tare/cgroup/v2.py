"""Cgroups of version 2: one hierarchy."""

from __future__ import annotations

from pathlib import Path

from tare.cgroup.cpus import cpu_list
from tare.cgroup.files import CgroupError, down, make_directory, show_pids, table, words, write
from tare.cgroup.hierarchies import CONTROLLERS, OPTIONAL_CONTROLLERS
from tare.cgroup.pressure import pressures
from tare.cgroup.tree import CgroupTree, CgroupUsage


class CgroupTreeV2(CgroupTree):
    """Version 2: one hierarchy. Only leaves hold processes; a controller reaches a cgroup if all above pass it on."""

    version = 2

    def __init__(self, *, lab: str, root: Path) -> None:
        super().__init__(lab=lab, roots=[root])
        self._root = root

    def make(self, path: str, *, cpus: tuple[int, ...] | None = None, cpu_shares: int | None = None) -> None:
        above = self._root
        for directory in down(self._root, self.name, path):
            self._pass_on(above)
            make_directory(directory)
            above = directory
        directory = self._root / self.name / path
        if cpus is not None:
            self._confine(directory, cpus)
        if cpu_shares is not None:
            write(directory / "cpu.weight", weight(cpu_shares))

    def _confine(self, directory: Path, cpus: tuple[int, ...]) -> None:
        # Version 2 takes CPUs that are offline or not the parent's, and then runs the processes where the parent's run.
        file = directory / "cpuset.cpus"
        wanted = ",".join(map(str, cpus))
        write(file, wanted)
        given = (directory / "cpuset.cpus.effective").read_text().strip()
        if cpu_list(given) != tuple(sorted(cpus)):
            raise CgroupError(
                file,
                f"asked for the CPUs {wanted or 'none'}, the kernel gives {given or 'none'}; "
                "ask for CPUs that are online and those of the cgroup above",
            )

    def _pass_on(self, directory: Path) -> None:
        offered = words(directory / "cgroup.controllers")
        missing = sorted(
            (offered & {*CONTROLLERS, *OPTIONAL_CONTROLLERS}) - words(directory / "cgroup.subtree_control")
        )
        if not missing:
            return
        try:
            write(directory / "cgroup.subtree_control", " ".join(f"+{name}" for name in missing))
        except CgroupError as error:
            inside = (directory / "cgroup.procs").read_text().split()
            if not inside:
                raise
            raise CgroupError(
                directory,
                f"processes stand in it ({show_pids(map(int, inside))}), and version 2 passes controllers on only from "
                "a cgroup without any; move them into one below it",
            ) from error

    def set_cpu_quota(self, path: str, cpus: float | None) -> None:
        file = self._root / self.name / path / "cpu.max"
        period = int(file.read_text().split()[1])
        write(file, f"{'max' if cpus is None else round(cpus * period)} {period}")

    def usage(self, path: str = "") -> CgroupUsage:
        directory = self._root / self.name / path
        cpu = table(directory / "cpu.stat")
        used_bytes = int((directory / "memory.current").read_text())
        idle_bytes = table(directory / "memory.stat").get("inactive_file", 0)
        return CgroupUsage(
            cpu_seconds=cpu["usage_usec"] / 1e6,
            memory_bytes=max(0, used_bytes - idle_bytes),
            throttled_seconds=cpu.get("throttled_usec", 0) / 1e6,
            periods=cpu.get("nr_periods", 0),
            throttled_periods=cpu.get("nr_throttled", 0),
            **pressures(directory),
        )

    def _kill_once(self, path: str, pids: set[int]) -> None:
        switch = self._root / self.name / path / "cgroup.kill"  # since Linux 5.14; takes new children with it
        if switch.exists():
            write(switch, 1)
        else:
            super()._kill_once(path, pids)


def weight(cpu_shares: int) -> int:
    """Return version 2's weight (1 to 10000) for version 1's shares (2 to 262144), as runc and the kubelet map them."""
    return 1 + (min(max(cpu_shares, 2), 262_144) - 2) * 9999 // 262_142
