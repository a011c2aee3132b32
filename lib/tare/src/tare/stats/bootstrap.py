"""The final interval of a ratio of quantiles, by a bootstrap in two steps: blocks first, then requests.

Requests of one block share its machine, its deployment and its minute, so they count for far less than as many
independent ones; an interval that resamples requests alone is much too narrow. `scipy.stats.bootstrap` resamples one
axis of arrays, so neither the two steps nor blocks of unequal size fit it. Equal latencies are counted, not repeated,
so a histogram of a million requests costs no more than its buckets.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tare.stats.histogram import Histogram
from tare.stats.sequence import Interval

RESAMPLES = 4000
FEWEST_BLOCKS = 3

# The latencies of a block: each, or counted in a histogram.
Block = Sequence[float] | Histogram


def hierarchical_ratios_of_quantiles(
    level_blocks: Sequence[Block],
    baseline_blocks: Sequence[Block],
    quantiles: Sequence[float],
    *,
    confidence: float,
    seed: int,
) -> tuple[tuple[float, Interval], ...]:
    """Return, for each q of ``quantiles``, the ratio of the q-quantiles of all requests, level to baseline, and its
    interval at one look.

    ``level_blocks[i]`` and ``baseline_blocks[i]`` hold the latencies of block i (any unit, positive; seconds in
    histograms), in any number; the blocks are resampled as pairs. The bounds are percentiles of the resampled ratios,
    moved outwards as the t distribution and the factor sqrt(n / (n - 1)) ask for few blocks (T. Hesterberg, "What
    teachers should know about the bootstrap", The American Statistician 69, 2015, "expanded percentile interval");
    infinite with fewer than 3 blocks. Valid at one sample size: it is for the report at the end, not for stopping.

    Requests need not be drawn: the k-th smallest of m draws from a distribution F is distributed as F^-1(U), with
    U ~ Beta(k, m - k + 1), F here the distribution of all requests of the blocks drawn in the first step.

    Raises ValueError for blocks that do not pair up, an empty block, and a quantile or confidence outside (0, 1).
    """
    _check(level_blocks, baseline_blocks, quantiles, confidence)
    blocks = len(level_blocks)
    rng = np.random.default_rng(seed)
    level, baseline = _Pool(level_blocks), _Pool(baseline_blocks)
    once = np.ones((1, blocks))
    drawn = rng.multinomial(blocks, np.full(blocks, 1 / blocks), size=RESAMPLES).astype(np.float64)
    found = []
    for q in quantiles:
        estimate = float((level.quantile(once, q) / baseline.quantile(once, q))[0])
        if blocks < FEWEST_BLOCKS:
            found.append((estimate, Interval(low=-np.inf, high=np.inf)))
            continue
        ratios = level.resampled_quantile(drawn, q, rng) / baseline.resampled_quantile(drawn, q, rng)
        low, high = np.quantile(ratios, _expanded(blocks, confidence))
        found.append((estimate, Interval(low=float(low), high=float(high))))
    return tuple(found)


class _Pool:
    """The distinct latencies in order, and how many requests of each block are among the first i of them."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        counted = [_counted(block) for block in blocks]
        self._values, place = np.unique(np.concatenate([values for values, _ in counted]), return_inverse=True)
        self._up_to = np.zeros((len(self._values) + 1, len(blocks)))
        ends = np.cumsum([len(values) for values, _ in counted])
        for block, (places, (_, counts)) in enumerate(zip(np.split(place, ends[:-1]), counted, strict=True)):
            self._up_to[places + 1, block] = counts
        np.cumsum(self._up_to, axis=0, out=self._up_to)
        self._sizes = self._up_to[-1]

    def quantile(self, weights: npt.NDArray[np.float64], q: float) -> npt.NDArray[np.float64]:
        """Return, for each row of block weights, the least request that a share q of the weight does not exceed."""
        return self._at(weights, q * (weights @ self._sizes))

    def resampled_quantile(
        self, weights: npt.NDArray[np.float64], q: float, rng: np.random.Generator
    ) -> npt.NDArray[np.float64]:
        """As `quantile`, of as many requests drawn anew from the weighted blocks."""
        requests = weights @ self._sizes
        rank = np.ceil(q * requests)
        return self._at(weights, requests * rng.beta(rank, requests - rank + 1))

    def _at(self, weights: npt.NDArray[np.float64], mass: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Bisect, in every row at once, for the first request up to which the weights add up to ``mass``."""
        low, high = np.zeros(len(weights), dtype=np.intp), np.full(len(weights), len(self._values), dtype=np.intp)
        while np.any(high - low > 1):
            middle = (low + high) // 2
            reached = np.einsum("ij,ij->i", weights, self._up_to[middle]) >= mass * (1 - 1e-12)
            high, low = np.where(reached, middle, high), np.where(reached, low, middle)
        return self._values[high - 1]


def _counted(block: Block) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """The distinct latencies of a block, ascending, and how often each occurs."""
    if isinstance(block, Histogram):
        return block.counted()
    return np.unique_counts(np.asarray(block, dtype=np.float64))


def _expanded(blocks: int, confidence: float) -> tuple[float, float]:
    from scipy.stats import norm, t

    tail = norm.cdf(-np.sqrt(blocks / (blocks - 1)) * t.ppf((1 + confidence) / 2, blocks - 1))
    return float(tail), float(1 - tail)


def _check(
    level_blocks: Sequence[Block], baseline_blocks: Sequence[Block], quantiles: Sequence[float], confidence: float
) -> None:
    if len(level_blocks) != len(baseline_blocks) or not level_blocks:
        raise ValueError(
            f"blocks come in pairs: found {len(level_blocks)} of the level and {len(baseline_blocks)} of the baseline"
        )
    for name, blocks in (("level", level_blocks), ("baseline", baseline_blocks)):
        for number, block in enumerate(blocks):
            if (block.count if isinstance(block, Histogram) else len(block)) == 0:
                raise ValueError(f"block {number} of the {name} has no requests; leave out the block on both sides")
    for name, share in (*(("q", q) for q in quantiles), ("confidence", confidence)):
        if not 0 < share < 1:
            raise ValueError(f"{name}: expected a share between 0 and 1, such as 0.95, found {share!r}")
