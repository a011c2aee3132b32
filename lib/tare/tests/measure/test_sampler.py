from __future__ import annotations

import time
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.measure.sampler import Sample, Sampler, usage


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

    def __init__(self, readings: Mapping[str, int]) -> None:
        self.left = dict(readings)
        self.read = dict.fromkeys(readings, 0)

    def cpu_usage_seconds(self, path: str) -> float:
        if self.left[path] == 0:
            raise FileNotFoundError(path)
        self.left[path] -= 1
        self.read[path] += 1
        return float(self.read[path])

    def throttled_seconds(self, path: str) -> float:
        return 0.0

    def memory_bytes(self, path: str) -> int:
        return 100


def test_samples_at_both_ends_and_in_between() -> None:
    with Sampler(Tree({"a": 99, "b": 99}), {"peer": ["a", "b"]}, interval_seconds=0.01) as sampler:
        time.sleep(0.1)
    assert len(sampler.samples) >= 4
    assert sampler.samples[0].cpu_seconds == 2
    assert sampler.samples[0].memory_bytes == 200
    assert sampler.totals()["peer"].cpu_seconds == 2 * (len(sampler.samples) - 1)
    assert 0 < sampler.own_cpu_seconds < 0.1


def test_a_cgroup_that_vanishes_keeps_its_counter_and_is_named() -> None:
    with Sampler(Tree({"a": 99, "b": 1}), {"peer": ["a", "b"]}, interval_seconds=60) as sampler:
        pass
    first, last = sampler.samples
    assert (first.cpu_seconds, last.cpu_seconds) == (2, 3)
    assert last.memory_bytes == 100
    assert list(sampler.lost) == ["b"]
