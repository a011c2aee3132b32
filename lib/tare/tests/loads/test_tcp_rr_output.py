from __future__ import annotations

from pathlib import Path

import pytest

from tare.loads.output_error import OutputError
from tare.loads.tcp_rr_output import round_trips

DATA = Path(__file__).parents[1] / "data" / "tcp_rr"


def test_what_tcp_rr_printed() -> None:
    found = round_trips((DATA / "round-trips.json").read_text(), source="round-trips.json")
    assert (found.count, found.seconds) == (10888, 0.200003822)
    assert sum(count for _, count in found.times) == found.count
    assert found.times[0] == (13.823e-6, 1)
    # One after the other: their sum is the time it took, but for the buckets' width.
    assert sum(time * count for time, count in found.times) == pytest.approx(found.seconds, rel=1 / 64)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tcp-rr: connection refused",
        "{}",
        '{"transactions": 0, "seconds": 1, "histogram": []}',
        '{"transactions": 3, "seconds": 1, "histogram": [[5, 2]]}',
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(OutputError, match=r"round-trips\.json"):
        round_trips(text, source="round-trips.json")
