"""The cgroups of one lab, whatever the version of the kernel's interface."""

from __future__ import annotations

import abc
import contextlib
import errno
import os
import signal
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from tare.cgroup.files import CgroupError, remove_below, show_pids, vanishing, walk

_ENTER = 'while [ "$1" != -- ]; do echo $$ > "$1"; shift; done; shift; exec "$@"'


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
            for directory in walk(top) if recursive else (top,):
                # A threaded cgroup of version 2 does not list its processes: the one above lists them for it.
                with vanishing(errno.EOPNOTSUPP):
                    found.update(map(int, (directory / "cgroup.procs").read_text().split()))
        return found - {0}  # a process of an outer pid namespace shows as 0

    def kill(self, path: str = "", *, deadline_seconds: float = 8.0) -> None:
        """Kill every process in the cgroup and below, until there is none. Raises CgroupError after the deadline."""
        deadline = time.monotonic() + deadline_seconds
        while pids := self.processes(path):
            self._kill_once(path, pids)
            if time.monotonic() > deadline:
                raise CgroupError(self.directories(path)[0], f"processes that do not die: {show_pids(pids)}")
            time.sleep(0.02)

    def remove(self, path: str = "", *, deadline_seconds: float = 5.0) -> None:
        """Remove the cgroup and all below it; gone already is fine. Raises CgroupError after the deadline."""
        deadline = time.monotonic() + deadline_seconds
        while True:
            problems = [problem for top in self.directories(path) for problem in remove_below(top)]
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
