"""The cost of a level taken apart: each level on the way to it against the one before, within blocks. Pure.

With the baseline b and the levels l and m on the way to the level L, a block has

    log(L / b) = log(l / b) + log(m / l) + log(L / m),

so geometric means over the same blocks multiply to the whole, exactly. Medians do so only roughly: the median of a sum
is not the sum of the medians. Intervals are each ratio's own, and do not add up either way.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from tare.manifest import AttributionStep, Level
from tare.trials.levels import describe, normal, without
from tare.trials.trial import Trial
from tare.verdicts.compare import Comparison, IntervalKind, compare


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What ``cause`` adds: ``comparison`` is a level against ``before``, the one before it, as its baseline."""

    cause: str
    before: Level
    comparison: Comparison


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution:
    """``whole`` is the level that is taken apart against the baseline; the last of ``steps`` ends at the same level.

    All are over the same blocks: those in which each of the levels has the metric, and above zero. Where other blocks
    have both the level and the baseline, ``whole`` differs from their comparison over all blocks.
    """

    whole: Comparison
    steps: tuple[Step, ...]


def attribute(
    trials: Iterable[Trial],
    steps: Sequence[AttributionStep],
    *,
    metric: str,
    factor: str,
    baseline: Level,
    kind: IntervalKind = "fixed",
    confidence: float = 0.95,
) -> tuple[Attribution, ...]:
    """Return an attribution of the last step's level for each condition, in the order first seen, that has a block.

    A level on the way that was not measured is left out, and its cause told with the next: ``hop and layer``. None
    of several steps has a block in a duet, where only the baseline shares a pair with another level. Trials of the A/A
    arm and those that were set aside do not count.
    """
    conditions: dict[str, dict[Level, list[Trial]]] = {}
    for trial in trials:
        if not trial.aa and not trial.set_aside and metric in trial.metrics:
            by_level = conditions.setdefault(describe(without(trial.levels, factor)), {})
            by_level.setdefault(normal(trial.levels[factor]), []).append(trial)
    against = partial(compare, metric=metric, factor=factor, kind=kind, confidence=confidence)
    first, last = normal(baseline), normal(steps[-1].level)
    found = []
    for measured in conditions.values():
        if not {first, last} <= measured.keys():
            continue
        way = list(_merged(steps, measured))
        levels = [first, *(level for _, level in way)]
        kept = _of_common_blocks({level: measured[level] for level in levels}, metric)
        if not kept[first]:
            continue
        (whole,) = against([*kept[first], *kept[last]], baseline=first)
        taken = []
        for before, (cause, level) in zip(levels, way, strict=False):
            (comparison,) = against([*kept[before], *kept[level]], baseline=before)
            taken.append(Step(cause=cause, before=before, comparison=comparison))
        found.append(Attribution(whole=whole, steps=tuple(taken)))
    return tuple(found)


def _merged(steps: Sequence[AttributionStep], measured: Container[Level]) -> Iterator[tuple[str, Level]]:
    """Yield the causes and levels of the steps that were measured, each with the causes left out before it."""
    causes: list[str] = []
    for step in steps:
        causes.append(step.cause)
        if normal(step.level) in measured:
            yield " and ".join(causes), normal(step.level)
            causes.clear()


def _of_common_blocks(measured: Mapping[Level, Sequence[Trial]], metric: str) -> dict[Level, list[Trial]]:
    """Return the trials of the blocks, in a duet of their pairs, in which every level has a ratio to every other."""
    common = set.intersection(
        *({(one.block, one.pair) for one in trials if one.metrics[metric] > 0} for trials in measured.values())
    )
    return {level: [one for one in trials if (one.block, one.pair) in common] for level, trials in measured.items()}
