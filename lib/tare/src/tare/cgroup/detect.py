"""Which version of cgroups this machine has."""

from __future__ import annotations

from pathlib import Path

from tare.cgroup.files import CgroupError, words
from tare.cgroup.hierarchies import hierarchies
from tare.cgroup.tree import CgroupTree
from tare.cgroup.v1 import CgroupTreeV1
from tare.cgroup.v2 import CgroupTreeV2

MOUNTINFO = Path("/proc/self/mountinfo")


def tree_of(lab: str, *, mountinfo: Path = MOUNTINFO) -> CgroupTree:
    """Return the tree of ``lab`` on this machine. Raises CgroupError when the controllers are not there."""
    found = hierarchies(mountinfo.read_text())
    if not found.missing_v1:
        return CgroupTreeV1(lab=lab, controllers=found.v1, unified=found.v2)
    if found.v2 is not None:
        offered = words(found.v2 / "cgroup.controllers")
        missing = sorted({"cpu", "cpuset", "memory", "pids"} - offered)
        if not missing:
            return CgroupTreeV2(lab=lab, root=found.v2)
        raise CgroupError(
            found.v2 / "cgroup.controllers",
            f"the controllers {', '.join(missing)} are not among {' '.join(sorted(offered)) or 'none'}; "
            "enable them in the kernel, or delegate them to this container",
        )
    raise CgroupError(
        Path("/sys/fs/cgroup"),
        f"no cgroup2 mount, and no version 1 mount for {', '.join(found.missing_v1)}; mount cgroup2 there",
    )
