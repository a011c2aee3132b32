"""Samples the CPU time and memory of cgroups at a fixed interval, in a thread of its own."""

from __future__ import annotations

import bisect
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol


class CgroupReader(Protocol):
    """The part of ``tare.cgroup.CgroupTree`` that is read here."""

    def cpu_usage_seconds(self, path: str) -> float: ...

    def throttled_seconds(self, path: str) -> float: ...

    def memory_bytes(self, path: str) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The state of one label at one time. CPU and throttled time are counters since the cgroups were made;
    ``time`` is Unix time."""

    time: float
    label: str
    cpu_seconds: float
    memory_bytes: int
    throttled_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What one label used over a span of time. ``memory_bytes`` is the mean of the samples, the peak their highest."""

    seconds: float
    cpu_seconds: float
    throttled_seconds: float
    memory_bytes: float
    memory_peak_bytes: int

    @property
    def cpu_cores(self) -> float:
        """CPU seconds per second."""
        return self.cpu_seconds / self.seconds if self.seconds > 0 else 0.0


class Sampler:
    """A context manager: samples from entering to leaving it, at both ends too.

    A cgroup that vanishes keeps its last reading, so that a label's counters never fall, and
    is named in ``lost``. ``own_cpu_seconds`` is what sampling itself has cost.
    """

    def __init__(
        self, tree: CgroupReader, groups: Mapping[str, Sequence[str]], *, interval_seconds: float = 1.0
    ) -> None:
        self._tree = tree
        self._groups = {label: tuple(paths) for label, paths in groups.items()}
        self._interval_seconds = interval_seconds
        self._last: dict[str, tuple[float, int, float]] = {}
        self._samples: list[Sample] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="cgroup-sampler", daemon=True)
        self.lost: dict[str, str] = {}
        self.own_cpu_seconds = 0.0

    def __enter__(self) -> Sampler:
        self._sample()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()
        self._sample()

    @property
    def samples(self) -> tuple[Sample, ...]:
        return tuple(self._samples)

    def totals(self, between: tuple[float, float] | None = None) -> dict[str, Usage]:
        """Return what each label used: over all its samples, or ``between`` two Unix times (see ``usage``)."""
        return {label: usage([s for s in self._samples if s.label == label], between) for label in self._groups}

    def _loop(self) -> None:
        due = time.monotonic() + self._interval_seconds
        while not self._stop.wait(max(0.0, due - time.monotonic())):
            began = time.thread_time()
            self._sample()
            self.own_cpu_seconds += time.thread_time() - began
            # A late round is skipped, never made up for by two rounds close together.
            due = max(due + self._interval_seconds, time.monotonic())

    def _sample(self) -> None:
        for label, paths in self._groups.items():
            readings = [self._read(path) for path in paths]
            self._samples.append(
                Sample(
                    time=time.time(),
                    label=label,
                    cpu_seconds=sum(cpu for cpu, _, _ in readings),
                    memory_bytes=sum(memory for _, memory, _ in readings),
                    throttled_seconds=sum(throttled for _, _, throttled in readings),
                )
            )

    def _read(self, path: str) -> tuple[float, int, float]:
        if path in self.lost:
            return self._last.get(path, (0.0, 0, 0.0))
        try:
            reading = (
                self._tree.cpu_usage_seconds(path),
                self._tree.memory_bytes(path),
                self._tree.throttled_seconds(path),
            )
        except OSError as error:
            self.lost[path] = str(error)
            cpu, _, throttled = self._last.get(path, (0.0, 0, 0.0))
            reading = (cpu, 0, throttled)
        self._last[path] = reading
        return reading


def usage(samples: Sequence[Sample], between: tuple[float, float] | None = None) -> Usage:
    """Return the use that ``samples`` of one label, in order of time, show.

    ``between`` cuts it to a span (Unix seconds); the counters are interpolated linearly at its
    ends and held constant outside the samples. Raises ValueError without samples.
    """
    if not samples:
        raise ValueError("usage of no samples")
    began, ended = between or (samples[0].time, samples[-1].time)
    inside = [s.memory_bytes for s in samples if began <= s.time <= ended]
    if not inside:
        nearest = min(samples, key=lambda s: abs(s.time - (began + ended) / 2))
        inside = [nearest.memory_bytes]
    times = [s.time for s in samples]
    cpu = [s.cpu_seconds for s in samples]
    throttled = [s.throttled_seconds for s in samples]
    return Usage(
        seconds=ended - began,
        cpu_seconds=_at(times, cpu, ended) - _at(times, cpu, began),
        throttled_seconds=_at(times, throttled, ended) - _at(times, throttled, began),
        memory_bytes=sum(inside) / len(inside),
        memory_peak_bytes=max(inside),
    )


def _at(times: Sequence[float], values: Sequence[float], when: float) -> float:
    """Return the value at ``when``: linear between the samples, constant outside."""
    after = bisect.bisect_left(times, when)
    if after == 0:
        return values[0]
    if after == len(times):
        return values[-1]
    share = (when - times[after - 1]) / (times[after] - times[after - 1])
    return values[after - 1] + share * (values[after] - values[after - 1])
