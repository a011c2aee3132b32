"""The machine's figures from files as a kernel showed them, and from this machine."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.measure.host import Host, interface_bytes

PROC = Path(__file__).parent.parent / "data" / "measure" / "proc"


def cpufreq(folder: Path, *kilohertz: int) -> Path:
    for number, figure in enumerate(kilohertz):
        (folder / f"policy{number}").mkdir(parents=True)
        (folder / f"policy{number}" / "scaling_cur_freq").write_text(f"{figure}\n")
    return folder


def test_a_recorded_machine(tmp_path: Path) -> None:
    host = Host(proc=PROC, cpufreq=cpufreq(tmp_path, 1_200_000, 3_400_000, 800_000))
    assert host.cpus == 2
    sample = host.read()
    ticks = os.sysconf("SC_CLK_TCK")
    assert sample.busy_seconds == (849792 + 62487 + 408754) / ticks  # no softirq (8408), no idle time
    assert sample.steal_seconds == 4846 / ticks
    assert sample.pressure_cpu_seconds == pytest.approx(4134.391934)
    assert sample.pressure_memory_seconds == pytest.approx(28.712069)
    assert sample.pressure_io_seconds == pytest.approx(170.186)
    assert sample.frequency_hertz == 3.4e9
    assert (sample.received_bytes, sample.sent_bytes) == (12340260646, 41449322)  # without the loopback's 5 MB


def test_what_a_machine_does_not_tell_is_none(tmp_path: Path) -> None:
    shutil.copy(PROC / "stat", tmp_path / "stat")
    sample = Host(proc=tmp_path, cpufreq=tmp_path / "none").read()
    assert (sample.pressure_cpu_seconds, sample.pressure_memory_seconds, sample.pressure_io_seconds) == (None,) * 3
    assert (sample.frequency_hertz, sample.received_bytes, sample.sent_bytes) == (None, None, None)


def test_a_frequency_whose_cpus_went_offline_is_left_out(tmp_path: Path) -> None:
    host = Host(proc=PROC, cpufreq=cpufreq(tmp_path, 1_200_000, 3_400_000))
    shutil.rmtree(tmp_path / "policy1")
    assert host.read().frequency_hertz == 1.2e9


def test_without_proc_stat_there_is_no_host(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="stat"):
        Host(proc=tmp_path)


def test_this_machine() -> None:
    host = Host()
    assert host.cpus == os.sysconf("SC_NPROCESSORS_ONLN")
    before = host.read()
    until = time.process_time() + 0.3
    while time.process_time() < until:
        pass
    after = host.read()
    assert after.own_cpu_seconds - before.own_cpu_seconds >= 0.3
    # Counted by ticks, which may miss one at either end.
    assert after.busy_seconds - before.busy_seconds >= 0.3 - 0.1
    assert after.busy_seconds - before.busy_seconds <= host.cpus * (after.time - before.time) + 0.1
    assert after.steal_seconds >= before.steal_seconds


names = st.from_regex(r"[a-z][a-z0-9]{0,14}", fullmatch=True)
figures = st.integers(0, 2**64 - 1)


@given(st.dictionaries(names, st.tuples(figures, figures)))
def test_interfaces_as_the_kernel_writes_them(interfaces: dict[str, tuple[int, int]]) -> None:
    # seq_printf("%6s: %7llu ...") as in net/core/net-procfs.c: a long figure touches the colon.
    heading = "Inter-|   Receive  |  Transmit\n face |bytes packets\n"
    lines = [
        f"{name:>6}:{received:>8} 1 2 3 4 5 6 7 {sent:>8} 8 9 10 11 12 13 14\n"
        for name, (received, sent) in interfaces.items()
    ]
    assert interface_bytes(heading + "".join(lines)) == interfaces
