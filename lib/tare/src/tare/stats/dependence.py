"""Are the blocks' values what the intervals take them for: without drift, and not following one another?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

FEWEST = 8
"""Below this number of values neither check can say anything."""

DRIFT_P = 0.01
BOUND_DEVIATIONS = 2.58
"""How rare a sign of drift or of dependence must be, by chance alone, to be worth a warning: once in a hundred runs."""


def drift(values: Sequence[float]) -> tuple[float, float]:
    """Return the slope (the values' unit per value) and the p-value of there being none.

    The slope is Theil's median of pairwise slopes (Theil 1950, Sen 1968), the test Kendall's tau against time
    (Mann 1945); neither is moved by single outliers. With fewer than 3 values, or all equal, slope 0 and p-value 1.
    """
    if len(values) < 3 or min(values) == max(values):
        return 0.0, 1.0
    from scipy.stats import kendalltau, theilslopes

    order = range(len(values))
    slope = theilslopes(values, order).slope
    return float(slope), float(kendalltau(order, values).pvalue)


def autocorrelation(values: Sequence[float]) -> tuple[float, float]:
    """Return the correlation of each value with the next, and what it stays within in 99 of 100 independent series.

    The sample's lag-1 autocorrelation plus 1 / n, its bias for independent values; its deviation is
    (n - 2) / (n sqrt(n - 1)) (P. A. P. Moran, "Some theorems on time series II", Biometrika 35, 1948). With fewer
    than 3 values, or all equal, 0 and 1.
    """
    n = len(values)
    if n < 3 or min(values) == max(values):
        return 0.0, 1.0
    mean = math.fsum(values) / n
    centred = [value - mean for value in values]
    covariance = math.fsum(a * b for a, b in pairwise(centred))
    correlation = covariance / math.fsum(value * value for value in centred)
    return correlation + 1 / n, BOUND_DEVIATIONS * (n - 2) / (n * math.sqrt(n - 1))


def warnings(values: Sequence[float]) -> tuple[str, ...]:
    """Return what a reader of the interval should know, in sentences that end in what to do; empty if all is well."""
    if len(values) < FEWEST:
        return ()
    told = []
    slope, p_value = drift(values)
    if p_value < DRIFT_P:
        told.append(
            f"the values drift by {slope:+.3g} a block over {len(values)} blocks (p = {p_value:.2g}), so they have no "
            "one mean: lengthen the warm-up, or find what fills up or heats up from block to block"
        )
    correlation, bound = autocorrelation(values)
    if not told and abs(correlation) > bound:
        told.append(
            f"each block resembles {'the next' if correlation > 0 else 'the opposite of the next'} (correlation "
            f"{correlation:+.2f}, chance stays within {bound:.2f}), so {len(values)} blocks say less than as many "
            "independent ones: lengthen the trials, or look for a periodic task on this machine"
        )
    return tuple(told)
