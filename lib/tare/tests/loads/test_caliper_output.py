"""The parsers, on output of Caliper 0.6.0 recorded from a network that served, one that was overloaded (shortened to
a sample of its transactions), and one that was not there."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.loads import caliper_output as output
from tare.loads.output_error import OutputError

DATA = Path(__file__).parents[1] / "data" / "caliper"


def recorded(case: str) -> list[output.Transaction]:
    files = sorted((DATA / case).glob("transactions-1-*.csv"))
    return [row for file in files for row in output.transactions(file.read_text(), source=file.name)]


def log(case: str) -> str:
    return (DATA / case / "caliper.log").read_text()


def transaction(created_ms: int, latency_ms: int, *, succeeded: bool = True) -> output.Transaction:
    return output.Transaction(
        id=f"{created_ms}",
        created_at=created_ms / 1000,
        finished_at=(created_ms + latency_ms) / 1000,
        succeeded=succeeded,
    )


@pytest.mark.parametrize("case", ["served", "refused"])
def test_raw_samples_and_calipers_own_table_agree(case: str) -> None:
    figures = output.figures(recorded(case))
    row = output.table(log(case), source="caliper.log")["measured"]
    assert (figures.succeeded, figures.failed) == (row.succeeded, row.failed)
    sent = figures.succeeded + figures.failed
    assert sent / (figures.last_sent_at - figures.began_at) == pytest.approx(row.send_rate, abs=0.06)
    assert sent / figures.duration_seconds == pytest.approx(row.throughput, abs=0.06)
    if figures.succeeded:
        mean = math.fsum(figures.latencies_seconds) / figures.succeeded
        assert row.latency_mean_seconds == pytest.approx(mean, abs=0.006)
        assert row.latency_maximum_seconds == pytest.approx(max(figures.latencies_seconds), abs=0.006)
        assert row.latency_minimum_seconds == pytest.approx(min(figures.latencies_seconds), abs=0.006)
    else:
        assert row.latency_mean_seconds is None


def test_the_table_has_every_round_once() -> None:
    assert list(output.table(log("served"), source="caliper.log")) == ["warm-up", "measured"]


def test_every_recorded_failure_is_explained() -> None:
    counts = output.count_failures(recorded("refused"), output.failure_classes(log("refused")))
    assert counts == {"EndorseError UNAVAILABLE": 62}


def test_refusals_of_an_overloaded_gateway_are_told_from_one_another_by_where_they_happened() -> None:
    counts = output.count_failures(recorded("overloaded"), output.failure_classes(log("overloaded")))
    assert counts == {
        "EndorseError: too many requests": 6,
        "SubmitError: too many requests": 6,
        "CommitStatusError: too many requests": 6,
    }
    row = output.table(log("overloaded"), source="caliper.log")["measured"]
    assert (row.succeeded, row.failed) == (1207, 793)


def test_no_failure_is_found_where_there_was_none() -> None:
    assert output.failure_classes(log("served")) == {}
    assert output.round_errors(log("served")) == []


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("GatewayError: 8 RESOURCE_EXHAUSTED: too many requests", "GatewayError RESOURCE_EXHAUSTED"),
        ("CommitStatusError: 4 DEADLINE_EXCEEDED: Deadline exceeded", "CommitStatusError DEADLINE_EXCEEDED"),
        ("Error: Failed to submit trasaction with status code: 11", "not committed, validation code 11"),
        ("TypeError: x is undefined", "TypeError: x is undefined"),
    ],
)
def test_class_of_a_failure(error: str, expected: str) -> None:
    line = (
        f"Failed to perform submit transaction [CreateAsset] using arguments [a.1.0.7,blue,20],  with error: {error}\n"
    )
    assert output.failure_classes(f"\x1b[31merror\x1b[39m {line}") == {"a.1.0.7": expected}


def test_a_failure_without_a_line_in_the_log_is_counted_all_the_same() -> None:
    assert output.count_failures([transaction(0, 5, succeeded=False)], {}) == {output.UNEXPLAINED: 1}


def test_a_round_that_caliper_gave_up_is_told() -> None:
    text = "error [caliper] [round-orchestrator] \tFailed round 2 (measured): Error: no contract\n    at x\n"
    assert output.round_errors(text) == ["Error: no contract"]


def test_a_foreign_file_is_refused() -> None:
    with pytest.raises(OutputError, match=r"^t.csv:1: expected 'id,created_ms.*found 'hello'$"):
        output.transactions("hello\n", source="t.csv")


def test_a_truncated_line_is_refused_with_its_number() -> None:
    text = "id,created_ms,finished_ms,status\na,1,2,success\nb,3"
    with pytest.raises(OutputError, match=r"^t.csv:3: expected id, two times .*, found 'b,3'$"):
        output.transactions(text, source="t.csv")


@pytest.mark.parametrize("row", ["| measured | 1 | 2 |", "| measured | x | 0 | 1 | 1 | 1 | 1 | 1 |"])
def test_a_table_row_that_is_none_is_refused(row: str) -> None:
    with pytest.raises(OutputError, match=r"^caliper.log:2: expected (8 cells|numbers)"):
        output.table(f"noise\n{row}\n", source="caliper.log")


def test_figures_of_nothing() -> None:
    with pytest.raises(ValueError, match="no transaction was sent"):
        output.figures([])


def worker(case: str, number: int) -> list[output.Transaction]:
    file = DATA / case / f"transactions-1-{number}.csv"
    return output.transactions(file.read_text(), source=file.name)


@pytest.mark.parametrize(
    ("case", "rate", "seconds", "late"),
    [("served", 25, 8, (19, 20)), ("refused", 20, 3, (0, 0))],
)
def test_late_transactions_of_the_recorded_workers(
    case: str, rate: float, seconds: float, late: tuple[int, int]
) -> None:
    found = [output.late(worker(case, number), rate=rate / 2, duration_seconds=seconds) for number in (0, 1)]
    assert tuple(found) == late


def test_an_even_worker_sends_nothing_late_and_one_that_paused_what_was_due_meanwhile() -> None:
    even = [transaction(number * 100, 5) for number in range(21)]
    assert output.late(even, rate=10, duration_seconds=2) == 0
    # A pause of 0.45 s from the eleventh on; the client then sends as fast as it can, 10 ms each.
    paused = [transaction(max(number * 100, 1450 + (number - 11) * 10), 5) for number in range(11, 21)]
    assert output.late(even[:11] + paused, rate=10, duration_seconds=2) == 3


def test_transactions_that_were_due_and_not_sent_are_late_too() -> None:
    assert output.late([transaction(number * 100, 5) for number in range(15)], rate=10, duration_seconds=2) == 5
    assert output.late([], rate=10, duration_seconds=2) == 20


def test_successes_are_counted_by_the_second_while_it_was_sending() -> None:
    sent = [transaction(number * 250, 100, succeeded=number != 3) for number in range(9)]
    assert output.figures(sent).completed_per_second == (3, 4)
    assert sum(output.figures(recorded("served")).completed_per_second) <= 202


def test_queued_work_does_not_count_as_done_while_sending() -> None:
    # 11 sent in 1 s, the last answered after 4 s.
    sent = [transaction(number * 100, 0 if number < 10 else 3000) for number in range(11)]
    figures = output.figures(sent)
    assert figures.sent_rate == pytest.approx(10)
    assert figures.goodput == pytest.approx(11 / 4)


transactions = st.lists(
    st.builds(transaction, st.integers(0, 10**6), st.integers(0, 10**5), succeeded=st.booleans()), min_size=1
)


@given(transactions)
def test_figures_hold_for_any_round(sent: list[output.Transaction]) -> None:
    figures = output.figures(sent)
    assert figures.succeeded + figures.failed == len(sent)
    assert len(figures.latencies_seconds) == figures.succeeded
    assert all(latency >= 0 for latency in figures.latencies_seconds)
    assert figures.began_at <= figures.last_sent_at <= figures.ended_at
    assert figures.goodput * figures.duration_seconds == pytest.approx(
        figures.succeeded if figures.duration_seconds else 0
    )


@given(transactions)
def test_the_order_of_the_workers_files_does_not_matter(sent: list[output.Transaction]) -> None:
    forward, backward = output.figures(sent), output.figures(sent[::-1])
    assert sorted(forward.latencies_seconds) == sorted(backward.latencies_seconds)
    assert (forward.sent_rate, forward.goodput) == (backward.sent_rate, backward.goodput)


@given(st.lists(st.tuples(st.integers(0, 2**48), st.integers(0, 2**48), st.sampled_from(["success", "failed"]))))
def test_what_the_workload_writes_is_read_back(rows: list[tuple[int, int, str]]) -> None:
    lines = [f"id{number},{created},{finished},{status}" for number, (created, finished, status) in enumerate(rows)]
    text = "\n".join(["id,created_ms,finished_ms,status", *lines]) + "\n"
    read = output.transactions(text, source="t.csv")
    assert [(round(t.created_at * 1000), round(t.finished_at * 1000), t.succeeded) for t in read] == [
        (created, finished, status == "success") for created, finished, status in rows
    ]
