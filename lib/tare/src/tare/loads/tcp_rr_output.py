"""Reads what tcp-rr prints: the round trips of single bytes, as a histogram. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass

from tare.loads.output_error import OutputError


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundTrips:
    """Round trips made one after the other in ``seconds``; ``times`` are (seconds, count), ascending, each time at most
    1/128 above the true one."""

    seconds: float
    count: int
    times: tuple[tuple[float, int], ...]


def round_trips(text: str, *, source: str) -> RoundTrips:
    """Raises OutputError, which names ``source``, for anything but what tcp-rr prints."""
    try:
        found = json.loads(text)
        times = tuple((int(bound) / 1e9, int(count)) for bound, count in found["histogram"])
        read = RoundTrips(seconds=float(found["seconds"]), count=int(found["transactions"]), times=times)
    except (ValueError, KeyError, TypeError):
        raise OutputError(source, 1, "a JSON object with transactions, seconds and histogram", text[:200]) from None
    if read.count != sum(count for _, count in times) or not read.count:
        raise OutputError(source, 1, "as many times as transactions, at least one", text[:200])
    return read
