"""Whether something outside the lab had a part in what a trial measured. Pure.

Three things are looked at. *Foreign CPU*: what the machine's CPUs did (user, nice, system) and what the hypervisor
took from them, less what the whole lab and Tare's own process used. Interrupts are left out, since they do the lab's
own network work. *Steal*: the hypervisor's part alone. *Frequency*: a machine that slows down while it is measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from tare.measure.counter import rise

if TYPE_CHECKING:
    from tare.measure.host import HostSample

# The share of all CPUs that others may take. The kernel counts /proc/stat by ticks (250 a second where this was
# measured): on two CPUs that alone scatters a span of two seconds by 1.6 % (standard deviation, at half load) and one
# of twenty by 0.5 %, and an idle machine's own daemons take 0.5 to 2.5 %. A build beside the lab takes 10 % and more.
LIMIT = 0.05
# How far below its highest the frequency may be, and be called the same.
SLOWER = 0.10
# By how much the lab's figure may exceed /proc/stat's: cgroups are charged for interrupts, which /proc/stat has apart.
_BLIND = 1.5
_BLIND_SECONDS = 0.2


class CpuSample(Protocol):
    """The part of a sample of the whole lab that is looked at: a counter at a Unix time."""

    @property
    def time(self) -> float: ...

    @property
    def cpu_seconds(self) -> float: ...


def disturbances(
    host: Sequence[HostSample],
    lab: Sequence[CpuSample],
    *,
    cpus: int,
    between: tuple[float, float] | None = None,
    limit: float = LIMIT,
) -> tuple[str, ...]:
    """Return a sentence for each disturbance between two Unix times (default: over all samples); empty: undisturbed.

    ``host`` and ``lab`` are in order of time, the latter of the whole lab's cgroup. ``limit`` is a share of all
    ``cpus``, for foreign CPU and for steal alike; no more than that share of the seconds may be at a frequency more
    than 10 % below the highest. Of less than two samples, or of no time, nothing is said.
    """
    between = between or _span(host)
    seconds = between[1] - between[0]
    if len(host) < 2 or not lab or seconds <= 0:
        return ()
    found = []
    foreign = foreign_cpu_seconds(host, lab, between) / (seconds * cpus)
    if foreign > limit:
        found.append(
            f"others than the lab took {foreign:.1%} of the {_cpus(cpus)} over {seconds:.1f} s, "
            f"more than {limit:.1%}: stop what else runs on this machine"
        )
    steal = max(0.0, _rise(host, "steal_seconds", between)) / (seconds * cpus)
    if steal > limit:
        found.append(
            f"the hypervisor took {steal:.1%} of the {_cpus(cpus)} over {seconds:.1f} s, "
            f"more than {limit:.1%}: measure on a machine that is not shared"
        )
    known = [(s.time, s.frequency_hertz) for s in host if s.frequency_hertz is not None]
    inside = [hertz for when, hertz in known if between[0] <= when <= between[1]]
    slow = [hertz for hertz in inside if hertz < (1 - SLOWER) * max(inside)]
    if inside and len(slow) > limit * len(inside):
        found.append(
            f"the CPU frequency was more than {SLOWER:.0%} below its highest of {max(inside) / 1e9:.2f} GHz in "
            f"{len(slow)} of {len(inside)} samples, down to {min(slow) / 1e9:.2f} GHz: fix the frequency, or cool it"
        )
    return tuple(found)


def foreign_cpu_seconds(host: Sequence[HostSample], lab: Sequence[CpuSample], between: tuple[float, float]) -> float:
    """Return the CPU time of all but the lab and Tare between two Unix times, with the hypervisor's; never negative.

    The lab's is exact and the machine's is counted by ticks, so a machine with nothing else on it may come out below
    nothing. Raises ValueError without samples.
    """
    whole = _rise(host, "busy_seconds", between) + max(0.0, _rise(host, "steal_seconds", between))
    return max(0.0, whole - _lab(lab, between) - _rise(host, "own_cpu_seconds", between))


def sees_the_lab(host: Sequence[HostSample], lab: Sequence[CpuSample]) -> bool:
    """Say whether the machine's figures contain the lab's. In some containers /proc/stat is that of the container."""
    if len(host) < 2 or not lab:
        return True
    between = _span(host)
    whole = _rise(host, "busy_seconds", between) + max(0.0, _rise(host, "steal_seconds", between))
    return _lab(lab, between) <= _BLIND * whole + _BLIND_SECONDS


def _span(samples: Sequence[HostSample]) -> tuple[float, float]:
    return (samples[0].time, samples[-1].time) if samples else (0.0, 0.0)


def _rise(host: Sequence[HostSample], name: str, between: tuple[float, float]) -> float:
    return rise([s.time for s in host], [getattr(s, name) for s in host], between)


def _lab(lab: Sequence[CpuSample], between: tuple[float, float]) -> float:
    return rise([s.time for s in lab], [s.cpu_seconds for s in lab], between)


def _cpus(count: int) -> str:
    return f"{count} CPUs" if count != 1 else "CPU"
