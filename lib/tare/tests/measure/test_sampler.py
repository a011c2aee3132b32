from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.cgroup import CgroupUsage
from tare.measure.host import Host
from tare.measure.sampler import LAB, Sample, Sampler, usage

PROC = Path(__file__).parent.parent / "data" / "measure" / "proc"


def samples(*states: tuple[float, float, int]) -> list[Sample]:
    """Samples of one label from (time, CPU seconds, memory bytes)."""
    return [
        Sample(time=when, label="peer", cpu_seconds=cpu, memory_bytes=memory, throttled_seconds=cpu / 2)
        for when, cpu, memory in states
    ]


def test_the_ends_of_a_span_are_interpolated() -> None:
    used = usage(samples((0, 0, 10), (1, 1, 20), (2, 3, 60)), (0.5, 1.5))
    assert used.cpu_seconds == pytest.approx(1.5)
    assert used.cpu_cores == pytest.approx(1.5)
    assert used.throttled_seconds == pytest.approx(0.75)
    assert (used.memory_bytes, used.memory_peak_bytes) == (20, 20)


def test_without_a_span_all_samples_count() -> None:
    used = usage(samples((10, 5, 10), (14, 7, 30)))
    assert (used.seconds, used.cpu_seconds, used.cpu_cores) == (4, 2, 0.5)
    assert (used.memory_bytes, used.memory_peak_bytes) == (20, 30)


def test_outside_the_samples_the_counters_stand_still() -> None:
    assert usage(samples((0, 0, 1), (1, 1, 1)), (-5, 5)).cpu_seconds == 1


def test_no_samples() -> None:
    with pytest.raises(ValueError, match="usage of no samples"):
        usage([])


def test_what_is_not_told_in_one_sample_has_no_rise() -> None:
    def sample(when: float, received: int | None) -> Sample:
        return Sample(
            time=when,
            label="peer",
            cpu_seconds=0.0,
            memory_bytes=1,
            throttled_seconds=0.0,
            received_bytes=received,
            sent_bytes=int(when),
        )

    used = usage([sample(0, 10), sample(2, None)])
    assert (used.received_bytes, used.sent_bytes, used.pressure_io_seconds) == (None, 2, None)
    assert usage([sample(0, 10), sample(2, 50)], (0.5, 1.0)).received_bytes == pytest.approx(10)


rising = st.lists(st.tuples(st.integers(1, 100), st.integers(0, 100)), min_size=2, max_size=20)


@given(rising, st.floats(0, 1), st.floats(0, 1))
def test_adjoining_spans_add_up(steps: list[tuple[int, int]], first: float, second: float) -> None:
    states, when, cpu = [], 0.0, 0.0
    for seconds, used in steps:
        when, cpu = when + seconds, cpu + used
        states.append((when, cpu, 1))
    begin, end = states[0][0], states[-1][0]
    low, high = sorted(begin + share * (end - begin) for share in (first, second))
    parts = [usage(samples(*states), span).cpu_seconds for span in ((begin, low), (low, high), (high, end))]
    assert sum(parts) == pytest.approx(usage(samples(*states)).cpu_seconds)
    assert all(part >= -1e-9 for part in parts)


class Tree:
    """Cgroups as the sampler reads them: counters that rise with every reading, until the cgroup is gone."""

    def __init__(self, readings: Mapping[str, int], pids: Iterable[int] = (), pressure: float | None = None) -> None:
        self.left = {"": 1 << 30, **readings}
        self.read = dict.fromkeys(self.left, 0)
        self.pids = set(pids)
        self.pressure = pressure

    def usage(self, path: str) -> CgroupUsage:
        if self.left[path] == 0:
            raise FileNotFoundError(path)
        self.left[path] -= 1
        self.read[path] += 1
        return CgroupUsage(
            cpu_seconds=float(self.read[path]),
            memory_bytes=100,
            throttled_seconds=0.0,
            periods=10 * self.read[path],
            throttled_periods=self.read[path],
            pressure_cpu_seconds=self.pressure,
        )

    def processes(self, path: str) -> set[int]:
        return self.pids


def test_samples_at_both_ends_and_in_between() -> None:
    with Sampler(Tree({"a": 99, "b": 99}), {"peer": ["a", "b"]}, interval_seconds=0.01) as sampler:
        time.sleep(0.1)
    of_peer = [sample for sample in sampler.samples if sample.label == "peer"]
    assert len(of_peer) >= 4
    assert len(sampler.host_samples) == len(of_peer)
    assert of_peer[0].cpu_seconds == 2
    assert of_peer[0].memory_bytes == 200
    used = sampler.totals()["peer"]
    assert used.cpu_seconds == 2 * (len(of_peer) - 1)
    assert (used.periods, used.throttled_periods) == (20 * (len(of_peer) - 1), 2 * (len(of_peer) - 1))
    assert 0 < sum(sampler.pass_cpu_seconds) < 0.1


def test_the_whole_lab_is_sampled_besides_and_is_no_label_of_the_totals() -> None:
    with Sampler(Tree({"a": 99}), {"peer": ["a"]}, interval_seconds=60) as sampler:
        pass
    assert [sample.label for sample in sampler.samples] == [LAB, "peer"] * 2
    assert list(sampler.totals()) == ["peer"]


def test_a_cgroup_that_vanishes_keeps_its_counter_and_is_named() -> None:
    with Sampler(Tree({"a": 99, "b": 1}), {"peer": ["a", "b"]}, interval_seconds=60) as sampler:
        pass
    first, last = (sample for sample in sampler.samples if sample.label == "peer")
    assert (first.cpu_seconds, last.cpu_seconds) == (2, 3)
    assert last.memory_bytes == 100
    assert list(sampler.lost) == ["b"]


def test_a_fault_of_the_thread_is_raised_on_leaving() -> None:
    class Faulty(Tree):
        def usage(self, path: str) -> CgroupUsage:
            if self.read[path] == 1:
                raise ValueError("no number")
            return super().usage(path)

    with (
        pytest.raises(ValueError, match="no number"),
        Sampler(Faulty({"a": 99}), {"peer": ["a"]}, interval_seconds=0.01),
    ):
        time.sleep(0.05)


def test_what_is_absent_is_named_once_each(tmp_path: Path) -> None:
    (tmp_path / "stat").write_text("cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\nintr 0\n")
    bare = Host(proc=tmp_path, cpufreq=tmp_path)
    with Sampler(Tree({"a": 99}), {"peer": ["a"]}, host=bare, interval_seconds=0.01) as sampler:
        time.sleep(0.05)
    assert [phrase.partition(" (")[0] for phrase in sampler.absent] == [
        "pressure of the machine",
        "CPU frequency",
        "network bytes of the machine",
        "pressure of cgroups",
        "network bytes of cgroups",
        "CPU time of others",
    ]
    assert sampler.totals()["peer"].pressure_cpu_seconds is None


def test_what_is_there_is_not_called_absent() -> None:
    with Sampler(Tree({"a": 99}, pressure=1.0), {"peer": ["a"]}, host=Host(proc=PROC), interval_seconds=60) as sampler:
        pass
    assert [phrase.partition(" (")[0] for phrase in sampler.absent if "pressure" in phrase] == []
    assert sampler.totals()["peer"].pressure_cpu_seconds == 0.0


def test_the_bound_is_the_samplers(tmp_path: Path) -> None:
    """The same machine, judged by two bounds: of a second in which nobody but others ran on its one CPU."""
    stat = tmp_path / "stat"
    stat.write_text("cpu  100 0 0 0 0 0 0 0 0 0\ncpu0 100 0 0 0 0 0 0 0 0 0\nintr 0\n")
    host = Host(proc=tmp_path, cpufreq=tmp_path)
    for limit, found in ((100.0, 0), (0.05, 1)):
        with Sampler(Tree({}), {}, host=host, interval_seconds=60, limit=limit) as sampler:
            time.sleep(0.1)
            stat.write_text(stat.read_text().replace("cpu  1", "cpu  9"))
        assert len(sampler.disturbances()) == found
        stat.write_text(stat.read_text().replace("cpu  9", "cpu  1"))
