from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tare.errors import TareError, UsageError
from tare.loads import vegeta, vegeta_output
from tare.manifest import Vegeta as VegetaSpec
from tare.process import Commands

DATA = Path(__file__).parents[1] / "data" / "vegeta"
SPEC = VegetaSpec(program="/vegeta", connections=8, timeout_seconds=10.0)
USED = cast(Any, SimpleNamespace(cpu_cores=lambda began_at, ended_at: 0.25))
IDLE = cast(Any, SimpleNamespace(bottlenecks=lambda cpu_cores, threads: ()))


def of(case: str, rate: int, duration_seconds: float = 1.0) -> vegeta.LoadResult:
    found = vegeta_output.requests((DATA / case).read_text(), source=case, rate=rate)
    return vegeta.result(
        found,
        rate=rate,
        capacity=200.0,
        duration_seconds=duration_seconds,
        generator=IDLE,
        used=USED,
        raw_files=(),
    )


def test_its_metrics_have_names_of_their_own() -> None:
    found = of("mixed.csv", 100)
    assert (found.load, found.loop, found.offered_rate) == ("vegeta", "open", 100)
    assert (found.succeeded, found.failed) == (88, 12)
    assert all(name.startswith("paced_") for name in found.metrics)
    assert found.metrics["paced_capacity"] == 200.0
    assert found.metrics["paced_failures"] == pytest.approx(0.12)
    assert found.metrics["paced_latency_p50"] < 0.1
    assert found.metrics["paced_rate"] == pytest.approx(100, rel=0.02)
    assert found.latency is not None
    assert found.latency.count == 88
    assert vegeta.FROM_DUE in found.notes


def test_a_generator_that_cannot_keep_up_is_told() -> None:
    found = of("mixed.csv", 100, duration_seconds=2.0)
    assert found.client_bound
    assert found.late is not None
    assert found.late >= 100
    assert any("late, or never" in note for note in found.notes)


def test_where_all_fails_there_is_no_latency() -> None:
    found = of("refused.csv", 20)
    assert (found.succeeded, found.failures, found.latency) == (0, {"connection refused": 20}, None)
    assert not [name for name in found.metrics if "latency" in name]


def test_without_a_request_there_is_no_figure() -> None:
    with pytest.raises(TareError, match="sent no request in 1 s at 50 a second"):
        vegeta.result((), rate=50, capacity=1.0, duration_seconds=1.0, generator=IDLE, used=USED, raw_files=())


def test_options() -> None:
    load = vegeta.Vegeta(cluster=cast(Any, None), spec=SPEC, commands=Commands())
    assert load.options({}) == {"load_share": 0.5, "connections": 8}
    assert load.options({"load_share": 0.8, "connections": 16.0}) == {"load_share": 0.8, "connections": 16}
    with pytest.raises(UsageError, match="load vegeta: option 'load_share': 'half' is no quantity"):
        load.options({"load_share": "half"})
