"""What became of a lab's figures from one run to another. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tare.trials.levels import Levels, describe
from tare.trials.trial import Trial
from tare.verdicts.compare import Comparison, IntervalKind, compare


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a level costs within one run: the median or geometric mean of its ratios to the baseline, one a block.

    ``low`` and ``high`` bound it; None with too few blocks.
    """

    ratio: float
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One cell in one metric (base units), in run A and in run B.

    ``a`` and ``b`` are means over the blocks, ``ratio`` is that of B to A; what else changed from one run to the
    other is in it too. ``cost_a`` and ``cost_b`` are paired within their run, None for the baseline. ``cost_ratio``
    is that of the costs, ``low`` and ``high`` bound it at ``confidence``; None where there is no bound.
    """

    metric: str
    levels: Levels
    a: float | None
    b: float | None
    ratio: float | None
    cost_a: Cost | None
    cost_b: Cost | None
    cost_ratio: float | None
    low: float | None
    high: float | None
    confidence: float

    @property
    def word(self) -> str:
        """What is known of the cost: ``higher``, ``lower`` or ``no change seen``; empty without a bound."""
        if self.low is None or self.high is None:
            return ""
        return "higher" if self.low > 1 else "lower" if self.high < 1 else "no change seen"


def changes(
    trials_a: Sequence[Trial],
    trials_b: Sequence[Trial],
    *,
    metrics: Sequence[str],
    plan: Mapping[str, Any],
    kinds: tuple[IntervalKind, IntervalKind] = ("t", "t"),
    confidence: float = 0.95,
) -> tuple[Change, ...]:
    """Return a change for each metric and cell of either run, in the plan's order. ``plan`` is that of the record.

    ``kinds`` are those of the intervals in A and B. Each has half the error rate, so the quotient of the bounds holds
    the ratio of the costs at the whole rate (Bonferroni).
    """
    trials_a, trials_b = in_order(trials_a, plan), in_order(trials_b, plan)
    found = []
    for metric in metrics:
        costs_a, costs_b = (
            _costs(trials, metric, plan, kind, (1 + confidence) / 2)
            for trials, kind in zip((trials_a, trials_b), kinds, strict=True)
        )
        means_a, means_b = (means(trials, metric) for trials in (trials_a, trials_b))
        cells = {describe(trial.levels): trial.levels for trial in in_order((*trials_a, *trials_b), plan)}
        for cell, levels in cells.items():
            a, b = means_a.get(cell), means_b.get(cell)
            if a is None and b is None:
                continue
            cost_a, cost_b = costs_a.get(cell), costs_b.get(cell)
            found.append(
                Change(
                    metric=metric,
                    levels=levels,
                    a=a,
                    b=b,
                    ratio=_quotient(b, a),
                    cost_a=cost_a,
                    cost_b=cost_b,
                    cost_ratio=_quotient(cost_b.ratio, cost_a.ratio) if cost_a and cost_b else None,
                    low=_quotient(cost_b.low, cost_a.high) if cost_a and cost_b else None,
                    high=_quotient(cost_b.high, cost_a.low) if cost_a and cost_b else None,
                    confidence=confidence,
                )
            )
    return tuple(found)


def means(trials: Sequence[Trial], metric: str) -> dict[str, float]:
    """Return the mean of a metric in each cell that has it, without A/A arms."""
    values: dict[str, list[float]] = {}
    for trial in trials:
        if metric in trial.metrics and not trial.aa and not trial.set_aside:
            values.setdefault(describe(trial.levels), []).append(trial.metrics[metric])
    return {cell: math.fsum(found) / len(found) for cell, found in values.items()}


def interval_kind(record: Mapping[str, Any]) -> IntervalKind:
    """Return how a run's intervals are made: as its experiment says, unless it ended with the blocks it was to have."""
    blocks = record.get("blocks", {})
    fixed = bool(blocks) and blocks.get("least") == blocks.get("most") and record.get("state") == "complete"
    return "fixed" if fixed else record.get("interval", "median")


def in_order(trials: Sequence[Trial], plan: Mapping[str, Any]) -> list[Trial]:
    """Return the trials cell by cell, in the order in which the plan has the cells."""
    order = {describe(levels): place for place, levels in enumerate(plan.get("cells", ()))}
    return sorted(trials, key=lambda trial: (order.get(describe(trial.levels), len(order)), trial.index, trial.attempt))


def _costs(
    trials: Sequence[Trial], metric: str, plan: Mapping[str, Any], kind: IntervalKind, confidence: float
) -> dict[str, Cost]:
    factor = plan["compare"]
    found = compare(trials, metric=metric, factor=factor, baseline=plan["baseline"], kind=kind, confidence=confidence)
    return {
        describe({**one.condition, factor: one.level}): cost
        for one in found
        if not one.aa and (cost := _cost(one)) is not None
    }


def _cost(found: Comparison) -> Cost | None:
    return None if found.ratio is None else Cost(ratio=found.ratio, low=found.low, high=found.high, n=found.n)


def _quotient(above: float | None, below: float | None) -> float | None:
    return None if above is None or below is None or below == 0 else above / below
