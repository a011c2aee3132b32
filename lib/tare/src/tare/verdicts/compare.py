"""Every level of the compared factor against the baseline, within blocks. Pure.

A block's noise (a busy host, a slow deployment) strikes the level and the baseline alike, so
they are compared inside it: the logarithm of the ratio is one observation a block. Their mean is
the logarithm of the geometric mean ratio, and Student's t on n - 1 degrees of freedom gives its
two-sided interval.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from tare.manifest import Level
from tare.trials.levels import Levels, describe, without
from tare.trials.trial import Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A level against the baseline at the same other levels, in one metric (base units).

    ``value`` and ``baseline_value`` are means over the blocks that have the metric, None without any.
    ``ratio`` is the geometric mean over ``n`` paired blocks, None without any. ``low`` and ``high`` bound
    it at ``confidence``; None with fewer than two pairs, which say nothing about spread.
    ``left_out`` counts pairs that have no ratio because one side is zero or less.
    """

    metric: str
    level: Level
    condition: Levels
    value: float | None
    baseline_value: float | None
    ratio: float | None
    low: float | None
    high: float | None
    n: int
    left_out: int
    confidence: float


def compare(
    trials: Iterable[Trial], *, metric: str, factor: str, baseline: Level, confidence: float = 0.95
) -> tuple[Comparison, ...]:
    """Return one comparison for each cell that is not a baseline cell, in the order the cells are first seen.

    Raises ValueError when a block has a cell twice.
    """
    cells: dict[str, tuple[Level, Levels]] = {}
    measured: dict[str, dict[int, float]] = {}
    for trial in trials:
        key = describe(trial.levels)
        cells.setdefault(key, (trial.levels[factor], without(trial.levels, factor)))
        blocks = measured.setdefault(key, {})
        if metric not in trial.metrics:
            continue
        if trial.block in blocks:
            raise ValueError(f"block {trial.block} has the cell {key} twice")
        blocks[trial.block] = trial.metrics[metric]
    comparisons = []
    for key, (level, condition) in cells.items():
        if level == baseline:
            continue
        against = measured.get(describe({**condition, factor: baseline}), {})
        pairs = [(measured[key][block], against[block]) for block in sorted(measured[key].keys() & against.keys())]
        logs = [math.log(value / reference) for value, reference in pairs if value > 0 and reference > 0]
        low, high = interval(logs, confidence=confidence) or (None, None)
        comparisons.append(
            Comparison(
                metric=metric,
                level=level,
                condition=condition,
                value=_mean(list(measured[key].values())),
                baseline_value=_mean(list(against.values())),
                ratio=math.exp(math.fsum(logs) / len(logs)) if logs else None,
                low=low,
                high=high,
                n=len(logs),
                left_out=len(pairs) - len(logs),
                confidence=confidence,
            )
        )
    return tuple(comparisons)


def interval(logs: list[float], *, confidence: float) -> tuple[float, float] | None:
    """Return the bounds of the geometric mean ratio, from log-ratios; None with fewer than two.

    Mean plus or minus t(1 - alpha/2, n - 1) s / sqrt(n), on the logarithms (Student 1908).
    """
    n = len(logs)
    if n < 2:
        return None
    from scipy.stats import t

    mean = math.fsum(logs) / n
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in logs) / (n - 1))
    margin = float(t.ppf((1 + confidence) / 2, n - 1)) * deviation / math.sqrt(n)
    return _exp(mean - margin), _exp(mean + margin)


def _exp(value: float) -> float:
    """With two wildly different blocks the bound is beyond any float; it is then infinite, not an error."""
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


def _mean(values: list[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
