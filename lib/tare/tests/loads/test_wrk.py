from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tare.errors import UsageError
from tare.loads import wrk, wrk_output
from tare.manifest import Wrk as WrkSpec
from tare.process import Commands

DATA = Path(__file__).parents[1] / "data" / "wrk"
SPEC = WrkSpec(
    node="client",
    threads=2,
    connections=8,
    path="/",
    keep_alive=True,
    timeout_seconds=2.0,
    program="/wrk/usr/bin/wrk",
    script="/wrk/share/wrk/report.lua",
)


@pytest.fixture
def load() -> wrk.Wrk:
    """wrk on a node that nothing is run on."""
    cluster = SimpleNamespace(nodes={"client": SimpleNamespace(cgroup="nodes/client")})
    return wrk.Wrk(cluster=cast(Any, cluster), spec=SPEC, commands=Commands())


def of(case: str, **changes: Any) -> wrk.LoadResult:
    report = wrk_output.report((DATA / case / "measured.latencies").read_text(), source=case, connections=8)
    return wrk.result(
        report, **{"connections": 8, "cpu_cores": 0.5, "bottlenecks": (), "notes": (), "raw_files": (), **changes}
    )


def test_what_the_lab_declares_is_the_default(load: wrk.Wrk) -> None:
    settled = load.options({})
    assert settled == {"threads": 2, "connections": 8, "path": "/", "keep_alive": True, "timeout": 2.0}
    assert load.option_names == settled.keys()
    assert load.options({"connections": 64.0, "keep_alive": "off", "timeout": "10 s"})["connections"] == 64


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"threads": 3}, "'connections': expected a multiple of threads (3), found 8. Write connections=9."),
        ({"threads": 16}, "'connections': expected a multiple of threads (16), found 8. Write connections=16."),
        ({"timeout": "500 ms"}, "'timeout': expected whole seconds, 1 to 60, found 0.5. Write timeout='1 s'."),
        ({"timeout": 61}, "'timeout': expected whole seconds, 1 to 60, found 61. Write timeout='60 s'."),
        (
            {"path": "1k"},
            "'path': expected a path that begins with a slash, blanks escaped, found '1k'. Write path='/1k'.",
        ),
        (
            {"path": "/a b"},
            "'path': expected a path that begins with a slash, blanks escaped, found '/a b'. Write path='/1k'.",
        ),
        ({"threads": "eight"}, "'threads': expected a whole number above 0, found 'eight'. Write threads=8."),
    ],
)
def test_options_that_wrk_would_bend_are_refused(load: wrk.Wrk, given: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        load.options(given)
    assert str(caught.value) == f"load wrk: option {message}"


def test_a_round_that_served() -> None:
    found = of("served")
    assert (found.load, found.loop, found.offered_rate, found.late) == ("wrk", "closed", None, None)
    assert (found.succeeded, found.failed, found.failures) == (25847, 0, {})
    assert found.metrics["throughput"] == pytest.approx(23456.14, abs=0.01)  # as wrk printed
    assert found.metrics["transfer"] == pytest.approx(4549072 / 1.101929)
    assert (found.metrics["failures"], found.metrics["client_cpu"]) == (0.0, 0.5)
    quantiles = [found.metrics[f"latency_{name}"] for name in ("p50", "p90", "p99", "p999")]
    assert 0 < quantiles[0] < quantiles[1] < quantiles[2] < quantiles[3] < 1
    assert found.latency is not None
    assert found.latency.count == 25847
    assert found.completed_per_second == ()
    assert found.notes == (wrk.CLOSED_LOOP, wrk.NO_COURSE)
    assert not found.client_bound


def test_a_round_with_error_statuses_says_that_its_latencies_have_them_too() -> None:
    found = of("errors")
    assert found.failures == {"status": 2213}
    assert found.metrics["failures"] == pytest.approx(2213 / 21691)
    assert found.metrics["throughput"] == pytest.approx((21691 - 2213) / 1.099756)
    assert found.notes[-1] == "latencies include those of 2213 answers with an error status"


def test_a_server_that_is_killed_is_a_figure() -> None:
    found = of("killed")
    assert found.failures == {"read": 8, "write": 1890}
    assert found.metrics["failures"] == pytest.approx(1898 / (1898 + 22254))


@pytest.mark.parametrize(("case", "failures"), [("unanswered", {"unanswered": 8}), ("noise", {"read": 4502})])
def test_without_an_answer_there_is_no_latency_and_all_has_failed(case: str, failures: dict[str, int]) -> None:
    found = of(case)
    assert found.failures == failures
    assert (found.succeeded, found.failed) == (0, sum(failures.values()))
    assert (found.metrics["throughput"], found.metrics["failures"]) == (0.0, 1.0)
    assert found.latency is None
    assert not [name for name in found.metrics if name.startswith("latency")]


def test_a_client_at_its_limit_is_told() -> None:
    found = of("served", bottlenecks=("the client used 1.99 of the 2 CPUs it can use",), notes=("more",))
    assert found.client_bound
    assert (found.notes[0], found.notes[-1]) == ("the client used 1.99 of the 2 CPUs it can use", "more")
