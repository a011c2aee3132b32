"""Reads what netperf prints of a TCP_RR test, by the selectors that it is asked for. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tare.loads.output_error import OutputError

# In netperf's words. A byte received is a round trip: each way is one byte. Latencies are in microseconds.
_COUNT, _RATE = "LOCAL_BYTES_RECVD", "TRANSACTION_RATE"
_PERCENTILES = {50: "P50_LATENCY", 90: "P90_LATENCY", 99: "P99_LATENCY"}
# The others are kept in the log for whoever reads it.
SELECTORS = (
    *(_COUNT, _RATE, *_PERCENTILES.values(), "MIN_LATENCY", "MAX_LATENCY", "MEAN_LATENCY", "STDDEV_LATENCY"),
    *("ELAPSED_TIME", "REQUEST_SIZE", "RESPONSE_SIZE", "COMMAND_LINE"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounds:
    """``count`` round trips made one after the other in ``seconds``; ``percentiles`` (percent -> seconds) are whole
    microseconds."""

    count: int
    seconds: float
    percentiles: dict[int, float]


def rounds(text: str, *, source: str) -> Rounds:
    """Return what a test measured. Raises OutputError, which names ``source``, for anything but lines NAME=VALUE with
    the selectors, and for a test without a round trip."""
    found = dict(line.split("=", 1) for line in text.splitlines() if re.match("[A-Z0-9_]+=", line))
    try:
        count, rate = int(found[_COUNT]), float(found[_RATE])
        percentiles = {percent: float(found[name]) / 1e6 for percent, name in _PERCENTILES.items()}
    except (KeyError, ValueError):
        expected = f"lines NAME=NUMBER for {_COUNT}, {_RATE}, {', '.join(_PERCENTILES.values())}"
        raise OutputError(source, 1, expected, text[-200:]) from None
    if count <= 0 or rate <= 0 or min(percentiles.values()) <= 0:
        raise OutputError(source, 1, "at least one round trip", text[-200:])
    return Rounds(count=count, seconds=count / rate, percentiles=percentiles)


def version(text: str) -> str:
    """Return the version in what ``netperf -V`` prints. Raises OutputError."""
    found = re.fullmatch(r"Netperf version (\S+)\s*", text)
    if found is None:
        raise OutputError("netperf -V", 1, "Netperf version VERSION", text[:200])
    return found[1]
