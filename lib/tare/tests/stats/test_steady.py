"""Warm-up curves, flat noise, trends: where the steady state begins, and that there may be none."""

from __future__ import annotations

import numpy as np
import pytest

from tare.stats.simulation import Array, autoregressive
from tare.stats.steady import steady_from

SECONDS = 30
SERIES = 60


def share(answers: list[int | None], *, of: range | None) -> float:
    return float(np.mean([answer is None if of is None else answer in of for answer in answers]))


def answers(shape: Array, noise: Array) -> list[int | None]:
    return [steady_from(shape + row) for row in noise]


@pytest.mark.parametrize("kind", ["1 %", "10 %", "Student t", "counts", "AR(1) 0.5"])
def test_flat_noise_is_steady_from_the_start(kind: str) -> None:
    rng = np.random.default_rng(11)
    noise = {
        "1 %": 0.01 * rng.normal(size=(SERIES, SECONDS)),
        "10 %": 0.1 * rng.normal(size=(SERIES, SECONDS)),
        "Student t": 0.05 * rng.standard_t(3, size=(SERIES, SECONDS)),
        "counts": rng.poisson(200, size=(SERIES, SECONDS)) / 200 - 1,
        "AR(1) 0.5": 0.05 * autoregressive(0.5)(rng, SERIES, SECONDS),
    }[kind]
    assert share(answers(np.ones(SECONDS), noise), of=range(1)) >= (0.9 if "AR" in kind else 0.95)


def test_a_warm_up_curve_is_steady_once_it_is_flat() -> None:
    """An exponential of time constant 3 s, 100 % above its end: under 10 % above from 7 s, under 2 % from 12 s."""
    noise = 0.03 * np.random.default_rng(12).normal(size=(SERIES, SECONDS))
    assert share(answers(1 + np.exp(-np.arange(SECONDS) / 3), noise), of=range(3, 16)) >= 0.95


def test_a_step_is_found_to_the_second() -> None:
    noise = 0.03 * np.random.default_rng(13).normal(size=(SERIES, SECONDS))
    assert share(answers(1 + 0.3 * (np.arange(SECONDS) < 8), noise), of=range(7, 10)) >= 0.95


@pytest.mark.parametrize(
    "shape",
    [1 + 0.01 * np.arange(SECONDS), 2 - 0.02 * np.arange(SECONDS), 1 + 0.3 * (np.arange(SECONDS) >= 24)],
    ids=["rising", "falling", "changed near the end"],
)
def test_what_does_not_settle_has_no_steady_state(shape: Array) -> None:
    noise = 0.03 * np.random.default_rng(14).normal(size=(SERIES, SECONDS))
    assert share(answers(shape, noise), of=None) >= 0.95


def test_outliers_are_not_changes() -> None:
    noise = 0.02 * np.random.default_rng(15).normal(size=(SERIES, SECONDS))
    noise[:, [4, 13, 25]] += 3
    assert share(answers(np.ones(SECONDS), noise), of=range(1)) >= 0.95


def test_a_difference_within_the_tolerance_is_none() -> None:
    series = 100 + np.tile([0.0, 0.1], 15) + (np.arange(30) < 10)
    assert steady_from(series, tolerance=0.02) == 0
    assert steady_from(series, tolerance=0.001) == 10


def test_a_series_without_noise() -> None:
    assert steady_from([5.0] * 20) == 0
    assert steady_from([9.0] * 4 + [5.0] * 16) == 4
    assert steady_from([9.0] * 16 + [5.0] * 4) is None
    assert steady_from([float(second) for second in range(20)]) is None


def test_a_long_series_is_searched_more_coarsely() -> None:
    series = 1 + 0.3 * (np.arange(600) < 100) + 0.03 * np.random.default_rng(16).normal(size=600)
    assert steady_from(series) == pytest.approx(100, abs=5)


def test_too_short_to_tell() -> None:
    assert steady_from([1.0] * 9) is None


@pytest.mark.parametrize(("tolerance", "least_share"), [(-0.1, 0.5), (0.1, 0.0), (0.1, 1.5)])
def test_wrong_arguments_are_named(tolerance: float, least_share: float) -> None:
    with pytest.raises(ValueError, match="expected a tolerance from 0 and a share in"):
        steady_from([1.0] * 20, tolerance=tolerance, least_share=least_share)
