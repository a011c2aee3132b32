from __future__ import annotations

import dataclasses

import pytest

from tare.loads import LoadResult
from tare.measure.sampler import Usage
from tare.trials.trial import metrics, percentile

RESULT = LoadResult(
    offered_rate=50.0,
    sent_rate=49.0,
    goodput=40.0,
    succeeded=4,
    failed=1,
    duration_seconds=10.0,
    began_at=100.0,
    ended_at=110.0,
    latencies_seconds=(0.4, 0.1, 0.3, 0.2),
    failures={"timeout": 1},
    generator_cpu_cores=0.5,
    client_bound=False,
)

USAGES = {
    "peer": Usage(seconds=10.0, cpu_seconds=3.0, throttled_seconds=0.0, memory_bytes=1e8, memory_peak_bytes=2 * 10**8),
    "orderer": Usage(seconds=10.0, cpu_seconds=1.0, throttled_seconds=0.0, memory_bytes=5e7, memory_peak_bytes=10**8),
}


def test_metrics_are_in_base_units() -> None:
    found = metrics(RESULT, USAGES)
    assert found == {
        "sent_rate": 49.0,
        "goodput": 40.0,
        "failures": 0.2,
        "client_cpu": 0.5,
        "latency_mean": pytest.approx(0.25),
        "latency_p50": 0.2,
        "latency_p95": 0.4,
        "latency_p99": 0.4,
        "cpu_peer": pytest.approx(0.3),
        "cpu_orderer": pytest.approx(0.1),
        "memory_peer": 1e8,
        "memory_orderer": 5e7,
        "cpu_total": pytest.approx(0.4),
        "cpu_per_transaction": 1.0,
    }


def test_a_load_without_a_success_is_a_trial_with_failures() -> None:
    failed = dataclasses.replace(RESULT, succeeded=0, failed=5, goodput=0.0, latencies_seconds=())
    found = metrics(failed, USAGES)
    assert (found["failures"], found["goodput"]) == (1.0, 0.0)
    assert not {"latency_mean", "latency_p50", "cpu_per_transaction"} & found.keys()


def test_a_load_that_sent_nothing_failed_whole() -> None:
    assert metrics(dataclasses.replace(RESULT, succeeded=0, failed=0, latencies_seconds=()), {})["failures"] == 1.0


def test_percentiles_are_of_nearest_rank() -> None:
    ordered = [float(value) for value in range(1, 101)]
    assert [percentile(ordered, percent) for percent in (0, 50, 95, 99, 100)] == [1, 50, 95, 99, 100]
    with pytest.raises(ValueError, match="no values"):
        percentile([], 50)
