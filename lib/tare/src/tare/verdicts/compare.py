"""Every level of the compared factor against the baseline, within blocks; and the baseline against itself. Pure.

A block's noise (a busy host, a slow deployment) strikes the level and the baseline alike, so
they are compared inside it: the logarithm of the ratio is one observation a block. Their mean is
the logarithm of the geometric mean ratio, their median that of the median ratio. Where the number of
blocks was fixed beforehand, Student's t on n - 1 degrees of freedom gives its interval; where verdicts
decided when to stop, the interval has to hold at every look (``tare.stats.sequence``).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from tare.manifest import Level
from tare.stats.dependence import warnings
from tare.stats.sequence import Interval, Method, centre, sequence
from tare.trials.levels import Levels, describe, without
from tare.trials.trial import Trial

# How an interval is made: for a number of blocks fixed beforehand, or valid at every look.
IntervalKind = Literal["fixed", "t", "median"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A level against the baseline at the same other levels, in one metric (base units).

    ``aa`` marks the baseline against its own second trial: what the machine's noise alone does.
    ``value`` and ``baseline_value`` are means over the blocks that have the metric, None without any.
    ``ratio`` is the geometric mean over ``n`` paired blocks, or the median where that is what the interval is of; None
    without any. ``low`` and ``high`` bound
    it at ``confidence``; None where there are too few pairs to bound it. ``deviation`` is the standard
    deviation of the log-ratios. ``left_out`` counts pairs that have no ratio because one side is zero or less.
    ``warnings`` say where the blocks drift or follow one another, so that the interval promises too much.
    """

    metric: str
    level: Level
    condition: Levels
    aa: bool
    value: float | None
    baseline_value: float | None
    ratio: float | None
    low: float | None
    high: float | None
    deviation: float | None
    n: int
    left_out: int
    confidence: float
    warnings: tuple[str, ...] = ()


def compare(
    trials: Iterable[Trial],
    *,
    metric: str,
    factor: str,
    baseline: Level,
    kind: IntervalKind = "fixed",
    confidence: float = 0.95,
) -> tuple[Comparison, ...]:
    """Return one comparison for each cell that is not a baseline cell and for each A/A arm, in the order first seen.

    Trials that were set aside do not count. Raises ValueError when a block has a cell twice.
    """
    cells: dict[tuple[str, bool], tuple[Level, Levels]] = {}
    measured: dict[tuple[str, bool], dict[int, float]] = {}
    for trial in trials:
        if trial.set_aside:
            continue
        key = (describe(trial.levels), trial.aa)
        cells.setdefault(key, (trial.levels[factor], without(trial.levels, factor)))
        blocks = measured.setdefault(key, {})
        if metric not in trial.metrics:
            continue
        if trial.block in blocks:
            raise ValueError(f"block {trial.block} has the cell {key[0]} twice")
        blocks[trial.block] = trial.metrics[metric]
    comparisons = []
    for key, (level, condition) in cells.items():
        if level == baseline and not key[1]:
            continue
        against = measured.get((describe({**condition, factor: baseline}), False), {})
        pairs = [(measured[key][block], against[block]) for block in sorted(measured[key].keys() & against.keys())]
        logs = [math.log(value / reference) for value, reference in pairs if value > 0 and reference > 0]
        bounds = interval(logs, kind=kind, confidence=confidence)
        comparisons.append(
            Comparison(
                metric=metric,
                level=level,
                condition=condition,
                aa=key[1],
                value=_mean(list(measured[key].values())),
                baseline_value=_mean(list(against.values())),
                ratio=math.exp(centre(logs, method=_method(kind))) if logs else None,
                low=None if bounds is None else _exp(bounds.low),
                high=None if bounds is None else _exp(bounds.high),
                deviation=_deviation(logs),
                n=len(logs),
                left_out=len(pairs) - len(logs),
                confidence=confidence,
                warnings=warnings(logs),
            )
        )
    return tuple(comparisons)


def interval(logs: Sequence[float], *, kind: IntervalKind, confidence: float) -> Interval | None:
    """Return the bounds of the mean of log-ratios; None where there are too few to bound it on both sides.

    "fixed" is the mean plus or minus t(1 - alpha/2, n - 1) s / sqrt(n) (Student 1908).
    """
    if kind != "fixed":
        return _bounded(sequence(logs, alpha=1 - confidence, method=_method(kind)))
    deviation = _deviation(logs)
    if deviation is None:
        return None
    from scipy.stats import t

    n = len(logs)
    mean = math.fsum(logs) / n
    margin = float(t.ppf((1 + confidence) / 2, n - 1)) * deviation / math.sqrt(n)
    return Interval(low=mean - margin, high=mean + margin)


def _method(kind: IntervalKind) -> Method:
    return "median" if kind == "median" else "t"


def _bounded(found: Interval) -> Interval | None:
    return found if math.isfinite(found.low) and math.isfinite(found.high) else None


def _deviation(values: Sequence[float]) -> float | None:
    if len(values) < 2:
        return None
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


def _exp(value: float) -> float:
    """With two wildly different blocks the bound is beyond any float; it is then infinite, not an error."""
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


def _mean(values: list[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
