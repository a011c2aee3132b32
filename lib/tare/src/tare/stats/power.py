"""What a number of blocks can show, and how many a verdict still needs."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tare.stats.sequence import fewest_that_bound, least_values, order_rank, t_factor

MOST_BLOCKS = 10_000
"""Beyond this a verdict is out of reach, and the answer is None."""

QUADRATURE = 2000


def minimum_detectable_effect(deviation: float, *, blocks: int, alpha: float, power: float = 0.8) -> float:
    """Return the distance from the truth that ``blocks`` blocks exclude with the given power, in the values' unit.

    ``deviation`` is that of one block's value (for log-ratios, and roughly, 0.02 is 2 %). After n normal values the
    sequence excludes a point d away if |Z + d sqrt(n) / deviation| > f sqrt(n) S, with Z standard normal, S the sample
    deviation (a chi of n - 1 degrees of freedom, scaled) and f the `t_factor`; the probability is the mean over S.
    Looks before the last add a little power, so the effect is, if anything, overstated. Infinite where so few blocks
    exclude nothing. Raises ValueError for a negative deviation, and for a power not above alpha and below 1.
    """
    if not deviation >= 0:
        raise ValueError(f"deviation: expected 0 or more, found {deviation!r}")
    if not alpha < power < 1:
        raise ValueError(f"power: expected more than alpha, {alpha:g}, and less than 1, such as 0.8, found {power!r}")
    factor = _factor(blocks, alpha)
    if math.isinf(factor):
        return math.inf
    from scipy.optimize import brentq
    from scipy.special import chdtri, ndtr

    survival = (np.arange(QUADRATURE) + 0.5) / QUADRATURE
    bound = factor * np.sqrt(blocks * chdtri(blocks - 1, survival) / (blocks - 1))

    def excess(distance: float) -> float:
        shift = distance * math.sqrt(blocks)
        return float(np.mean(ndtr(shift - bound) + ndtr(-shift - bound))) - power

    upper = factor
    while excess(upper) < 0:
        upper *= 2
    return deviation * float(brentq(excess, 0.0, upper, xtol=1e-6))


def blocks_needed(mean_distance: float, deviation: float, *, alpha: float) -> int | None:
    """Return at how many blocks the sequence is expected to exclude a point ``mean_distance`` away from the mean.

    The least n, counted from the first block, whose half width `t_factor` x ``deviation`` is below the distance; None
    if that is more than `MOST_BLOCKS`, as it is at a distance of 0. Raises ValueError for a negative deviation.
    """
    if not deviation >= 0:
        raise ValueError(f"deviation: expected 0 or more, found {deviation!r}")

    def excludes(blocks: int) -> bool:
        return abs(mean_distance) > 0 and _factor(blocks, alpha) * deviation < abs(mean_distance)

    return _first(excludes, fewest_that_bound(alpha, method="t"))


def blocks_needed_by_median(share_beyond: float, *, alpha: float) -> int | None:
    """Return at how many blocks `median_sequence` is expected to exclude a point with that share of the values beyond
    it, as seen from the median, or on it.

    The least n for which ``share_beyond`` x n is below `order_rank`; None if that is more than `MOST_BLOCKS`, as it is
    at a half. Raises ValueError for a share outside [0, 1].
    """
    if not 0 <= share_beyond <= 1:
        raise ValueError(f"share_beyond: expected a share from 0 to 1, found {share_beyond!r}")
    return _first(lambda blocks: share_beyond * blocks < order_rank(blocks, alpha=alpha), 1)


def _first(excludes: Callable[[int], bool], low: int) -> int | None:
    """Bisect for the least number from ``low`` on at which it is true, as it stays from there."""
    if excludes(low):
        return low
    if not excludes(MOST_BLOCKS):
        return None
    high = MOST_BLOCKS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if excludes(middle) else (middle, high)
    return high


def _factor(blocks: int, alpha: float) -> float:
    return t_factor(blocks, alpha=alpha) if blocks >= least_values(alpha) else math.inf
