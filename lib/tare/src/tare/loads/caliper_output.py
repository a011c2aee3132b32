"""Reads what Caliper and its workload write: transactions, its own table, its error lines. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tare.loads import metrics
from tare.loads.output_error import OutputError

_HEADER = "id,created_ms,finished_ms,status"
_STATUSES = ("success", "failed")
_COLUMNS = (
    *("Name", "Succ", "Fail", "Send Rate (TPS)"),
    *("Max Latency (s)", "Min Latency (s)", "Avg Latency (s)", "Throughput (TPS)"),
)
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_FAILURE = re.compile(
    r"Failed to perform submit transaction \[\w+\] "
    r"using arguments \[(?P<id>[^,\]]+)[^\]]*\],\s+with error: (?P<error>[^\n]*)"
)
_GRPC = re.compile(r"^(?P<name>\w*Error): \d+ (?P<status>[A-Z_]+): (?P<message>.*)")
_COMMIT = re.compile(r"status code: (?P<code>\d+)")

UNEXPLAINED = "unexplained"

# By less than this a request is not late: a timer's own jitter, and times in whole milliseconds.
JITTER_SECONDS = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction:
    """One transaction. Times are Unix time in seconds, in steps of a millisecond."""

    id: str
    created_at: float
    finished_at: float
    succeeded: bool

    @property
    def latency_seconds(self) -> float:
        return self.finished_at - self.created_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of Caliper's table: rates per second, times in seconds, None where Caliper prints a dash.

    ``throughput`` counts failures too.
    """

    succeeded: int
    failed: int
    send_rate: float
    latency_maximum_seconds: float | None
    latency_minimum_seconds: float | None
    latency_mean_seconds: float | None
    throughput: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What a round's transactions show; see ``LoadResult``, whose names these are.

    ``duration_seconds`` reaches from the first request to the last answer, so that work which a service has
    only queued does not count as done; ``goodput`` is successes over it. ``sent_rate`` is what was really
    sent, over the time in which it was sent. Rates are per second.
    """

    sent_rate: float
    goodput: float
    succeeded: int
    failed: int
    duration_seconds: float
    began_at: float
    last_sent_at: float
    ended_at: float
    latencies_seconds: tuple[float, ...]
    completed_per_second: tuple[int, ...]


def transactions(text: str, *, source: str) -> list[Transaction]:
    """Read a file of the workload. Raises OutputError, which names ``source`` and the line."""
    lines = text.splitlines()
    if not lines or lines[0] != _HEADER:
        raise OutputError(source, 1, repr(_HEADER), lines[0] if lines else "")
    found = []
    for number, line in enumerate(lines[1:], start=2):
        fields = line.split(",")
        valid = len(fields) == 4 and fields[1].isdigit() and fields[2].isdigit() and fields[3] in _STATUSES
        if not valid:
            raise OutputError(source, number, "id, two times in milliseconds, and success or failed", line)
        found.append(
            Transaction(
                id=fields[0],
                created_at=int(fields[1]) / 1000,
                finished_at=int(fields[2]) / 1000,
                succeeded=fields[3] == "success",
            )
        )
    return found


def figures(sent: Iterable[Transaction]) -> Figures:
    """Return the figures of one round. Raises ValueError if nothing was sent."""
    ordered = sorted(sent, key=lambda transaction: transaction.created_at)
    if not ordered:
        raise ValueError("no transaction was sent")
    began, last_sent = ordered[0].created_at, ordered[-1].created_at
    ended = max(transaction.finished_at for transaction in ordered)
    latencies = tuple(transaction.latency_seconds for transaction in ordered if transaction.succeeded)
    # n sendings enclose n - 1 gaps.
    sent_rate = (len(ordered) - 1) / (last_sent - began) if last_sent > began else 0.0
    return Figures(
        sent_rate=sent_rate,
        goodput=len(latencies) / (ended - began) if ended > began else 0.0,
        succeeded=len(latencies),
        failed=len(ordered) - len(latencies),
        duration_seconds=ended - began,
        began_at=began,
        last_sent_at=last_sent,
        ended_at=ended,
        latencies_seconds=latencies,
        completed_per_second=metrics.per_second(
            (transaction.finished_at for transaction in ordered if transaction.succeeded),
            began_at=began,
            ended_at=last_sent,
        ),
    )


def late(sent: Iterable[Transaction], *, rate: float, duration_seconds: float) -> int:
    """Return how many transactions one worker sent late, or never, of ``rate`` per second over the duration.

    Caliper's fixed-rate control has transaction k due k / rate after the round's start (its fixedRate.js).
    The start is not recorded; it is taken as late as the transactions allow, for none is sent before it is
    due. A transaction is late if the next one was due already when it was sent.
    """
    created = sorted(transaction.created_at for transaction in sent)
    behind = [at - number / rate for number, at in enumerate(created)]
    start = min(behind, default=0.0)
    allowed = max(1 / rate, JITTER_SECONDS)
    unsent = max(0, int(rate * duration_seconds) - len(created))
    return sum(delay - start > allowed for delay in behind) + unsent


def table(log: str, *, source: str) -> dict[str, Row]:
    """Return the rows of the last table in Caliper's log, by round. Raises OutputError for a row it cannot read."""
    rows: dict[str, Row] = {}
    for number, line in enumerate(_COLOURS.sub("", log).splitlines(), start=1):
        if not line.startswith("|"):
            continue
        cells = [cell.strip() for cell in line.strip("|\r").split("|")]
        if tuple(cells) == _COLUMNS or not any(cell.strip("-") for cell in cells):
            continue
        if len(cells) != len(_COLUMNS):
            raise OutputError(source, number, f"{len(_COLUMNS)} cells", line)
        try:
            rows[cells[0]] = Row(
                succeeded=int(cells[1]),
                failed=int(cells[2]),
                send_rate=float(cells[3]),
                latency_maximum_seconds=_optional(cells[4]),
                latency_minimum_seconds=_optional(cells[5]),
                latency_mean_seconds=_optional(cells[6]),
                throughput=float(cells[7]),
            )
        except ValueError:
            raise OutputError(source, number, "numbers", line) from None
    return rows


def failure_classes(log: str) -> dict[str, str]:
    """Return the class of every failed transaction that Caliper's log explains, by transaction id.

    Caliper keeps no reason with a transaction, but logs one with its arguments, the first of
    which is the id. The class is the error's name and gRPC status (``EndorseError ABORTED``) or,
    without a status, message, or the validation code with which a transaction was not committed.
    """
    return {found["id"]: _class(found["error"]) for found in _FAILURE.finditer(_COLOURS.sub("", log))}


def count_failures(sent: Iterable[Transaction], classes: Mapping[str, str]) -> dict[str, int]:
    """Return how many transactions failed, by class, most frequent first."""
    counts = Counter(classes.get(transaction.id, UNEXPLAINED) for transaction in sent if not transaction.succeeded)
    return dict(counts.most_common())


def round_errors(log: str) -> Sequence[str]:
    """Return the reasons of rounds that Caliper gave up; its exit code does not tell."""
    return re.findall(r"Failed round \d+ \([^)]*\): ([^\n]*)", _COLOURS.sub("", log))


def _class(error: str) -> str:
    if (found := _GRPC.match(error)) and found["status"] != "UNKNOWN":
        return f"{found['name']} {found['status']}"
    if found:
        # Fabric's own refusals have no status; what they are about follows, and differs from one to the next.
        return f"{found['name']}: {re.split(' for |[,:(]', found['message'])[0].strip()}"
    if found := _COMMIT.search(error):
        return f"not committed, validation code {found['code']}"
    return error.partition("\n")[0][:80]


def _optional(cell: str) -> float | None:
    return None if cell == "-" else float(cell)
