"""What this machine is and what it can run: probed once, by trying."""

from __future__ import annotations

import json
import os
import platform
import shutil
import sys
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tare.cgroup import CgroupError, tree_of
from tare.errors import TareError
from tare.process import Argument, Commands
from tare.state import state_root

# What a lab with Fabric and two nodes writes, and some room.
NEEDED_DISK_BYTES = 3 << 30
CAP_SYS_RESOURCE = 24
PROBES = Path(__file__).parent / "probes"
PROBE_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Capability:
    """Something a lab may need. ``detail`` says in one line what was tried and found."""

    name: str
    present: bool
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """This machine; ``cpus`` are the numbers of those online that this process may use."""

    cpus: tuple[int, ...]
    memory_bytes: int
    kernel: str
    cpu_model: str
    cgroup_version: Literal[1, 2]
    capabilities: Mapping[str, Capability]

    def lacks(self, names: Iterable[str]) -> tuple[Capability, ...]:
        """Return those of the named capabilities that are absent. One this version cannot probe for is absent."""
        unknown = "this version of Tare cannot probe for it"
        found = (self.capabilities.get(name, Capability(name=name, present=False, detail=unknown)) for name in names)
        return tuple(capability for capability in found if not capability.present)

    def as_facts(self) -> dict[str, Any]:
        """Return everything as plain values, for the record of a run."""
        return {
            "cpus": list(self.cpus),
            "memory_bytes": self.memory_bytes,
            "kernel": self.kernel,
            "cpu_model": self.cpu_model,
            "cgroup_version": self.cgroup_version,
            "capabilities": {
                name: {"present": capability.present, "detail": capability.detail}
                for name, capability in sorted(self.capabilities.items())
            },
        }


def probe(commands: Commands | None = None) -> Machine:
    """Look at the machine and try what it can do; takes about 0.2 s and leaves nothing behind."""
    commands = commands or Commands()
    with ThreadPoolExecutor(max_workers=2) as pool:
        tried = pool.map(lambda name: _run_probe(commands, name), ("kernel", "kvm"))
        version, cgroup = _cgroup()
        capabilities = [
            _root(),
            cgroup,
            sys_resource(Path("/proc/self/status").read_text()),
            _disk_space(state_root()),
            *(capability for found in tried for capability in found),
        ]
    cpuinfo = Path("/proc/cpuinfo").read_text()
    return Machine(
        cpus=tuple(sorted(os.sched_getaffinity(0))),
        memory_bytes=memory_bytes(Path("/proc/meminfo").read_text()),
        kernel=platform.release(),
        cpu_model=cpu_model(cpuinfo),
        cgroup_version=version,
        capabilities={capability.name: capability for capability in capabilities},
    )


def memory_bytes(meminfo: str) -> int:
    """Return the machine's memory from the text of /proc/meminfo. Raises ValueError if it is not there."""
    for line in meminfo.splitlines():
        if line.startswith("MemTotal:"):
            return int(line.split()[1]) * 1024
    raise ValueError("no line MemTotal in /proc/meminfo")


def cpu_model(cpuinfo: str) -> str:
    """Return the processor's name from the text of /proc/cpuinfo, or "unknown"."""
    for line in cpuinfo.splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return "unknown"


def sys_resource(status: str) -> Capability:
    """Return whether CAP_SYS_RESOURCE can be had, from the text of /proc/self/status."""
    masks = {name: int(value, 16) for name, value in _fields(status) if name.startswith("Cap")}
    missing = [name for name in ("CapEff", "CapBnd") if not masks.get(name, 0) >> CAP_SYS_RESOURCE & 1]
    detail = (
        f"CAP_SYS_RESOURCE is not in {' and '.join(missing)}: containers get no higher limits and no lower OOM score"
        if missing
        else "CAP_SYS_RESOURCE is effective and in the bounding set"
    )
    return Capability(name="cap-sys-resource", present=not missing, detail=detail)


def _fields(text: str) -> Iterable[tuple[str, str]]:
    for line in text.splitlines():
        name, _, value = line.partition(":")
        yield name, value.strip()


def _run_probe(commands: Commands, program: str) -> list[Capability]:
    """Run one of the programs in probes/. One that crashes or hangs is itself a finding."""
    argv: list[Argument] = [sys.executable, "-I", PROBES / f"{program}.py"]
    try:
        found = json.loads(commands.run(argv, deadline_seconds=PROBE_SECONDS).stdout)
    except TareError as error:
        names = {"kvm": ("kvm-guests",)}.get(program, _KERNEL)
        return [Capability(name=name, present=False, detail=f"the probe failed: {error}") for name in names]
    return [Capability(name=name, present=present, detail=detail) for name, (present, detail) in found.items()]


_KERNEL = (
    "network-namespaces",
    "mount-namespaces",
    "overlayfs",
    "veth",
    "bridge",
    "netfilter",
    "netem",
    "vhost-vsock",
)


def _root() -> Capability:
    user = os.geteuid()
    return Capability(name="root", present=user == 0, detail=f"user id {user}")


def _cgroup() -> tuple[Literal[1, 2], Capability]:
    try:
        tree = tree_of("probe")
    except (CgroupError, OSError) as error:
        return 2, Capability(name="cgroup", present=False, detail=str(error))
    roots = [directory.parent.parent for directory in tree.directories()]
    closed = [str(root) for root in roots if not os.access(root, os.W_OK) or os.statvfs(root).f_flag & os.ST_RDONLY]
    detail = f"not writable: {', '.join(closed)}" if closed else f"version {tree.version} with all controllers"
    return 1 if tree.version == 1 else 2, Capability(name="cgroup", present=not closed, detail=detail)


def _disk_space(directory: Path) -> Capability:
    while not directory.exists():
        directory = directory.parent
    free = shutil.disk_usage(directory).free
    detail = f"{free / 2**30:.1f} GiB free in {directory}, {NEEDED_DISK_BYTES >> 30} GiB needed"
    return Capability(name="disk-space", present=free >= NEEDED_DISK_BYTES, detail=detail)
