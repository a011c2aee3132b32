"""Rules that say whether a level is slower than its baseline: Tare's, and four in use elsewhere.

All answer one question: does the level differ from the baseline, and which way? Each is given slots of the baseline's
time (seconds, an experiment a row) and an effect: in the slots where the rule runs the level, the time is ``effect``
times as long. Each says, for each row: +1 slower, -1 faster, 0 neither; the slots it used; and the seconds they took.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.stats import mannwhitneyu, ttest_ind

from tare.stats.sequence import Method
from tare.stats.simulation import Array, below

ALPHA = 0.05
MOST_BLOCKS = 40
FIXED = 20
"""Measurements of each side where the number is fixed beforehand; benchstat's manual asks for at least 10."""

SLOTS = 2 * MOST_BLOCKS
RESAMPLES = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdicts:
    """An experiment an element. ``seconds`` is the time measured, without what lies between measurements."""

    direction: npt.NDArray[np.int_]
    trials: npt.NDArray[np.int_]
    seconds: Array


Rule: TypeAlias = Callable[[np.random.Generator, Array, float], Verdicts]


def tare(method: Method) -> Rule:
    """Pairs in random order, judged after every pair until the interval excludes 1, at most 40 pairs."""

    def rule(rng: np.random.Generator, seconds: Array, effect: float) -> Verdicts:
        baseline, level = _pairs(rng, seconds, MOST_BLOCKS, effect)
        logs = np.log(level / baseline)
        faster = below(logs, alpha=ALPHA, point=0.0, method=method)
        slower = below(-logs, alpha=ALPHA, point=0.0, method=method)
        decided = faster | slower
        last = np.where(decided.any(axis=1), decided.argmax(axis=1), MOST_BLOCKS - 1)
        row = np.arange(len(logs))
        return Verdicts(
            direction=slower[row, last].astype(int) - faster[row, last],
            trials=2 * (last + 1),
            seconds=np.cumsum(baseline + level, axis=1)[row, last],
        )

    return rule


def pytest_benchmark(field: Callable[..., Array], percent: float) -> Rule:
    """pytest-benchmark 5.3's ``--benchmark-compare-fail=FIELD:PERCENT%`` against a stored run.

    It fails when the field of this run's rounds exceeds the stored run's by more than the percentage (its
    PercentageRegressionCheck). The stored run is some time ago: its rounds are the first slots, this run's the last.
    It never says "faster".
    """

    def rule(rng: np.random.Generator, seconds: Array, effect: float) -> Verdicts:
        stored, current = seconds[:, :FIXED], effect * seconds[:, -FIXED:]
        fails = field(current, axis=1) / field(stored, axis=1) * 100 - 100 > percent
        return _fixed(fails.astype(int), stored, current)

    return rule


def benchstat(rng: np.random.Generator, seconds: Array, effect: float) -> Verdicts:
    """benchstat's default: Mann and Whitney's U on all runs of the old code, then all of the new, alpha 0.05."""
    old, new = _groups(seconds, effect)
    slower = np.median(new, axis=1) > np.median(old, axis=1)
    significant = mannwhitneyu(old, new, axis=1).pvalue < ALPHA
    return _fixed(np.where(significant, np.where(slower, 1, -1), 0), old, new)


def welch(rng: np.random.Generator, seconds: Array, effect: float) -> Verdicts:
    """All of one command, then all of the other, as hyperfine runs them, and its Welch t-test script's p < 0.05."""
    old, new = _groups(seconds, effect)
    slower = new.mean(axis=1) > old.mean(axis=1)
    significant = ttest_ind(old, new, axis=1, equal_var=False).pvalue < ALPHA
    return _fixed(np.where(significant, np.where(slower, 1, -1), 0), old, new)


def duet(rng: np.random.Generator, seconds: Array, effect: float) -> Verdicts:
    """A fixed number of pairs, and the bootstrap's 95 % percentile interval of the mean log-ratio.

    After L. Bulej et al., "Duet benchmarking" (ICPE 2020). A duet runs both sides of a pair at once; a trace has one
    thing at a time, so here they run one after the other, in random order.
    """
    baseline, level = _pairs(rng, seconds, FIXED, effect)
    weights = rng.multinomial(FIXED, np.full(FIXED, 1 / FIXED), size=RESAMPLES) / FIXED
    low, high = np.quantile(np.log(level / baseline) @ weights.T, (ALPHA / 2, 1 - ALPHA / 2), axis=1)
    return _fixed((low > 0).astype(int) - (high < 0), baseline, level)


RULES: Mapping[str, Rule] = {
    "Tare": tare("t"),
    "Tare, median": tare("median"),
    "pytest-benchmark mean:5%": pytest_benchmark(np.mean, 5),
    "pytest-benchmark min:5%": pytest_benchmark(np.min, 5),
    "benchstat": benchstat,
    "sequential, Welch": welch,
    "paired, bootstrap": duet,
}


def _groups(seconds: Array, effect: float) -> tuple[Array, Array]:
    return seconds[:, :FIXED], effect * seconds[:, FIXED : 2 * FIXED]


def _pairs(rng: np.random.Generator, seconds: Array, pairs: int, effect: float) -> tuple[Array, Array]:
    first, second = seconds[:, : 2 * pairs : 2], seconds[:, 1 : 2 * pairs : 2]
    swapped = rng.random(first.shape) < 0.5
    return np.where(swapped, second, first), effect * np.where(swapped, first, second)


def _fixed(direction: npt.NDArray[np.int_], *sides: Array) -> Verdicts:
    spent = np.concatenate(sides, axis=1)
    return Verdicts(
        direction=direction, trials=np.full(len(spent), spent.shape[1], dtype=np.int_), seconds=spent.sum(axis=1)
    )
