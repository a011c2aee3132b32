"""The two-step bootstrap: exact on what can be counted, and its coverage where blocks differ."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tare.stats.bootstrap import hierarchical_ratios_of_quantiles
from tare.stats.histogram import Histogram
from tare.stats.simulation import Array


def experiment(
    rng: np.random.Generator, *, blocks: int, requests: int, between: float
) -> tuple[list[Array], list[Array]]:
    """Log-normal latencies; each block has its own level, shared by both sides, and each side its own beside."""
    shared = between * rng.normal(size=(blocks, 1))
    own = between / 2 * rng.normal(size=(2, blocks, 1))
    level, baseline = np.exp(shared + own + 0.3 * rng.normal(size=(2, blocks, requests)))
    return list(1.2 * level), list(baseline)


def test_the_estimate_is_the_ratio_of_the_pooled_quantiles() -> None:
    level, baseline = [[1.0, 2.0], [3.0, 4.0, 5.0]], [[1.0], [2.0, 3.0]]
    quantiles = (0.2, 0.5, 0.99)
    found = hierarchical_ratios_of_quantiles(level, baseline, quantiles, confidence=0.95, seed=1)
    for q, (estimate, _) in zip(quantiles, found, strict=True):
        exact = np.quantile(np.concatenate(level), q, method="inverted_cdf") / np.quantile(
            np.concatenate(baseline), q, method="inverted_cdf"
        )
        assert estimate == exact


@pytest.mark.parametrize("q", [0.5, 0.99])
@pytest.mark.parametrize("between", [0.0, 0.1])
def test_it_covers_the_true_ratio(q: float, between: float) -> None:
    rng = np.random.default_rng(round(100 * q + between))
    found = []
    for seed in range(150):
        level, baseline = experiment(rng, blocks=10, requests=200, between=between)
        ((_, interval),) = hierarchical_ratios_of_quantiles(level, baseline, (q,), confidence=0.95, seed=seed)
        found.append(interval)
    assert np.mean([interval.contains(1.2) for interval in found]) >= 0.95
    assert np.median([interval.width for interval in found]) < 0.5


def test_resampling_requests_alone_would_be_much_too_narrow() -> None:
    level, baseline = experiment(np.random.default_rng(3), blocks=10, requests=2000, between=0.2)
    ((_, interval),) = hierarchical_ratios_of_quantiles(level, baseline, (0.5,), confidence=0.95, seed=1)
    rng = np.random.default_rng(4)
    pooled = [np.concatenate(side) for side in (level, baseline)]
    naive = [np.median(rng.choice(pooled[0], 20_000)) / np.median(rng.choice(pooled[1], 20_000)) for _ in range(200)]
    assert interval.width > 3 * (np.quantile(naive, 0.975) - np.quantile(naive, 0.025))


def test_the_second_step_is_drawing_requests() -> None:
    """The quantile of drawn requests, got from a beta variate, is distributed as that of requests really drawn."""
    from scipy.stats import ks_2samp

    from tare.stats.bootstrap import _Pool

    rng = np.random.default_rng(5)
    blocks = [rng.exponential(size=30), rng.exponential(size=50) + 0.3]
    drawn = np.quantile(rng.choice(np.concatenate(blocks), size=(4000, 80)), 0.9, axis=1, method="inverted_cdf")
    assert ks_2samp(drawn, _Pool(blocks).resampled_quantile(np.ones((4000, 2)), 0.9, rng)).pvalue > 0.01


def test_the_same_seed_gives_the_same_interval() -> None:
    level, baseline = experiment(np.random.default_rng(6), blocks=5, requests=50, between=0.1)
    runs = [hierarchical_ratios_of_quantiles(level, baseline, (0.5,), confidence=0.9, seed=seed) for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]


def test_two_blocks_have_no_spread_to_speak_of() -> None:
    sides = ([[1.0], [2.0]], [[1.0], [1.0]])
    ((_, interval),) = hierarchical_ratios_of_quantiles(*sides, (0.5,), confidence=0.95, seed=1)
    assert (interval.low, interval.high) == (-math.inf, math.inf)


@pytest.mark.parametrize(
    ("level", "baseline", "q", "confidence", "message"),
    [
        ([[1.0]], [], 0.5, 0.95, "blocks come in pairs: found 1 of the level and 0 of the baseline"),
        ([], [], 0.5, 0.95, "blocks come in pairs: found 0"),
        ([[1.0], []], [[1.0], [1.0]], 0.5, 0.95, "block 1 of the level has no requests"),
        ([[1.0]], [[1.0]], 99, 0.95, r"q: expected a share between 0 and 1, such as 0\.95, found 99"),
        ([[1.0]], [[1.0]], 0.5, 95, "confidence: expected a share between 0 and 1"),
    ],
)
def test_wrong_arguments_are_named(
    level: list[list[float]], baseline: list[list[float]], q: float, confidence: float, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        hierarchical_ratios_of_quantiles(level, baseline, (q,), confidence=confidence, seed=1)


def test_histograms_are_as_good_as_the_latencies_they_counted() -> None:
    level, baseline = experiment(np.random.default_rng(7), blocks=6, requests=500, between=0.1)
    exact = hierarchical_ratios_of_quantiles(level, baseline, (0.5, 0.99), confidence=0.95, seed=1)
    counted = hierarchical_ratios_of_quantiles(
        [Histogram.of(block) for block in level],
        [Histogram.of(block) for block in baseline],
        (0.5, 0.99),
        confidence=0.95,
        seed=1,
    )
    for (ratio, interval), (ratio_counted, interval_counted) in zip(exact, counted, strict=True):
        assert ratio_counted == pytest.approx(ratio, rel=3e-3)
        assert (interval_counted.low, interval_counted.high) == pytest.approx((interval.low, interval.high), rel=3e-3)


def test_several_quantiles_at_once_begin_with_the_one_alone() -> None:
    level, baseline = experiment(np.random.default_rng(8), blocks=5, requests=50, between=0.1)
    (alone,) = hierarchical_ratios_of_quantiles(level, baseline, (0.5,), confidence=0.9, seed=1)
    assert hierarchical_ratios_of_quantiles(level, baseline, (0.5, 0.9), confidence=0.9, seed=1)[0] == alone


def test_an_empty_histogram_is_an_empty_block() -> None:
    with pytest.raises(ValueError, match="block 0 of the level has no requests"):
        hierarchical_ratios_of_quantiles([Histogram()], [[1.0]], (0.5,), confidence=0.95, seed=1)
