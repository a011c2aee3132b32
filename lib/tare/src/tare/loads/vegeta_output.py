"""Reads what Vegeta writes: its report as JSON, and every request as CSV. Pure."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from tare.loads.output_error import OutputError

# The columns of `vegeta encode --to csv` that are read: when it was sent (Unix time, ns), the status (0 without an
# answer), how long it took (ns), the reason it failed, and its number.
_SENT, _STATUS, _TOOK, _ERROR, _NUMBER = 0, 1, 2, 5, 8
_COLUMNS = 12

# A request that was sent this much after it was due counts as late: ten times what a timer here is off by.
LATE_SECONDS = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request, times in seconds: when it was due and sent (Unix time), how long the answer took from sending it.

    ``failure`` is the reason it failed, None for a success: a status from 200 to 399.
    """

    due_at: float
    sent_at: float
    took_seconds: float
    failure: str | None

    @property
    def latency_seconds(self) -> float:
        """From when it was due, so that a generator that was held up does not flatter the service."""
        return self.sent_at - self.due_at + self.took_seconds

    @property
    def is_late(self) -> bool:
        return self.sent_at - self.due_at > LATE_SECONDS


def capacity(text: str, *, source: str) -> float:
    """Return the successes per second that a report (`vegeta report -type=json`) tells. Raises OutputError."""
    try:
        report = json.loads(text)
        return float(report["throughput"])
    except (ValueError, KeyError, TypeError):
        raise OutputError(source, 1, "Vegeta's report, a JSON object with a throughput", text[:200]) from None


def requests(text: str, *, source: str, rate: float) -> tuple[Request, ...]:
    """Return the requests of an attack at ``rate`` (per second), in the order they were due.

    The attack's beginning is not in its output: it is taken as the latest time that makes no request early. Raises
    OutputError, which names ``source`` and the line, for a file that is not whole.
    """
    rows = []
    for line, row in enumerate(csv.reader(text.splitlines()), start=1):
        try:
            if len(row) != _COLUMNS:
                raise ValueError
            number, sent_at, took = int(row[_NUMBER]), int(row[_SENT]) / 1e9, int(row[_TOOK]) / 1e9
            rows.append((number, sent_at, took, _failure(int(row[_STATUS]), row[_ERROR])))
        except ValueError:
            raise OutputError(source, line, f"{_COLUMNS} columns of a request", ",".join(row)[:200]) from None
    if not rows:
        return ()
    rows.sort()
    began_at = min(sent_at - number / rate for number, sent_at, _, _ in rows)
    return tuple(
        Request(due_at=began_at + number / rate, sent_at=sent_at, took_seconds=took, failure=failure)
        for number, sent_at, took, failure in rows
    )


def count_failures(found: tuple[Request, ...]) -> Mapping[str, int]:
    """Return how many requests failed for each reason."""
    return dict(Counter(request.failure for request in found if request.failure is not None))


def _failure(status: int, error: str) -> str | None:
    if 200 <= status < 400:
        return None
    # An error ends with what went wrong; what is before it names addresses, which differ from request to request.
    return f"status {status}" if status else error.rpartition(": ")[2] or "unknown"
