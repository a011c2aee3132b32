"""A trial: one cell measured once, and how its metrics come from what was observed. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tare.loads import LoadResult
from tare.measure.sampler import Sample, Usage
from tare.trials.levels import Levels


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What is kept of a trial. ``metrics`` are in base units; one that could not be measured is absent.

    ``began_at`` is Unix time in seconds, ``seconds`` the whole trial with warm-up. ``latencies_seconds``
    are those of the successes; ``failures`` counts the others by reason. ``samples`` span the whole trial.
    """

    index: int
    block: int
    deployment: int
    levels: Levels
    began_at: float
    seconds: float
    metrics: Mapping[str, float]
    succeeded: int
    failed: int
    client_bound: bool
    failures: Mapping[str, int]
    notes: tuple[str, ...]
    latencies_seconds: tuple[float, ...] = ()
    samples: tuple[Sample, ...] = ()


def metrics(result: LoadResult, usages: Mapping[str, Usage]) -> dict[str, float]:
    """Return the metrics of a trial, in base units, from the load's result and the usage of each node type.

    ``failures`` is the share of transactions that failed. A latency without successes, and a CPU time
    per transaction without them, has no value and is absent. Memory is the mean of the samples.
    """
    finished = result.succeeded + result.failed
    found = {
        "sent_rate": result.sent_rate,
        "goodput": result.goodput,
        "failures": result.failed / finished if finished else 1.0,
        "client_cpu": result.generator_cpu_cores,
    }
    if result.latencies_seconds:
        ordered = sorted(result.latencies_seconds)
        found["latency_mean"] = math.fsum(ordered) / len(ordered)
        for percent in (50, 95, 99):
            found[f"latency_p{percent}"] = percentile(ordered, percent)
    for label, used in usages.items():
        found[f"cpu_{label}"] = used.cpu_cores
        found[f"memory_{label}"] = used.memory_bytes
    if usages:
        found["cpu_total"] = math.fsum(used.cpu_cores for used in usages.values())
    if usages and result.succeeded:
        found["cpu_per_transaction"] = math.fsum(used.cpu_seconds for used in usages.values()) / result.succeeded
    return found


def percentile(ordered: Sequence[float], percent: float) -> float:
    """Return the percentile of sorted values by nearest rank. Raises ValueError if there are none."""
    if not ordered:
        raise ValueError("no values, so no percentile")
    rank = math.ceil(percent / 100 * len(ordered))
    return ordered[min(max(rank, 1), len(ordered)) - 1]
