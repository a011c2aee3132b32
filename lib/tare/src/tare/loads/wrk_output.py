"""Reads what wrk writes through Tare's script (packages/wrk/report.lua). Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tare.loads.output_error import OutputError

SCHEMA = 1
# As wrk names them: responses of status 400 and above, and those that came after the time-out; then sockets' errors.
RESPONSE_ERRORS = ("status", "timeout")
SOCKET_ERRORS = ("connect", "read", "write")
_COUNTS = ("ended_microseconds", "duration_microseconds", "requests", "bytes", "latencies")


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One run. ``responses`` counts all of them, ``errors`` by wrk's names. ``ended_at`` is Unix time in seconds.

    ``latencies`` are (microseconds, count), ascending, of the requests really sent whose response was in time,
    those with an error status too. ``invented`` is how many wrk had added to them.
    """

    ended_at: float
    duration_seconds: float
    responses: int
    received_bytes: int
    errors: Mapping[str, int]
    latencies: tuple[tuple[int, int], ...]
    invented: int

    @property
    def began_at(self) -> float:
        return self.ended_at - self.duration_seconds

    @property
    def succeeded(self) -> int:
        """Responses in time and of a status below 400. One that was both late and an error counts as two errors."""
        return max(0, self.responses - sum(self.errors[name] for name in RESPONSE_ERRORS))

    @property
    def failed(self) -> int:
        """The other responses, and sockets that failed."""
        return self.responses - self.succeeded + sum(self.errors[name] for name in SOCKET_ERRORS)


def report(text: str, *, source: str, connections: int) -> Report:
    """Read the file of a run with so many connections. Raises OutputError, which names ``source`` and the line,
    for one that is not whole or contradicts itself."""
    lines = text.splitlines()
    head = _head(lines[0] if lines else "", source)
    found = [_latency(line, source, number) for number, line in enumerate(lines[1:], start=2)]
    if len(found) != head["latencies"] or not text.endswith("\n"):
        raise OutputError(source, len(lines), f"{head['latencies']} lines of latencies", f"{len(found)}")
    sent = uncorrected(
        found, expected_microseconds=_expected(head["duration_microseconds"], head["requests"], connections)
    )
    recorded, counted = head["requests"] - head["timeout"], sum(count for _, count in sent)
    if counted != recorded or any(count < 0 for _, count in sent):
        raise OutputError(source, 1, f"latencies of {recorded} responses in time", f"{counted}")
    return Report(
        ended_at=head["ended_microseconds"] / 1e6,
        duration_seconds=head["duration_microseconds"] / 1e6,
        responses=head["requests"],
        received_bytes=head["bytes"],
        errors={name: head[name] for name in (*SOCKET_ERRORS, *RESPONSE_ERRORS)},
        latencies=tuple((value, count) for value, count in sent if count),
        invented=sum(count for _, count in found) - counted,
    )


def uncorrected(latencies: Sequence[tuple[int, int]], *, expected_microseconds: int) -> tuple[tuple[int, int], ...]:
    """Return the latencies (microseconds, count; ascending) of the requests really sent.

    wrk 4.1.0 means to correct for coordinated omission: to every latency of twice the mean interval of a
    connection or more it adds those that requests sent meanwhile would have had (stats_correct in src/stats.c):
    n - e, n - 2e, ... down to above e. It invents requests, and on a service that is merely uneven it changes
    every percentile. What it added depends on longer latencies alone, so it is taken back from the longest
    down, exactly. Counts may come out negative, where these are not latencies that wrk has corrected.
    """
    counts = dict(latencies)
    if expected_microseconds > 0:
        for value, _ in reversed(latencies):
            if value < 2 * expected_microseconds:
                break
            for invented in range(value - expected_microseconds, expected_microseconds, -expected_microseconds):
                if invented in counts:
                    counts[invented] -= counts[value]
    return tuple(counts.items())


def _expected(duration_microseconds: int, requests: int, connections: int) -> int:
    """Return the interval that wrk expects between the requests of a connection; 0 where it corrects nothing."""
    of_each = requests // connections
    return duration_microseconds // of_each if of_each else 0


def _head(line: str, source: str) -> dict[str, int]:
    try:
        head = json.loads(line)
    except ValueError:
        head = None
    expected = {"schema", *_COUNTS, *SOCKET_ERRORS, *RESPONSE_ERRORS}
    if not isinstance(head, dict) or head.keys() != expected or any(type(count) is not int for count in head.values()):
        raise OutputError(source, 1, f"a JSON object of whole numbers: {', '.join(sorted(expected))}", line)
    if head["schema"] != SCHEMA:
        raise OutputError(source, 1, f"schema {SCHEMA}", f"{head['schema']}")
    return head


def _latency(line: str, source: str, number: int) -> tuple[int, int]:
    words = line.split(" ")
    if len(words) != 2 or not all(word.isdecimal() for word in words):
        raise OutputError(source, number, "microseconds and a count", line)
    return int(words[0]), int(words[1])
