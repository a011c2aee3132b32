"""Confidence sequences: the formulas against their definitions, and their edges."""

from __future__ import annotations

import ast
import math
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.stats import sequence as module
from tare.stats.sequence import (
    PRECISION,
    SIGN_PRIOR,
    Interval,
    Method,
    fewest_that_bound,
    least_values,
    median_sequence,
    order_rank,
    sequence,
    t_factor,
    t_sequence,
)

METHODS: tuple[Method, ...] = ("t", "median")
values = st.lists(st.floats(-1e3, 1e3).map(lambda value: round(value, 3)), min_size=2, max_size=30)


def martingale(sample: Sequence[float], mean: float) -> float:
    """M_n as the docstring of `t_sequence` has it."""
    n = len(sample)
    total = math.fsum(value - mean for value in sample)
    squares = math.fsum((value - mean) ** 2 for value in sample)
    return math.sqrt(PRECISION / (n + PRECISION)) * (squares / (squares - total**2 / (n + PRECISION))) ** (n / 2)


@pytest.mark.parametrize("n", [3, 5, 12, 40])
@pytest.mark.parametrize("alpha", [0.1, 0.05])
def test_the_martingale_is_one_over_alpha_at_both_bounds(n: int, alpha: float) -> None:
    sample = np.random.default_rng(n).normal(0.3, 2, size=n).tolist()
    found = t_sequence(sample, alpha=alpha)
    assert martingale(sample, found.low) == pytest.approx(1 / alpha)
    assert martingale(sample, found.high) == pytest.approx(1 / alpha)
    assert martingale(sample, np.mean(sample)) < 1 / alpha


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_the_t_martingale_has_mean_one_under_the_null(n: int) -> None:
    """By quadrature over the t distribution: with T = sqrt(n) mean / s, S^2 / V = n T^2 / (n - 1 + T^2)."""
    from scipy.integrate import quad
    from scipy.stats import t

    if n == 1:
        assert martingale([0.7], 0.0) == pytest.approx(1.0)
        return

    def of_t(statistic: float) -> float:
        share = n / (n + PRECISION) * statistic**2 / (n - 1 + statistic**2)
        return float(math.sqrt(PRECISION / (n + PRECISION)) * (1 - share) ** (-n / 2) * t.pdf(statistic, n - 1))

    assert 2 * quad(of_t, 0, np.inf, limit=500)[0] == pytest.approx(1, abs=1e-6)


def test_the_precision_is_the_minimax_choice_it_says_it_is() -> None:
    def half_width(n: int, precision: float) -> float:
        r = precision / (n + precision)
        k = (1 / (r * 0.05**2)) ** (1 / n)
        return math.sqrt((n - 1) / n * (k - 1) / (1 - k * r)) if k * r < 1 else math.inf

    grid = np.geomspace(1e-3, 10, 400)
    best = {n: min(half_width(n, precision) for precision in grid) for n in range(3, 41)}

    def regret(precision: float) -> float:
        return max(half_width(n, precision) / best[n] for n in best)

    assert half_width(12, PRECISION) == pytest.approx(t_factor(12, alpha=0.05))
    assert regret(PRECISION) < 1.17
    assert regret(PRECISION) < 1.005 * min(regret(precision) for precision in grid)


@given(values, st.floats(0.1, 10), st.floats(-5, 5), st.sampled_from(METHODS))
def test_intervals_move_and_scale_with_the_values(
    sample: list[float], scale: float, shift: float, method: Method
) -> None:
    one = sequence(sample, alpha=0.05, method=method)
    other = sequence([scale * value + shift for value in sample], alpha=0.05, method=method)
    assert other.low == pytest.approx(scale * one.low + shift, abs=1e-6)
    assert other.high == pytest.approx(scale * one.high + shift, abs=1e-6)


@given(values, st.sampled_from(METHODS))
def test_a_larger_alpha_gives_an_interval_inside(sample: list[float], method: Method) -> None:
    wide = sequence(sample, alpha=0.01, method=method)
    narrow = sequence(sample, alpha=0.1, method=method)
    assert wide.low <= narrow.low <= narrow.high <= wide.high


@pytest.mark.parametrize(("alpha", "least"), [(0.1, 5), (0.05, 6), (0.025, 7), (0.0125, 8), (0.5, 2)])
def test_no_method_gives_bounds_before_that_many_equal_signs_are_rare(alpha: float, least: int) -> None:
    assert least_values(alpha) == least
    assert 2.0 ** (1 - least) <= alpha < 2.0 ** (2 - least)
    sample = [0.01 * index for index in range(least - 1)]
    assert sequence(sample, alpha=alpha).width == math.inf
    assert order_rank(least - 1, alpha=alpha) == 0
    assert sequence([*sample, 1.0], alpha=alpha).width < math.inf


@pytest.mark.parametrize("method", ["t", "median"])
@pytest.mark.parametrize("alpha", [0.2, 0.05, 0.0083, 0.001])
def test_the_fewest_that_bound_are_the_first_with_bounds(alpha: float, method: Method) -> None:
    fewest = fewest_that_bound(alpha, method=method)
    values = [math.sin(n) for n in range(fewest)]
    assert math.isfinite(sequence(values, alpha=alpha, method=method).width)
    assert math.isinf(sequence(values[:-1], alpha=alpha, method=method).width)


def test_a_spread_of_zero_is_judged_by_signs() -> None:
    assert sequence([0.1] * 5, alpha=0.05).width == math.inf
    assert sequence([0.1] * 6, alpha=0.05) == Interval(low=0.1, high=0.1)
    third = math.log(3.0) - math.log(2.0)
    rounded = [third, math.log(1.5), third, math.log(1.5), third]
    assert len(set(rounded)) == 2, "the example must differ in its last bits"
    assert sequence(rounded, alpha=0.05).width == math.inf


def test_of_nothing_nothing_is_known() -> None:
    for method in METHODS:
        assert sequence([], alpha=0.05, method=method) == Interval(low=-math.inf, high=math.inf)


def test_median_bounds_are_the_order_statistics_the_martingale_allows() -> None:
    from scipy.special import beta

    for n in (6, 13, 40):
        rank = order_rank(n, alpha=0.05)
        ratio = [2.0**n * beta(SIGN_PRIOR + k, SIGN_PRIOR + n - k) / beta(SIGN_PRIOR, SIGN_PRIOR) for k in range(n)]
        assert ratio[rank - 1] >= 20 > ratio[rank]
        sample = np.random.default_rng(n).permutation(n).tolist()
        assert median_sequence(sample, alpha=0.05) == Interval(low=rank - 1, high=n - rank)


def test_the_sign_prior_cuts_at_most_one_value_fewer_than_the_best() -> None:
    from scipy.special import betaln

    def rank(n: int, prior: float) -> int:
        log_ratio = (betaln(prior + k, prior + n - k) - betaln(prior, prior) + n * math.log(2) for k in range(n // 2))
        return next((k for k, value in enumerate(log_ratio) if value < math.log(20)), n // 2)

    for n in range(2, 41):
        best = max(rank(n, prior) for prior in (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10))
        assert order_rank(n, alpha=0.05) == rank(n, SIGN_PRIOR) >= best - 1


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.1, 5.0, math.nan])
@pytest.mark.parametrize("method", METHODS)
def test_an_error_rate_is_between_0_and_1(alpha: float, method: Method) -> None:
    with pytest.raises(ValueError, match=r"alpha: expected an error rate between 0 and 1, such as 0\.05, found"):
        sequence([1.0, 2.0], alpha=alpha, method=method)


def test_intervals() -> None:
    interval = Interval(low=-1.0, high=2.0)
    assert interval.width == 3
    assert interval.contains(2.0)
    assert not interval.contains(2.1)


def test_importing_costs_no_scientific_library() -> None:
    """The plugin imports it at the start of every pytest, also of those that measure nothing."""
    tree = ast.parse(Path(module.__file__).read_text())
    imported = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imported |= {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    assert imported
    assert {name.split(".")[0] for name in imported} <= sys.stdlib_module_names
