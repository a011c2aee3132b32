"""The parser, on output of wrk 4.1.0 recorded with packages/wrk/report.lua from tests/system/http_target.py: two
threads, eight connections, one or two seconds, a time-out of one second."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tare.loads import wrk_output as output
from tare.loads.output_error import OutputError

DATA = Path(__file__).parents[1] / "data" / "wrk"
CASES = sorted(file.parent.name for file in DATA.glob("*/measured.latencies"))
HEAD = (
    '{"schema": 1, "ended_microseconds": 9000000, "duration_microseconds": 2000000, "requests": 3, "bytes": 300, '
    '"connect": 0, "read": 0, "write": 0, "status": 0, "timeout": 0, "latencies": 2}\n'
)


def text(case: str) -> str:
    return (DATA / case / "measured.latencies").read_text()


def recorded(case: str) -> output.Report:
    return output.report(text(case), source="t", connections=8)


def printed(case: str, pattern: str) -> int:
    """Return a figure of wrk's own summary; 0 where it leaves it out."""
    found = re.search(pattern, (DATA / case / "measured.log").read_text())
    return int(found[1]) if found else 0


@pytest.mark.parametrize("case", CASES)
def test_the_file_and_wrks_own_summary_agree(case: str) -> None:
    report = recorded(case)
    assert report.responses == printed(case, r"(\d+) requests in")
    for name in (*output.SOCKET_ERRORS, "timeout"):
        assert report.errors[name] == printed(case, rf"Socket errors:.* {name} (\d+)")
    assert report.errors["status"] == printed(case, r"Non-2xx or 3xx responses: (\d+)")
    assert sum(count for _, count in report.latencies) == report.responses - report.errors["timeout"]
    assert report.ended_at - report.began_at == pytest.approx(report.duration_seconds, abs=1e-6)


def errors(**counts: int) -> dict[str, int]:
    return {"connect": 0, "read": 0, "write": 0, "status": 0, "timeout": 0} | counts


@pytest.mark.parametrize(
    ("case", "succeeded", "failed", "expected"),
    [
        ("served", 25847, 0, errors()),
        ("no-keep-alive", 2411, 0, errors()),
        ("uneven", 585, 0, errors()),
        ("errors", 21691 - 2213, 2213, errors(status=2213)),
        ("late", 70, 8, errors(timeout=8)),
        ("reset", 18378, 190, errors(read=190)),
        ("cut", 19465, 186, errors(read=186)),
        ("noise", 0, 4502, errors(read=4502)),
        ("killed", 22254, 8 + 1890, errors(read=8, write=1890)),
        ("unanswered", 0, 0, errors()),
    ],
)
def test_what_was_recorded(case: str, succeeded: int, failed: int, expected: dict[str, int]) -> None:
    report = recorded(case)
    assert (report.succeeded, report.failed, report.errors) == (succeeded, failed, expected)


def test_every_recorded_case_is_told() -> None:
    assert set(CASES) == {
        *("served", "no-keep-alive", "uneven", "errors", "late", "reset", "cut", "noise", "killed", "unanswered")
    }


def test_requests_that_wrk_invented_are_taken_out() -> None:
    report = recorded("uneven")
    written = sum(int(line.split()[1]) for line in text("uneven").splitlines()[1:])
    assert report.invented == written - 585 > 60
    # The median that wrk prints, of its corrected latencies, is far above that of the requests it sent.
    assert report.latencies[0][0] < 100
    answered = [value for value, count in report.latencies for _ in range(count)]
    assert answered[len(answered) // 2] < 5_000
    assert (DATA / "uneven" / "measured.log").read_text().count("50%") == 1


def corrected(sent: dict[int, int], expected: int) -> dict[int, int]:
    """Return what wrk makes of latencies: stats_correct of src/stats.c, 4.1.0, as report.lua can see it."""
    data, lowest, highest = dict(sent), min(sent), max(sent)
    for value in range(2 * expected, highest + 1):
        count, at = data.get(value, 0), value - expected
        while count and at > expected:
            data[at] = data.get(at, 0) + count
            at -= expected
    return {value: count for value, count in data.items() if lowest <= value <= highest}


@settings(deadline=None)
@given(
    st.dictionaries(st.integers(0, 400), st.integers(1, 9), min_size=1, max_size=40),
    st.integers(1, 450),
)
def test_the_correction_is_undone_exactly(sent: dict[int, int], expected: int) -> None:
    seen = sorted(corrected(sent, expected).items())
    found = output.uncorrected(seen, expected_microseconds=expected)
    assert {value: count for value, count in found if count} == sent


def test_nothing_is_undone_where_wrk_corrects_nothing() -> None:
    assert output.uncorrected([(1, 1), (900, 2)], expected_microseconds=0) == ((1, 1), (900, 2))


def test_a_response_that_is_late_and_an_error_is_no_success_and_no_less_than_none() -> None:
    head = HEAD.replace('"status": 0, "timeout": 0, "latencies": 2', '"status": 3, "timeout": 1, "latencies": 1')
    report = output.report(head + "40 2\n", source="t", connections=8)
    assert (report.succeeded, report.failed) == (0, 3)


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ("", r"^t:1: expected a JSON object of whole numbers: bytes, connect, .*, found ''$"),
        ("wrk 4.1.0\n", r"^t:1: expected a JSON object .*, found 'wrk 4.1.0'$"),
        ("[1]\n", r"^t:1: expected a JSON object"),
        (HEAD.replace('"read": 0, ', ""), r"^t:1: expected a JSON object"),
        (HEAD.replace('"read": 0', '"read": 0.5'), r"^t:1: expected a JSON object"),
        (HEAD.replace('"schema": 1', '"schema": 2'), r"^t:1: expected schema 1, found '2'$"),
        (HEAD + "40 2\n", r"^t:2: expected 2 lines of latencies, found '1'$"),
        (HEAD + "40 2\n50 1", r"^t:3: expected 2 lines of latencies, found '2'$"),
        (HEAD + "40 2\n50\n", r"^t:3: expected microseconds and a count, found '50'$"),
        (HEAD + "40 2\n50 -1\n", r"^t:3: expected microseconds and a count, found '50 -1'$"),
        (HEAD + "40 2\n50 2\n", r"^t:1: expected latencies of 3 responses in time, found '4'$"),
    ],
)
def test_a_file_that_is_not_whole_or_contradicts_itself_is_refused(found: str, message: str) -> None:
    with pytest.raises(OutputError, match=message):
        output.report(found, source="t", connections=8)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_recorded_file_cut_short_is_refused(share: float) -> None:
    whole = text("served")
    with pytest.raises(OutputError):
        output.report(whole[: int(share * len(whole))], source="t", connections=8)


def test_the_wrong_number_of_connections_is_noticed() -> None:
    with pytest.raises(OutputError, match="expected latencies of 585 responses in time"):
        output.report(text("uneven"), source="t", connections=64)
