"""One lab's cgroups, on version 1 and on version 2 of the kernel's interface.

Every lab has a subtree of its own, ``tare/<lab>``, at the root of each hierarchy. A path given
to a method is relative to that subtree; the empty path is the subtree itself. Methods that only
read raise OSError when the cgroup is gone, the others CgroupError.
"""

from __future__ import annotations

import abc
import contextlib
import errno
import os
import signal
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from tare.errors import TareError

MOUNTINFO = Path("/proc/self/mountinfo")
CONTROLLERS = ("cpu", "cpuacct", "cpuset", "memory", "pids")  # what a node's daemons need
# What they use where the kernel has it; a kubelet insists on hugetlb then.
OPTIONAL_CONTROLLERS = ("blkio", "devices", "freezer", "hugetlb", "io")
_RESOURCES = ("cpu", "memory", "io")  # those whose pressure the kernel counts
_ENTER = 'while [ "$1" != -- ]; do echo $$ > "$1"; shift; done; shift; exec "$@"'


class CgroupError(TareError):
    """The kernel refused a change to a cgroup; ``file`` is where."""

    def __init__(self, file: Path, problem: str) -> None:
        self.file = file
        super().__init__(f"{file}: {problem}")


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


@dataclass(frozen=True, slots=True, kw_only=True)
class CgroupUsage:
    """What a cgroup and all below it have used since it was made; ``memory_bytes`` is of now.

    ``memory_bytes`` is the working set as Kubernetes counts it: usage less the file pages not used lately. Of
    ``periods`` under the cgroup's own quota, ``throttled_periods`` ran into it; ``throttled_seconds`` is summed over
    the CPUs it was kept from. A pressure is the time during which some task of it waited for the resource, None where
    the kernel does not tell (version 1 has none of its own).
    """

    cpu_seconds: float
    memory_bytes: int
    throttled_seconds: float
    periods: int
    throttled_periods: int
    pressure_cpu_seconds: float | None = None
    pressure_memory_seconds: float | None = None
    pressure_io_seconds: float | None = None


class CgroupTree(abc.ABC):
    """The cgroups of one lab; ``version`` is that of the kernel's interface."""

    version: int

    def __init__(self, *, lab: str, roots: Iterable[Path]) -> None:
        self.name = f"tare/{lab}"
        self._roots = tuple(dict.fromkeys(roots))

    @staticmethod
    def detect(lab: str, *, mountinfo: Path = MOUNTINFO) -> CgroupTree:
        """Return the tree of ``lab`` on this machine. Raises CgroupError when the controllers are not there."""
        found = hierarchies(mountinfo.read_text())
        if not found.missing_v1:
            return CgroupTreeV1(lab=lab, controllers=found.v1, unified=found.v2)
        if found.v2 is not None:
            offered = _words(found.v2 / "cgroup.controllers")
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

    def directories(self, path: str = "") -> tuple[Path, ...]:
        """Return the cgroup's directory in every hierarchy; a pid is written into each one's ``cgroup.procs``."""
        return tuple(root / self.name / path for root in self._roots)

    def entering(self, path: str, shell: Sequence[str | Path], argv: Sequence[str | Path]) -> list[str]:
        """Return the arguments that run ``argv`` in the cgroup: a POSIX ``shell`` enters it and becomes the program,
        so that nothing the program starts is outside."""
        members = [directory / "cgroup.procs" for directory in self.directories(path)]
        return [str(word) for word in (*shell, "-c", _ENTER, "sh", *members, "--", *argv)]

    def kernel_path(self, path: str = "") -> str:
        """Return the cgroup's path as the kernel and the kubelet write it, from the root of a hierarchy."""
        return str(PurePosixPath("/", self.name, path))

    def exists(self, path: str = "") -> bool:
        return any(directory.is_dir() for directory in self.directories(path))

    @abc.abstractmethod
    def make(self, path: str, *, cpus: tuple[int, ...] | None = None, cpu_shares: int | None = None) -> None:
        """Make a cgroup and those above it. ``cpus`` confines it (default: as its parent); ``cpu_shares`` is its
        weight against its siblings, 1024 being the kernel's default. May be called again to change them."""

    def processes(self, path: str = "", *, recursive: bool = True) -> set[int]:
        """Return the pids in the cgroup, and in all below it unless ``recursive`` is false. None if it is gone."""
        found: set[int] = set()
        for top in self.directories(path):
            for directory in _walk(top) if recursive else (top,):
                # A threaded cgroup of version 2 does not list its processes: the one above lists them for it.
                with _vanishing(errno.EOPNOTSUPP):
                    found.update(map(int, (directory / "cgroup.procs").read_text().split()))
        return found - {0}  # a process of an outer pid namespace shows as 0

    def kill(self, path: str = "", *, deadline_seconds: float = 8.0) -> None:
        """Kill every process in the cgroup and below, until there is none. Raises CgroupError after the deadline."""
        deadline = time.monotonic() + deadline_seconds
        while pids := self.processes(path):
            self._kill_once(path, pids)
            if time.monotonic() > deadline:
                raise CgroupError(self.directories(path)[0], f"processes that do not die: {_pids(pids)}")
            time.sleep(0.02)

    def remove(self, path: str = "", *, deadline_seconds: float = 5.0) -> None:
        """Remove the cgroup and all below it; gone already is fine. Raises CgroupError after the deadline."""
        deadline = time.monotonic() + deadline_seconds
        while True:
            problems = [problem for top in self.directories(path) for problem in _remove_below(top)]
            if not problems:
                break
            if time.monotonic() > deadline:
                raise CgroupError(Path(str(problems[0].filename)), f"cannot be removed: {problems[0].strerror}")
            time.sleep(0.05)  # a killed process leaves its cgroup a moment after it has left cgroup.procs
        if not path:
            for root in self._roots:
                with contextlib.suppress(OSError):  # another lab stands beside this one
                    (root / PurePosixPath(self.name).parent).rmdir()

    @abc.abstractmethod
    def set_cpu_quota(self, path: str, cpus: float | None) -> None:
        """Limit the cgroup to ``cpus`` CPU seconds per second, or lift the limit with None."""

    @abc.abstractmethod
    def usage(self, path: str = "") -> CgroupUsage:
        """Return what the cgroup and all below it have used."""

    def _kill_once(self, path: str, pids: set[int]) -> None:
        # A pid may be used anew by the time it is signalled: open it first, then look whether it is still ours.
        opened: dict[int, int] = {}
        try:
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    opened[pid] = os.pidfd_open(pid)
            for pid in self.processes(path) & opened.keys():
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(opened[pid], signal.SIGKILL)
        finally:
            for descriptor in opened.values():
                os.close(descriptor)


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
            for directory in _down(root, self.name, path):
                _mkdir(directory)
                if root == self._controllers["cpuset"]:
                    self._fill_cpuset(directory)
        if cpus is not None:
            _write(self._directory("cpuset", path) / "cpuset.cpus", ",".join(map(str, cpus)))
        if cpu_shares is not None:
            _write(self._directory("cpu", path) / "cpu.shares", cpu_shares)

    def _fill_cpuset(self, directory: Path) -> None:
        # A new cpuset is empty and takes no process. Runtimes fill it in for runc's containers only, so
        # the kernel is asked to let everything below start as its parent.
        for name in ("cpuset.cpus", "cpuset.mems"):
            if not (directory / name).read_text().strip():
                _write(directory / name, (directory.parent / name).read_text().strip())
        _write(directory / "cgroup.clone_children", 1)

    def _directory(self, controller: str, path: str) -> Path:
        return self._controllers[controller] / self.name / path

    def set_cpu_quota(self, path: str, cpus: float | None) -> None:
        # Version 1 refuses a quota that is below one of its children's. Lowering those to the same figure
        # changes nothing, for they could not have more anyway; they get their own back when there is room.
        directory = self._directory("cpu", path)
        below = [child for child in _walk(directory) if child != directory]
        if cpus is not None:
            for child in reversed(below):
                quota, period = _quota_v1(child)
                if quota > cpus * period:
                    self._lowered.setdefault(child, quota)
                    _write(child / "cpu.cfs_quota_us", round(cpus * period))
        period = _quota_v1(directory)[1]
        _write(directory / "cpu.cfs_quota_us", -1 if cpus is None else round(cpus * period))
        for child in below:
            if child in self._lowered:
                own, period = self._lowered[child], _quota_v1(child)[1]
                room = own if cpus is None else min(own, round(cpus * period))
                _write(child / "cpu.cfs_quota_us", room)
                if room == own:
                    del self._lowered[child]

    def usage(self, path: str = "") -> CgroupUsage:
        cpu = _table(self._directory("cpu", path) / "cpu.stat")
        memory = self._directory("memory", path)
        used_bytes = int((memory / "memory.usage_in_bytes").read_text())
        idle_bytes = _table(memory / "memory.stat").get("total_inactive_file", 0)
        return CgroupUsage(
            cpu_seconds=int((self._directory("cpuacct", path) / "cpuacct.usage").read_text()) / 1e9,
            memory_bytes=max(0, used_bytes - idle_bytes),
            throttled_seconds=cpu.get("throttled_time", 0) / 1e9,
            periods=cpu.get("nr_periods", 0),
            throttled_periods=cpu.get("nr_throttled", 0),
            # The version 2 hierarchy beside the others has what Tare made, not what a container runtime makes.
            **(_pressures(self._unified / self.name / path) if self._unified else {}),
        )

    def _kill_once(self, path: str, pids: set[int]) -> None:
        if "freezer" in self._controllers:
            for directory in _walk(self._directory("freezer", path)):
                with _vanishing():
                    (directory / "freezer.state").write_text("THAWED")  # a frozen process does not die
        super()._kill_once(path, pids)


class CgroupTreeV2(CgroupTree):
    """Version 2: one hierarchy. Only leaves hold processes; a controller reaches a cgroup if all above pass it on."""

    version = 2

    def __init__(self, *, lab: str, root: Path) -> None:
        super().__init__(lab=lab, roots=[root])
        self._root = root

    def make(self, path: str, *, cpus: tuple[int, ...] | None = None, cpu_shares: int | None = None) -> None:
        above = self._root
        for directory in _down(self._root, self.name, path):
            self._pass_on(above)
            _mkdir(directory)
            above = directory
        directory = self._root / self.name / path
        if cpus is not None:
            self._confine(directory, cpus)
        if cpu_shares is not None:
            _write(directory / "cpu.weight", weight(cpu_shares))

    def _confine(self, directory: Path, cpus: tuple[int, ...]) -> None:
        # Version 2 takes CPUs that are offline or not the parent's, and then runs the processes where the parent's run.
        file = directory / "cpuset.cpus"
        wanted = ",".join(map(str, cpus))
        _write(file, wanted)
        given = (directory / "cpuset.cpus.effective").read_text().strip()
        if cpu_list(given) != tuple(sorted(cpus)):
            raise CgroupError(
                file,
                f"asked for the CPUs {wanted or 'none'}, the kernel gives {given or 'none'}; "
                "ask for CPUs that are online and those of the cgroup above",
            )

    def _pass_on(self, directory: Path) -> None:
        offered = _words(directory / "cgroup.controllers")
        missing = sorted(
            (offered & {*CONTROLLERS, *OPTIONAL_CONTROLLERS}) - _words(directory / "cgroup.subtree_control")
        )
        if not missing:
            return
        try:
            _write(directory / "cgroup.subtree_control", " ".join(f"+{name}" for name in missing))
        except CgroupError as error:
            inside = (directory / "cgroup.procs").read_text().split()
            if not inside:
                raise
            raise CgroupError(
                directory,
                f"processes stand in it ({_pids(map(int, inside))}), and version 2 passes controllers on only from a "
                "cgroup without any; move them into one below it",
            ) from error

    def set_cpu_quota(self, path: str, cpus: float | None) -> None:
        file = self._root / self.name / path / "cpu.max"
        period = int(file.read_text().split()[1])
        _write(file, f"{'max' if cpus is None else round(cpus * period)} {period}")

    def usage(self, path: str = "") -> CgroupUsage:
        directory = self._root / self.name / path
        cpu = _table(directory / "cpu.stat")
        used_bytes = int((directory / "memory.current").read_text())
        idle_bytes = _table(directory / "memory.stat").get("inactive_file", 0)
        return CgroupUsage(
            cpu_seconds=cpu["usage_usec"] / 1e6,
            memory_bytes=max(0, used_bytes - idle_bytes),
            throttled_seconds=cpu.get("throttled_usec", 0) / 1e6,
            periods=cpu.get("nr_periods", 0),
            throttled_periods=cpu.get("nr_throttled", 0),
            **_pressures(directory),
        )

    def _kill_once(self, path: str, pids: set[int]) -> None:
        switch = self._root / self.name / path / "cgroup.kill"  # since Linux 5.14; takes new children with it
        if switch.exists():
            _write(switch, 1)
        else:
            super()._kill_once(path, pids)


def weight(cpu_shares: int) -> int:
    """Return version 2's weight (1 to 10000) for version 1's shares (2 to 262144), as runc and the kubelet map them."""
    return 1 + (min(max(cpu_shares, 2), 262_144) - 2) * 9999 // 262_142


def cpu_list(text: str) -> tuple[int, ...]:
    """Return the CPUs of a list as the kernel writes it: "0-2,5" is (0, 1, 2, 5), nothing is (). Raises ValueError."""
    found: set[int] = set()
    for part in text.split(",") if text.strip() else ():
        first, _, last = part.strip().partition("-")
        begin, end = int(first), int(last or first)
        if begin > end:
            raise ValueError(f"{part!r} runs backwards")
        found.update(range(begin, end + 1))
    return tuple(sorted(found))


def pressure_seconds(file: Path) -> float | None:
    """Return for how long some task waited, from a pressure file of the kernel; None where it counts none.

    The file's first line is ``some avg10=0.00 avg60=0.00 avg300=0.00 total=MICROSECONDS``.
    """
    try:
        text = file.read_text()
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.EOPNOTSUPP):  # not built in; built in and switched off
            return None
        raise
    return int(text.splitlines()[0].rpartition("total=")[2]) / 1e6


def _pressures(directory: Path) -> dict[str, float | None]:
    return {f"pressure_{name}_seconds": pressure_seconds(directory / f"{name}.pressure") for name in _RESOURCES}


def _quota_v1(directory: Path) -> tuple[int, int]:
    """Return quota (microseconds; -1: none) and period (microseconds)."""
    quota = int((directory / "cpu.cfs_quota_us").read_text())
    return quota, int((directory / "cpu.cfs_period_us").read_text())


def _down(root: Path, *parts: str) -> Iterator[Path]:
    directory = root
    for part in PurePosixPath(*parts).parts:
        directory /= part
        yield directory


def _walk(top: Path) -> list[Path]:
    """Return the directories at and below ``top``, each before those below it."""
    return [Path(directory) for directory, _, _ in os.walk(top)]


def _remove_below(top: Path) -> list[OSError]:
    problems = []
    for directory in reversed(_walk(top)):
        try:
            directory.rmdir()
        except FileNotFoundError:
            continue
        except OSError as error:
            problems.append(error)
    return problems


@contextlib.contextmanager
def _vanishing(*allowed: int) -> Iterator[None]:
    """Let a cgroup be removed by someone else while it is looked at; and let it answer with an ``allowed`` errno."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENODEV, *allowed):
            raise


def _mkdir(directory: Path) -> None:
    try:
        directory.mkdir(exist_ok=True)
    except OSError as error:
        raise CgroupError(directory, f"cannot be made: {error.strerror}") from error


def _write(file: Path, value: str | int) -> None:
    try:
        file.write_text(f"{value}")
    except OSError as error:
        raise CgroupError(file, f"does not take {str(value)!r}: {error.strerror}") from error


def _words(file: Path) -> set[str]:
    return set(file.read_text().split())


def _table(file: Path) -> dict[str, int]:
    return {name: int(value) for name, value in (line.split() for line in file.read_text().splitlines())}


def _pids(pids: Iterable[int]) -> str:
    ordered = sorted(pids)
    more = f" and {len(ordered) - 8} more" if len(ordered) > 8 else ""
    return ", ".join(map(str, ordered[:8])) + more
