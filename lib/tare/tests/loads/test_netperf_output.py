from __future__ import annotations

from pathlib import Path

import pytest

from tare.loads.netperf_output import rounds, version
from tare.loads.output_error import OutputError

DATA = Path(__file__).parents[1] / "data" / "netperf"


def recorded(name: str) -> str:
    return (DATA / name).read_text()


def test_what_netperf_measured() -> None:
    found = rounds(recorded("round-trips.log"), source="round-trips.log")
    assert found.count == 35876
    assert found.seconds == pytest.approx(1.0, abs=0.001)  # as it was asked for
    assert found.percentiles == {50: 13e-6, 90: 51e-6, 99: 82e-6}
    # Its mean is of the time within each round trip, ours of all the time there was for them.
    assert found.seconds / found.count == pytest.approx(27.84e-6, rel=0.01)


def test_a_connection_that_was_cut_shows_in_the_time() -> None:
    found = rounds(recorded("connection-cut.log"), source="connection-cut.log")
    assert (found.count, round(found.seconds, 2)) == (9344, 0.82)


@pytest.mark.parametrize("name", ["nobody.log", "no-way-for-data.log"])
def test_what_it_prints_when_it_fails_is_refused(name: str) -> None:
    with pytest.raises(OutputError, match=rf"{name}.*expected lines NAME=NUMBER for LOCAL_BYTES_RECVD"):
        rounds(recorded(name), source=name)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("LOCAL_BYTES_RECVD=35876\n", "", "lines NAME=NUMBER"),
        ("P99_LATENCY=82", "P99_LATENCY=many", "lines NAME=NUMBER"),
        ("LOCAL_BYTES_RECVD=35876", "LOCAL_BYTES_RECVD=0", "at least one round trip"),
        ("TRANSACTION_RATE=35869.902", "TRANSACTION_RATE=0.000", "at least one round trip"),
        ("P50_LATENCY=13", "P50_LATENCY=-1", "at least one round trip"),
    ],
)
def test_anything_else_is_refused(before: str, after: str, expected: str) -> None:
    text = recorded("round-trips.log")
    assert before in text
    with pytest.raises(OutputError, match=f"expected {expected}"):
        rounds(text.replace(before, after), source="round-trips.log")


def test_its_version() -> None:
    assert version("Netperf version 2.7.0\n") == "2.7.0"
    with pytest.raises(OutputError, match="expected Netperf version VERSION"):
        version("netperf: not found")
