from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.loads.output_error import OutputError
from tare.loads.vegeta_output import LATE_SECONDS, capacity, count_failures, requests

# What Vegeta 12.12.0 wrote: against a server of which each tenth answer is an error and each 25th is late, and
# against nobody.
DATA = Path(__file__).parents[1] / "data" / "vegeta"
MIXED = (DATA / "mixed.csv").read_text()


def row(number: int, sent_ns: int, took_ns: int, status: int = 200) -> str:
    return f"{sent_ns},{status},{took_ns},0,0,,,,{number},GET,http://127.0.0.1/64,"


def test_answers_errors_and_late_ones_are_told_apart() -> None:
    found = requests(MIXED, source="mixed.csv", rate=100)
    assert len(found) == 100
    assert count_failures(found) == {
        "status 503": 8,
        "context deadline exceeded (Client.Timeout exceeded while awaiting headers)": 4,
    }
    assert sum(request.failure is None for request in found) == 88
    assert [request.due_at for request in found] == sorted(request.due_at for request in found)
    assert found[-1].due_at - found[0].due_at == pytest.approx(0.99, abs=1e-6)
    assert all(request.latency_seconds >= request.took_seconds - 1e-6 for request in found)
    assert max(request.took_seconds for request in found) == pytest.approx(1.0, abs=0.05)


def test_nobody_there_is_a_failure_of_every_request() -> None:
    found = requests((DATA / "refused.csv").read_text(), source="refused.csv", rate=20)
    assert count_failures(found) == {"connection refused": 20}


def test_capacity_is_what_was_answered_with_success() -> None:
    assert capacity((DATA / "capacity.json").read_text(), source="capacity.json") > 10
    assert capacity((DATA / "nothing.json").read_text(), source="nothing.json") == 0


@given(st.lists(st.integers(min_value=0, max_value=10**9), min_size=1, max_size=50))
def test_waiting_in_the_generator_is_part_of_a_latency(delays_ns: list[int]) -> None:
    rate, took_ns, began_ns = 100, 1_000_000, 1_795_000_000_000_000_000
    text = "\n".join(
        row(number, began_ns + number * 10_000_000 + delay, took_ns) for number, delay in enumerate(delays_ns)
    )
    found = requests(text, source="made", rate=rate)
    least = min(delays_ns)
    for request, delay in zip(found, delays_ns, strict=True):
        expected = (took_ns + delay - least) / 1e9
        assert request.latency_seconds == pytest.approx(expected, abs=2e-6)  # Unix time as a float
        if abs((delay - least) / 1e9 - LATE_SECONDS) > 2e-6:
            assert request.is_late == ((delay - least) / 1e9 > LATE_SECONDS)


def test_requests_come_in_the_order_they_were_due() -> None:
    found = requests(f"{row(1, 10_000_000, 5)}\n{row(0, 0, 7)}", source="made", rate=100)
    assert [request.took_seconds for request in found] == [7e-9, 5e-9]


@pytest.mark.parametrize("text", ["1,2,3", MIXED[:-200] + "\n1,200", row(0, 0, 0).replace("200", "two hundred")])
def test_a_file_that_is_not_whole_is_refused(text: str) -> None:
    with pytest.raises(OutputError, match="12 columns of a request"):
        requests(text, source="torn.csv", rate=100)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"throughput": null}'])
def test_what_is_no_report_is_refused(text: str) -> None:
    with pytest.raises(OutputError, match="Vegeta's report"):
        capacity(text, source="report.json")
