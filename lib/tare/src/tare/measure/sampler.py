"""Samples what cgroups use, and what the machine does, at a fixed interval in a thread of its own."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol

from tare.cgroup import CgroupUsage
from tare.measure.counter import rise
from tare.measure.disturbance import LIMIT, disturbances, sees_the_lab
from tare.measure.host import SOURCES, Host, HostSample
from tare.measure.network import Interfaces

# The label of the whole lab, whose cgroup is the tree's own; it is sampled besides those asked for.
LAB = "lab"

_NEVER_READ = CgroupUsage(cpu_seconds=0.0, memory_bytes=0, throttled_seconds=0.0, periods=0, throttled_periods=0)


class CgroupReader(Protocol):
    """The part of ``tare.cgroup.CgroupTree`` that is read here."""

    def usage(self, path: str) -> CgroupUsage: ...

    def processes(self, path: str) -> set[int]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The state of one label at one time, which is Unix time: the sum over its cgroups, see ``CgroupUsage``.

    Bytes are those of the network namespaces its processes were in when sampling began. All but the memory are
    counters since the cgroups and interfaces were made. None: not told here.
    """

    time: float
    label: str
    cpu_seconds: float
    memory_bytes: int
    throttled_seconds: float
    periods: int = 0
    throttled_periods: int = 0
    pressure_cpu_seconds: float | None = None
    pressure_memory_seconds: float | None = None
    pressure_io_seconds: float | None = None
    received_bytes: int | None = None
    sent_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What one label used over a span of time. ``memory_bytes`` is the mean of the samples, the peak their highest;
    all others are the rise of what ``Sample`` counts, and None where it has nothing."""

    seconds: float
    cpu_seconds: float
    throttled_seconds: float
    memory_bytes: float
    memory_peak_bytes: int
    periods: float = 0.0
    throttled_periods: float = 0.0
    pressure_cpu_seconds: float | None = None
    pressure_memory_seconds: float | None = None
    pressure_io_seconds: float | None = None
    received_bytes: float | None = None
    sent_bytes: float | None = None

    @property
    def cpu_cores(self) -> float:
        """CPU seconds per second."""
        return self.cpu_seconds / self.seconds if self.seconds > 0 else 0.0


class Sampler:
    """A context manager: samples from entering to leaving it, at both ends too.

    A cgroup that vanishes keeps its last reading, so that a label's counters never fall, and is named in ``lost``.
    ``pass_cpu_seconds`` is what each pass of the thread has cost. ``limit`` is the share of the CPUs that others may
    take before ``disturbances`` tells.
    """

    def __init__(
        self,
        tree: CgroupReader,
        groups: Mapping[str, Sequence[str]],
        *,
        host: Host | None = None,
        interval_seconds: float = 1.0,
        limit: float = LIMIT,
    ) -> None:
        self._tree = tree
        self._groups = {LAB: ("",)} | {label: tuple(paths) for label, paths in groups.items()}
        self._asked = tuple(groups)
        self._host = host or Host()
        self._interval_seconds = interval_seconds
        self._limit = limit
        self._interfaces: dict[str, Interfaces] = {}
        self._last: dict[str, CgroupUsage] = {}
        self._samples: list[Sample] = []
        self._host_samples: list[HostSample] = []
        self._stop = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._loop, name="sampler", daemon=True)
        self.lost: dict[str, str] = {}
        self.pass_cpu_seconds: list[float] = []

    def __enter__(self) -> Sampler:
        for label in self._asked:
            pids = (pid for path in self._groups[label] for pid in self._tree.processes(path))
            self._interfaces[label] = Interfaces(pids)
        self._sample()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()
        try:
            if self._failure is None:
                self._sample()
            elif error is None:
                raise self._failure
        finally:
            for interfaces in self._interfaces.values():
                interfaces.close()

    @property
    def samples(self) -> tuple[Sample, ...]:
        return tuple(self._samples)

    @property
    def host_samples(self) -> tuple[HostSample, ...]:
        return tuple(self._host_samples)

    @property
    def absent(self) -> tuple[str, ...]:
        """What this machine does not tell, a phrase each."""
        found = [what for name, what in SOURCES.items() if _never(self._host_samples, name)]
        asked = [sample for sample in self._samples if sample.label in self._asked]
        if _never(asked, "pressure_cpu_seconds"):
            found.append("pressure of cgroups (the kernel's PSI on cgroup version 2)")
        if _never(asked, "received_bytes"):
            found.append("network bytes of cgroups (none of their processes has a network of its own)")
        if not sees_the_lab(self._host_samples, self._of(LAB)):
            found.append("CPU time of others (/proc/stat counts less than the lab used, so it is not the machine's)")
        return tuple(found)

    def totals(self, between: tuple[float, float] | None = None) -> dict[str, Usage]:
        """Return what each label asked for used: over all samples, or ``between`` two Unix times (see ``usage``)."""
        return {label: usage(self._of(label), between) for label in self._asked}

    def disturbances(self, between: tuple[float, float] | None = None) -> tuple[str, ...]:
        """Return what disturbed the machine, over all samples or between two Unix times: a sentence each."""
        return disturbances(self._host_samples, self._of(LAB), cpus=self._host.cpus, between=between, limit=self._limit)

    def _of(self, label: str) -> list[Sample]:
        return [sample for sample in self._samples if sample.label == label]

    def _loop(self) -> None:
        due = time.monotonic() + self._interval_seconds
        while not self._stop.wait(max(0.0, due - time.monotonic())):
            began = time.thread_time()
            try:
                self._sample()
            except Exception as error:  # raised on leaving: there is nobody in this thread to tell
                self._failure = error
                return
            self.pass_cpu_seconds.append(time.thread_time() - began)
            # A late round is skipped, never made up for by two rounds close together.
            due = max(due + self._interval_seconds, time.monotonic())

    def _sample(self) -> None:
        self._host_samples.append(self._host.read())
        for label, paths in self._groups.items():
            usages = [self._read(path) for path in paths]
            interfaces = self._interfaces.get(label)
            received, sent = (interfaces.read() if interfaces else None) or (None, None)
            self._samples.append(
                Sample(
                    time=time.time(),
                    label=label,
                    cpu_seconds=sum(each.cpu_seconds for each in usages),
                    memory_bytes=sum(each.memory_bytes for each in usages),
                    throttled_seconds=sum(each.throttled_seconds for each in usages),
                    periods=sum(each.periods for each in usages),
                    throttled_periods=sum(each.throttled_periods for each in usages),
                    pressure_cpu_seconds=_sum_known(each.pressure_cpu_seconds for each in usages),
                    pressure_memory_seconds=_sum_known(each.pressure_memory_seconds for each in usages),
                    pressure_io_seconds=_sum_known(each.pressure_io_seconds for each in usages),
                    received_bytes=received,
                    sent_bytes=sent,
                )
            )

    def _read(self, path: str) -> CgroupUsage:
        if path not in self.lost:
            try:
                self._last[path] = self._tree.usage(path)
            except OSError as error:
                self.lost[path] = str(error)
                self._last[path] = dataclasses.replace(self._last.get(path, _NEVER_READ), memory_bytes=0)
        return self._last[path]


def usage(samples: Sequence[Sample], between: tuple[float, float] | None = None) -> Usage:
    """Return the use that ``samples`` of one label, in order of time, show.

    ``between`` cuts it to a span (Unix seconds); the counters are interpolated linearly at its
    ends and held constant outside the samples. Raises ValueError without samples.
    """
    if not samples:
        raise ValueError("usage of no samples")
    began, ended = between or (samples[0].time, samples[-1].time)

    def risen(name: str) -> float:
        return rise([s.time for s in samples], [getattr(s, name) for s in samples], (began, ended))

    def risen_if_known(name: str) -> float | None:
        return None if any(getattr(s, name) is None for s in samples) else risen(name)

    inside = [s.memory_bytes for s in samples if began <= s.time <= ended]
    if not inside:
        nearest = min(samples, key=lambda s: abs(s.time - (began + ended) / 2))
        inside = [nearest.memory_bytes]
    return Usage(
        seconds=ended - began,
        cpu_seconds=risen("cpu_seconds"),
        throttled_seconds=risen("throttled_seconds"),
        memory_bytes=sum(inside) / len(inside),
        memory_peak_bytes=max(inside),
        periods=risen("periods"),
        throttled_periods=risen("throttled_periods"),
        pressure_cpu_seconds=risen_if_known("pressure_cpu_seconds"),
        pressure_memory_seconds=risen_if_known("pressure_memory_seconds"),
        pressure_io_seconds=risen_if_known("pressure_io_seconds"),
        received_bytes=risen_if_known("received_bytes"),
        sent_bytes=risen_if_known("sent_bytes"),
    )


def _sum_known(values: Iterable[float | None]) -> float | None:
    """Return the sum; None if there is nothing to sum, or a part is not known."""
    found = list(values)
    known = [value for value in found if value is not None]
    return sum(known) if known and len(known) == len(found) else None


def _never(samples: Sequence[Sample] | Sequence[HostSample], name: str) -> bool:
    return bool(samples) and all(getattr(sample, name) is None for sample in samples)
