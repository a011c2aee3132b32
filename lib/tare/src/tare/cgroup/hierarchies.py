"""Where the kernel's two versions of cgroups are mounted. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

CONTROLLERS = ("cpu", "cpuacct", "cpuset", "memory", "pids")  # what a node's daemons need
# What they use where the kernel has it; a kubelet insists on hugetlb then.
OPTIONAL_CONTROLLERS = ("blkio", "devices", "freezer", "hugetlb", "io")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hierarchies:
    """Where cgroups are mounted: version 1 by controller (a named hierarchy as ``name=...``), and version 2."""

    v1: Mapping[str, Path]
    v2: Path | None

    @property
    def missing_v1(self) -> tuple[str, ...]:
        return tuple(name for name in CONTROLLERS if name not in self.v1)


def hierarchies(mountinfo: str) -> Hierarchies:
    """Return the cgroup mounts listed in the text of /proc/self/mountinfo."""
    v1: dict[str, Path] = {}
    v2: Path | None = None
    for line in mountinfo.splitlines():
        left, _, right = line.partition(" - ")
        mount_point = Path(left.split()[4].encode().decode("unicode_escape"))
        kind, _, options = right.split(" ", 2)
        if kind == "cgroup2":
            v2 = v2 or mount_point
        elif kind == "cgroup":
            for option in options.split(","):
                if option in (*CONTROLLERS, *OPTIONAL_CONTROLLERS) or option.startswith("name="):
                    v1.setdefault(option, mount_point)
    return Hierarchies(v1=v1, v2=v2)
