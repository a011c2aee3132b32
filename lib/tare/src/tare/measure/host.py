"""What the whole machine does: its CPUs, what its tasks wait for, its frequency, its network."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from tare.cgroup import pressure_seconds

PROC = Path("/proc")
CPUFREQ = Path("/sys/devices/system/cpu/cpufreq")
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")

# What a machine may not have, by the field it would fill.
SOURCES = {
    "pressure_cpu_seconds": "pressure of the machine (the kernel's PSI)",
    "frequency_hertz": "CPU frequency (the kernel's cpufreq)",
    "received_bytes": "network bytes of the machine (/proc/net/dev)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSample:
    """The state of the machine at one time, which is Unix time. All but the frequency are counters since it started.

    ``busy_seconds`` is the CPU time of user, nice and system, summed over the CPUs, without interrupts (network work
    for the lab itself is done in those); ``steal_seconds`` what the hypervisor gave to others; ``own_cpu_seconds`` the
    CPU time of Tare's own process. A pressure is the time during which some task waited for the resource.
    ``frequency_hertz`` is that of the fastest CPU, for the frequency of an idle one says nothing. Bytes are those of
    all interfaces of the machine itself but the loopback; a lab's networks are not among them. None: not told here.
    """

    time: float
    busy_seconds: float
    steal_seconds: float
    own_cpu_seconds: float = 0.0
    pressure_cpu_seconds: float | None = None
    pressure_memory_seconds: float | None = None
    pressure_io_seconds: float | None = None
    frequency_hertz: float | None = None
    received_bytes: int | None = None
    sent_bytes: int | None = None


class Host:
    """Reads the machine; ``cpus`` is how many CPUs are online. Raises OSError where /proc/stat is not there."""

    def __init__(self, *, proc: Path = PROC, cpufreq: Path = CPUFREQ) -> None:
        self._proc = proc
        self._frequencies = sorted(cpufreq.glob("policy*/scaling_cur_freq"))
        self.cpus = sum(line.startswith("cpu") for line in (proc / "stat").read_text().splitlines()) - 1

    def read(self) -> HostSample:
        # proc_stat(5): cpu user nice system idle iowait irq softirq steal ...; guest time is in user's already.
        user, nice, system, _, _, _, _, steal = map(int, (self._proc / "stat").read_text().split(maxsplit=9)[1:9])
        received, sent = self._bytes() or (None, None)
        return HostSample(
            time=time.time(),
            busy_seconds=(user + nice + system) / _TICKS_PER_SECOND,
            steal_seconds=steal / _TICKS_PER_SECOND,
            own_cpu_seconds=time.process_time(),
            pressure_cpu_seconds=pressure_seconds(self._proc / "pressure" / "cpu"),
            pressure_memory_seconds=pressure_seconds(self._proc / "pressure" / "memory"),
            pressure_io_seconds=pressure_seconds(self._proc / "pressure" / "io"),
            frequency_hertz=self._fastest_hertz(),
            received_bytes=received,
            sent_bytes=sent,
        )

    def _fastest_hertz(self) -> float | None:
        kilohertz = []
        for file in self._frequencies:
            try:
                kilohertz.append(int(file.read_text()))
            except OSError:  # its CPUs went offline: they are not the fastest
                continue
        return max(kilohertz) * 1000.0 if kilohertz else None

    def _bytes(self) -> tuple[int, int] | None:
        try:
            text = (self._proc / "net" / "dev").read_text()
        except FileNotFoundError:
            return None
        found = [of_interface for name, of_interface in interface_bytes(text).items() if name != "lo"]
        return sum(received for received, _ in found), sum(sent for _, sent in found)


def interface_bytes(text: str) -> dict[str, tuple[int, int]]:
    """Return the bytes received and sent by each interface from the text of /proc/net/dev: two lines of heading, then
    ``name: received_bytes`` with seven more of the receiver, ``sent_bytes`` with seven more of the sender."""
    found = {}
    for line in text.splitlines()[2:]:
        name, _, figures = line.partition(":")
        fields = figures.split()
        found[name.strip()] = (int(fields[0]), int(fields[8]))
    return found
