"""Confidence sequences: intervals for a mean or a median that hold at every sample size at once.

A confidence interval covers the truth with probability 1 - alpha at *one* sample size, chosen before the data. A
confidence sequence covers it with probability 1 - alpha at *all* sample sizes together, so whoever looks after every
block and stops when he likes the picture is still right 95 times in 100. Both sequences here invert a nonnegative
martingale that starts at 1: by Ville's inequality (1939) it ever reaches 1/alpha with probability alpha at most.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

PRECISION = 0.08
"""Precision (1 / variance) of the normal mixture over the standardised effect, mean / deviation, in `t_sequence`.

Chosen once, before any data. No precision is best at every sample size; 0.08 keeps the interval for alpha = 0.05
within 17 % of the narrowest that any precision gives at each size from 3 to 40, which is the least possible (minimax)
regret over that range. It does not depend on alpha, so that a sequence at a larger alpha lies inside one at a smaller.
"""

SIGN_PRIOR = 0.2
"""Both parameters of the beta mixture in `median_sequence`.

It gives a finite interval at 6 values for alpha = 0.05, the first size at which any two-sided sign test can reject at
that level, and cuts at most one order statistic fewer than the best parameter at every size up to 40.
"""

ROUNDING = 1e-9
"""Values that differ by less than this share of the largest are equal: no clock resolves one part in 10^9."""

Method = Literal["t", "median"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A closed interval; either bound may be infinite."""

    low: float
    high: float

    @property
    def width(self) -> float:
        return self.high - self.low

    def contains(self, value: float) -> bool:
        return self.low <= value <= self.high


EVERYTHING = Interval(low=-math.inf, high=math.inf)


def sequence(values: Sequence[float], *, alpha: float, method: Method = "t") -> Interval:
    """Return the interval after ``values`` by the named method, valid at every number of values at once.

    ``"t"`` is `t_sequence` under two rules that make it hold beyond normal noise (docs/explanation/statistics.md has
    the simulations). It is infinite below `least_values`. And where all values are equal it is the median's interval:
    a spread of zero is rounding, no certainty, and a sign test is the most that such values support. ``"median"`` asks
    nothing of the noise, only that each block's order was drawn anew. Raises ValueError for alpha outside (0, 1).
    """
    if method == "median" or _all_equal(values):
        return median_sequence(values, alpha=alpha)
    if len(values) < least_values(alpha):
        return EVERYTHING
    return t_sequence(values, alpha=alpha)


def least_values(alpha: float) -> int:
    """Return the fewest values on which a verdict may rest: the least n with 2^(1 - n) <= alpha; 6 for 0.05.

    Strong drift, or a disturbance in step with the blocks, gives differences of equal size whose signs the random
    order tosses. Then n equal signs have probability 2^(1 - n), and no spread that Student's t could see: earlier
    than this, the toss alone raises false alarms in more than alpha of the runs. Raises ValueError for alpha outside
    (0, 1).
    """
    _check(alpha)
    return math.ceil(1 - math.log2(alpha))


def fewest_that_bound(alpha: float, *, method: Method) -> int:
    """Return the fewest values of which `sequence` gives bounds, whatever the values; 6 for 0.05.

    Raises ValueError for alpha outside (0, 1).
    """

    def bound(n: int) -> bool:
        return order_rank(n, alpha=alpha) > 0 if method == "median" else t_factor(n, alpha=alpha) < math.inf

    return next(n for n in itertools.count(least_values(alpha)) if bound(n))


def centre(values: Sequence[float], *, method: Method) -> float:
    """Return what the method's interval is about: the median, or the mean. Raises ValueError without values."""
    if not values:
        raise ValueError("no values, so no centre")
    return statistics.median(values) if method == "median" else math.fsum(values) / len(values)


def t_sequence(values: Sequence[float], *, alpha: float) -> Interval:
    """Return the interval for the mean of normal values of unknown variance; infinite with fewer than three.

    For a candidate mean m let S = sum(x - m), V = sum((x - m)^2) and c the precision. The likelihood ratio of the
    maximal invariant under scaling, mixed over a standardised effect drawn from N(0, 1/c), is

        M_n = sqrt(c / (n + c)) * (V / (V - S^2 / (n + c)))^(n / 2),

    a nonnegative martingale with M_0 = 1 if m is the mean. The interval is {m: M_n < 1 / alpha}; see `t_factor`.
    H. Wang and A. Ramdas, "Anytime-valid t-tests and confidence sequences for Gaussian means with unknown variance",
    Sequential Analysis 44 (2025), arXiv 2310.03722 (2023), section 4; the reduction by scale goes back to T. L. Lai,
    "On confidence sequences", Annals of Statistics 4 (1976). Raises ValueError for alpha outside (0, 1).
    """
    n = len(values)
    factor = t_factor(n, alpha=alpha)
    if math.isinf(factor):
        return EVERYTHING
    mean = math.fsum(values) / n
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1))
    return Interval(low=mean - factor * deviation, high=mean + factor * deviation)


@lru_cache(maxsize=4096)
def t_factor(n: int, *, alpha: float) -> float:
    """Return the half width of `t_sequence` in standard deviations (divisor n - 1) of the n values.

    With r = c / (n + c), k = (1 / (r alpha^2))^(1/n) and u = n (mean - m)^2 / ((n - 1) s^2), M_n < 1 / alpha is
    u (1 - k r) < k - 1. So the half width is s sqrt((n - 1) u / n) with u = (k - 1) / (1 - k r), or infinite if
    k r >= 1: then no mean, however far away, could be excluded. Raises ValueError for alpha outside (0, 1).
    """
    _check(alpha)
    if n < 2:
        return math.inf
    r = PRECISION / (n + PRECISION)
    k = (1 / (r * alpha**2)) ** (1 / n)
    if k * r >= 1:
        return math.inf
    return math.sqrt((n - 1) / n * (k - 1) / (1 - k * r))


def median_sequence(values: Sequence[float], *, alpha: float) -> Interval:
    """Return the interval for the median of independent values of any distribution: a pair of order statistics.

    If m is the median, the number of values below m is a sum of fair coin tosses, whatever the tails. Their likelihood
    ratio mixed over a Beta(a, a) chance is a martingale, B(a + k, a + n - k) / B(a, a) * 2^n after k of n; the interval
    holds each m for which it is below 1 / alpha. H. Robbins, "Statistical methods related to the law of the iterated
    logarithm", Annals of Mathematical Statistics 41 (1970); S. R. Howard and A. Ramdas, "Sequential estimation of
    quantiles with applications to A/B testing and best-arm identification", Bernoulli 28 (2022). For symmetric values
    the median is the mean. Infinite with fewer than 6 values at alpha = 0.05. Raises ValueError for alpha outside
    (0, 1).
    """
    rank = order_rank(len(values), alpha=alpha)
    if rank == 0:
        return EVERYTHING
    ordered = sorted(values)
    return Interval(low=ordered[rank - 1], high=ordered[-rank])


@lru_cache(maxsize=4096)
def order_rank(n: int, *, alpha: float) -> int:
    """Return j such that the j-th smallest and the j-th largest of n values bound the median; 0 if none do.

    It is the least number of values below m at which the martingale of `median_sequence` stays under 1 / alpha.
    Raises ValueError for alpha outside (0, 1).
    """
    _check(alpha)

    def log_martingale(below: int) -> float:
        mixed = _log_beta(SIGN_PRIOR + below, SIGN_PRIOR + n - below) - _log_beta(SIGN_PRIOR, SIGN_PRIOR)
        return mixed + n * math.log(2)

    return next((below for below in range(n // 2) if log_martingale(below) < -math.log(alpha)), n // 2)


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def _all_equal(values: Sequence[float]) -> bool:
    if not values:
        return True
    low, high = min(values), max(values)
    return high - low <= ROUNDING * max(abs(low), abs(high))


def _check(alpha: float) -> None:
    if not 0 < alpha < 1:
        raise ValueError(f"alpha: expected an error rate between 0 and 1, such as 0.05, found {alpha!r}")
