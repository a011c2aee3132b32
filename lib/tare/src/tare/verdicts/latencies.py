"""Percentiles of latency, every level against the baseline, as a final report tells them. Pure.

They are of single requests, not of blocks' own percentiles, so the blocks' values have no say in them: the intervals
are those of a bootstrap (``tare.stats.bootstrap``). They hold at one look, at the end, and no verdict rests on them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tare.manifest import Level
from tare.stats.bootstrap import Block, hierarchical_ratios_of_quantiles
from tare.stats.histogram import RESOLUTION_SECONDS, Histogram
from tare.trials.levels import Levels, describe, without
from tare.trials.trial import Trial
from tare.verdicts.estimate import Key

QUANTILES = (0.5, 0.9, 0.99, 0.999)

# A quantile is told where so many requests of either side lie beyond it; a tail of fewer is chance.
FEWEST_BEYOND = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileRatio:
    """The ratio of one quantile, level over baseline; the bounds may be infinite, with fewer than three blocks."""

    quantile: float
    ratio: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyRatio:
    """A level against the baseline at the same other levels, under one load; ``aa`` marks the baseline's second trial.

    ``n`` blocks have requests on both sides, ``requests`` and ``baseline_requests`` of them. ``quantiles`` are those
    with requests enough beyond them.
    """

    load: str
    level: Level
    condition: Levels
    aa: bool
    n: int
    requests: int
    baseline_requests: int
    confidence: float
    quantiles: tuple[QuantileRatio, ...]


def compare_latencies(
    trials: Iterable[Trial], *, factor: str, baseline: Level, seed: int, confidence: float = 0.95
) -> tuple[LatencyRatio, ...]:
    """Return one comparison for each load and each cell that is not a baseline cell, in the order first seen.

    Latencies are the single ones where a load has them, else its histogram's. Trials that were set aside do not count.
    """
    cells: dict[tuple[str, str, bool], tuple[Trial, dict[Key, Block]]] = {}
    for trial in trials:
        if not trial.set_aside:
            for load, block in _blocks(trial).items():
                _, blocks = cells.setdefault((load, describe(trial.levels), trial.aa), (trial, {}))
                blocks[trial.block, trial.pair] = block
    found = []
    for (load, _, aa), (trial, level_blocks) in cells.items():
        _, against = cells.get((load, describe({**trial.levels, factor: baseline}), False), (trial, {}))
        paired = sorted(level_blocks.keys() & against.keys())
        if (trial.levels[factor] == baseline and not aa) or not paired:
            continue
        mine, theirs = ([blocks[place] for place in paired] for blocks in (level_blocks, against))
        requests, baseline_requests = sum(map(_count, mine)), sum(map(_count, theirs))
        # 1 - 0.99 is a little less than 0.01.
        told = [q for q in QUANTILES if round(min(requests, baseline_requests) * (1 - q), 6) >= FEWEST_BEYOND]
        ratios = hierarchical_ratios_of_quantiles(mine, theirs, told, confidence=confidence, seed=seed)
        found.append(
            LatencyRatio(
                load=load,
                level=trial.levels[factor],
                condition=without(trial.levels, factor),
                aa=aa,
                n=len(paired),
                requests=requests,
                baseline_requests=baseline_requests,
                confidence=confidence,
                quantiles=tuple(
                    QuantileRatio(quantile=q, ratio=ratio, low=interval.low, high=interval.high)
                    for q, (ratio, interval) in zip(told, ratios, strict=True)
                ),
            )
        )
    return tuple(found)


def _blocks(trial: Trial) -> dict[str, Block]:
    """The latencies by load, none shorter than a histogram resolves."""
    found: dict[str, Block] = {load: histogram for load, histogram in trial.histograms.items() if histogram.count}
    for load, latencies in trial.latencies_seconds.items():
        if latencies:
            found[load] = [max(latency, RESOLUTION_SECONDS) for latency in latencies]
    return found


def _count(block: Block) -> int:
    return block.count if isinstance(block, Histogram) else len(block)
