"""Drift and dependence between blocks: found when there, rarely when not, and told in words."""

from __future__ import annotations

import numpy as np
import pytest

from tare.stats.dependence import autocorrelation, drift, warnings
from tare.stats.simulation import autoregressive


def test_a_straight_line_is_a_drift() -> None:
    slope, p_value = drift([0.1 + 0.02 * block for block in range(12)])
    assert slope == pytest.approx(0.02)
    assert p_value < 1e-6


def test_one_outlier_is_no_drift() -> None:
    values = np.random.default_rng(1).normal(size=20)
    values[-1] = 1000
    slope, p_value = drift(values.tolist())
    assert abs(slope) < 0.1
    assert p_value > 0.05


def test_autocorrelation_of_correlated_and_independent_values() -> None:
    rng = np.random.default_rng(2)
    correlated, bound = autocorrelation(autoregressive(0.8)(rng, 1, 2000)[0].tolist())
    assert correlated == pytest.approx(0.8, abs=0.05)
    assert correlated > bound
    independent = [autocorrelation(row) for row in rng.normal(size=(3000, 12)).tolist()]
    assert np.mean([value for value, _ in independent]) == pytest.approx(0, abs=0.02)
    assert np.mean([abs(value) > bound for value, bound in independent]) < 0.02


def test_too_little_or_constant_data_has_neither() -> None:
    for values in ([], [1.0, 2.0], [3.0] * 10):
        assert drift(values) == (0.0, 1.0)
        assert autocorrelation(values) == (0.0, 1.0)
        assert warnings(values) == ()


def test_warnings_say_what_and_what_to_do() -> None:
    (of_drift,) = warnings([0.02 * block for block in range(12)])
    assert of_drift.startswith("the values drift by +0.02 a block over 12 blocks (p = ")
    assert "lengthen the warm-up" in of_drift
    (of_swing,) = warnings([(-1) ** block + 0.01 * block for block in range(12)])
    assert of_swing.startswith("each block resembles the opposite of the next (correlation -")
    slow = np.sin(np.arange(40) / 4)
    (of_wave,) = warnings(slow.tolist())
    assert of_wave.startswith("each block resembles the next (correlation +0.9")


@pytest.mark.parametrize("blocks", [8, 20, 40])
def test_independent_blocks_rarely_warn(blocks: int) -> None:
    sample = np.random.default_rng(blocks).normal(size=(500, blocks)).tolist()
    assert np.mean([bool(warnings(row)) for row in sample]) < 0.04
