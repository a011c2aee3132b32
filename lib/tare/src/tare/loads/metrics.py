"""Metrics that loads have in common, from counts and latencies. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tare.stats.histogram import Histogram


def failure_share(*, succeeded: int, failed: int) -> float:
    """Return the share of requests that failed, 0 to 1; 1 if there was none at all."""
    finished = succeeded + failed
    return failed / finished if finished else 1.0


def latencies(values: Sequence[float] | Histogram | None, percents: Iterable[float]) -> dict[str, float]:
    """Return the mean (``latency_mean``) and percentiles (``latency_p50``, ``latency_p999``) in seconds.

    ``values`` are single latencies (seconds), of which percentiles are taken by nearest rank, or a histogram
    of them. Without any, nothing is returned: there is no latency where nothing succeeded.
    """
    if values is None:
        return {}
    if not isinstance(values, Sequence):
        found = {"latency_mean": values.mean_seconds}
        return found | {_name(percent): values.quantile(percent / 100) for percent in percents}
    if not values:
        return {}
    ordered = sorted(values)
    found = {"latency_mean": math.fsum(ordered) / len(ordered)}
    return found | {_name(percent): percentile(ordered, percent) for percent in percents}


def percentile(ordered: Sequence[float], percent: float) -> float:
    """Return the percentile of sorted values by nearest rank. Raises ValueError if there are none."""
    if not ordered:
        raise ValueError("no values, so no percentile")
    rank = math.ceil(percent / 100 * len(ordered))
    return ordered[min(max(rank, 1), len(ordered)) - 1]


def per_second(times: Iterable[float], *, began_at: float, ended_at: float) -> tuple[int, ...]:
    """Return how many of ``times`` (seconds) fall into each whole second between two others."""
    counts = Counter(math.floor(time - began_at) for time in times)
    return tuple(counts[second] for second in range(math.floor(ended_at - began_at)))


def _name(percent: float) -> str:
    return f"latency_p{percent:g}".replace(".", "")
