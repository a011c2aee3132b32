from __future__ import annotations

import pytest

from tare.measure.sampler import Usage
from tare.trials.trial import resource_metrics

USAGES = {
    "peer": Usage(seconds=10.0, cpu_seconds=3.0, throttled_seconds=0.0, memory_bytes=1e8, memory_peak_bytes=2 * 10**8),
    "orderer": Usage(seconds=10.0, cpu_seconds=1.0, throttled_seconds=0.0, memory_bytes=5e7, memory_peak_bytes=10**8),
}


def test_metrics_are_in_base_units() -> None:
    assert resource_metrics(USAGES, succeeded=4) == {
        "cpu_peer": pytest.approx(0.3),
        "cpu_orderer": pytest.approx(0.1),
        "memory_peer": 1e8,
        "memory_orderer": 5e7,
        "cpu_total": pytest.approx(0.4),
        "cpu_per_request": 1.0,
        "cpu_per_request_peer": 0.75,
        "cpu_per_request_orderer": 0.25,
    }


def test_without_a_success_there_is_no_cpu_time_per_request() -> None:
    assert "cpu_per_request" not in resource_metrics(USAGES, succeeded=0)


def test_a_service_without_pods_used_nothing_that_is_known() -> None:
    assert resource_metrics({}, succeeded=4) == {}
