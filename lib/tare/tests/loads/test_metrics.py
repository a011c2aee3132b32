from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tare.loads import metrics
from tare.stats.histogram import Histogram


@pytest.mark.parametrize(("succeeded", "failed", "share"), [(3, 1, 0.25), (3, 0, 0.0), (0, 2, 1.0), (0, 0, 1.0)])
def test_the_share_that_failed_is_all_where_nothing_was_done(succeeded: int, failed: int, share: float) -> None:
    assert metrics.failure_share(succeeded=succeeded, failed=failed) == share


def test_single_latencies_give_nearest_rank_percentiles() -> None:
    found = metrics.latencies((0.4, 0.1, 0.3, 0.2), (50, 95, 99.9))
    assert found == {
        "latency_mean": pytest.approx(0.25),
        "latency_p50": 0.2,
        "latency_p95": 0.4,
        "latency_p999": 0.4,
    }


@pytest.mark.parametrize("nothing", [None, ()])
def test_without_latencies_there_is_no_metric_of_them(nothing: tuple[float, ...] | None) -> None:
    assert metrics.latencies(nothing, (50, 99)) == {}


@settings(deadline=None)  # the first histogram imports numpy
@given(st.lists(st.floats(min_value=0.001, max_value=60), min_size=1, max_size=200))
def test_a_histogram_and_its_latencies_agree_within_a_rank(values: list[float]) -> None:
    ordered = sorted(values)
    binned = metrics.latencies(Histogram.of(values), (50, 90, 99))
    assert binned["latency_mean"] == pytest.approx(sum(values) / len(values), rel=0.002)
    for percent in (50, 90, 99):
        rank = math.ceil(percent / 100 * len(ordered))
        neighbours = ordered[max(rank - 2, 0)], ordered[rank - 1]
        assert neighbours[0] * 0.998 <= binned[f"latency_p{percent}"] <= neighbours[1] * 1.002


def test_percentile_by_nearest_rank() -> None:
    values = [float(number) for number in range(1, 11)]
    assert [metrics.percentile(values, percent) for percent in (0, 10, 11, 50, 95, 100)] == [1, 1, 2, 5, 10, 10]
    with pytest.raises(ValueError, match="no values"):
        metrics.percentile([], 50)


def test_only_whole_seconds_are_counted() -> None:
    times = [9.9, 10.0, 10.5, 10.99, 12.0, 12.5, 13.2, 14.0]
    assert metrics.per_second(times, began_at=10.0, ended_at=13.5) == (3, 0, 2)
    assert metrics.per_second(times, began_at=10.0, ended_at=10.5) == ()
