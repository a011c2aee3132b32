"""What is called a disturbance: the rule on made-up machines, and on this one with a process that burns CPU."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.cgroup import CgroupTree, tree_of
from tare.measure.disturbance import disturbances, foreign_cpu_seconds, sees_the_lab
from tare.measure.host import Host, HostSample
from tare.measure.sampler import LAB, Sample, Sampler


def host(*states: tuple[float, float, float, float], hertz: tuple[float, ...] = ()) -> list[HostSample]:
    """The machine from (time, busy, steal, own), each in seconds."""
    return [
        HostSample(
            time=when,
            busy_seconds=busy,
            steal_seconds=steal,
            own_cpu_seconds=own,
            frequency_hertz=hertz[index] if hertz else None,
        )
        for index, (when, busy, steal, own) in enumerate(states)
    ]


def lab(*states: tuple[float, float]) -> list[Sample]:
    return [
        Sample(time=when, label=LAB, cpu_seconds=cpu, memory_bytes=0, throttled_seconds=0.0) for when, cpu in states
    ]


def slowing(*gigahertz: float) -> list[HostSample]:
    return host(*((float(i), 0.0, 0.0, 0.0) for i in range(len(gigahertz))), hertz=tuple(g * 1e9 for g in gigahertz))


QUIET_LAB = lab((0, 0), (10, 0))


def test_the_labs_and_tares_own_work_is_no_disturbance() -> None:
    assert disturbances(host((0, 50, 3, 1), (10, 70, 3, 2)), lab((0, 5), (10, 24)), cpus=2) == ()


def test_others_beyond_the_bound_are_told_with_figure_and_bound() -> None:
    machine = host((0, 50, 0, 1), (10, 70, 0, 2))
    assert disturbances(machine, lab((0, 5), (10, 22)), cpus=2) == (
        "others than the lab took 10.0% of the 2 CPUs over 10.0 s, more than 5.0%: stop what else runs on this machine",
    )
    assert disturbances(machine, lab((0, 5), (10, 22)), cpus=2, limit=0.11) == ()
    assert disturbances(machine, lab((0, 5), (10, 22)), cpus=4) == ()


def test_the_hypervisor_is_told_and_is_foreign() -> None:
    told = disturbances(host((0, 0, 0, 0), (10, 0, 3, 0)), QUIET_LAB, cpus=1)
    assert told == (
        "others than the lab took 30.0% of the CPU over 10.0 s, more than 5.0%: stop what else runs on this machine",
        "the hypervisor took 30.0% of the CPU over 10.0 s, more than 5.0%: measure on a machine that is not shared",
    )


def test_only_the_span_counts() -> None:
    machine = host((0, 0, 0, 0), (10, 10, 0, 0), (20, 10, 0, 0))
    still = lab((0, 0), (20, 0))
    assert disturbances(machine, still, cpus=1, between=(10, 20)) == ()
    assert len(disturbances(machine, still, cpus=1, between=(5, 15))) == 1


def test_a_slower_clock_is_told_and_one_odd_reading_in_twenty_is_not() -> None:
    assert disturbances(slowing(3.0, 3.0, 2.71, 3.0), QUIET_LAB, cpus=1) == ()
    assert disturbances(slowing(*[3.0] * 19, 1.2), QUIET_LAB, cpus=1) == ()
    assert disturbances(slowing(3.0, 3.0, 2.6, 2.5), QUIET_LAB, cpus=1) == (
        "the CPU frequency was more than 10% below its highest of 3.00 GHz in 2 of 4 samples, down to 2.50 GHz: "
        "fix the frequency, or cool it",
    )


def test_of_too_little_nothing_is_said() -> None:
    assert disturbances([], [], cpus=1) == ()
    assert disturbances(host((0, 9, 9, 0)), lab((0, 0)), cpus=1) == ()
    assert disturbances(host((0, 0, 0, 0), (1, 9, 9, 0)), lab((0, 0)), cpus=1, between=(1, 1)) == ()


def test_a_machine_whose_figures_lack_the_lab() -> None:
    assert sees_the_lab(host((0, 0, 0, 0), (10, 10, 0, 0)), lab((0, 0), (10, 11)))
    assert not sees_the_lab(host((0, 0, 0, 0), (10, 1, 0, 0)), lab((0, 0), (10, 11)))


seconds = st.floats(0, 1e6)
rises = st.floats(0, 100)


@given(seconds, rises, rises, rises, rises)
def test_foreign_time_is_never_negative_nor_more_than_the_whole(
    since: float, busy: float, steal: float, own: float, used: float
) -> None:
    machine = host((0, since, since, since), (10, since + busy, since + steal, since + own))
    foreign = foreign_cpu_seconds(machine, lab((0, since), (10, since + used)), (0, 10))
    assert 0 <= foreign <= busy + steal + 1e-6


@given(rises, rises, rises, rises, rises)
def test_more_of_others_is_never_less_foreign_and_more_of_the_lab_never_more(
    busy: float, steal: float, own: float, used: float, more: float
) -> None:
    def foreign(busy: float, steal: float, own: float, used: float) -> float:
        return foreign_cpu_seconds(host((0, 0, 0, 0), (10, busy, steal, own)), lab((0, 0), (10, used)), (0, 10))

    plain = foreign(busy, steal, own, used)
    assert foreign(busy + more, steal, own, used) >= plain
    assert foreign(busy, steal + more, own, used) >= plain
    assert foreign(busy, steal, own + more, used) <= plain
    assert foreign(busy, steal, own, used + more) <= plain


@given(rises, rises, rises, st.floats(0.01, 1), st.floats(0, 1), st.integers(1, 64))
def test_a_wider_bound_never_tells_more(
    busy: float, steal: float, used: float, limit: float, wider: float, cpus: int
) -> None:
    machine, whole = host((0, 0, 0, 0), (10, busy, steal, 0)), lab((0, 0), (10, used))
    told = disturbances(machine, whole, cpus=cpus, limit=limit)
    assert len(disturbances(machine, whole, cpus=cpus, limit=limit + wider)) <= len(told)


@pytest.fixture
def tree() -> Iterator[CgroupTree]:
    tree = tree_of(f"pytest-disturbance-{os.getpid()}")
    tree.make("busy")
    yield tree
    tree.kill()
    tree.remove()


@pytest.mark.skipif(os.geteuid() != 0, reason="cgroups are root's to change")
def test_a_process_is_foreign_to_the_labs_it_is_not_in(tree: CgroupTree) -> None:
    """Two labs over the same seconds, one with the process and one without: whatever else runs here, runs for both."""
    other = tree_of(f"{Path(tree.name).name}-other")
    other.make("")
    try:
        with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
            for directory in tree.directories("busy"):
                (directory / "cgroup.procs").write_text(str(process.pid))
            with (
                Sampler(tree, {}, interval_seconds=0.25) as its_own,
                Sampler(other, {}, interval_seconds=0.25) as others,
            ):
                wait_until_burnt(tree, 1.5)
            process.kill()
    finally:
        other.remove()
    # The seconds that both have seen: on a busy machine one begins and ends well after the other.
    span = (others.host_samples[0].time, others.host_samples[-1].time)
    foreign, with_it = (foreign_cpu_seconds(s.host_samples, s.samples, span) for s in (its_own, others))
    # 1.5 s less what ticks, and the time between reading the machine and the cgroup, can make of it.
    assert with_it - foreign > 1.0
    # A bound between the two: the lab of the process is undisturbed, the other one is not.
    bound = (foreign + with_it) / 2 / ((span[1] - span[0]) * Host().cpus)
    told = [
        disturbances(s.host_samples, s.samples, cpus=Host().cpus, between=span, limit=bound) for s in (its_own, others)
    ]
    assert [bool(sentences) for sentences in told] == [False, True]


def wait_until_burnt(tree: CgroupTree, cpu_seconds: float) -> None:
    began, deadline = tree.usage("busy").cpu_seconds, time.monotonic() + 60
    while tree.usage("busy").cpu_seconds - began < cpu_seconds:
        assert time.monotonic() < deadline, "this machine is too busy to burn CPU on"
        time.sleep(0.1)
