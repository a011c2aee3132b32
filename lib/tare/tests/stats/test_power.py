"""What the formulas promise, against simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tare.stats.power import blocks_needed, minimum_detectable_effect
from tare.stats.sequence import least_values, t_factor
from tare.stats.simulation import excluded


@pytest.mark.parametrize("blocks", [6, 10, 40])
@pytest.mark.parametrize("power", [0.5, 0.8])
def test_the_detectable_effect_is_detected_with_that_power(blocks: int, power: float) -> None:
    effect = minimum_detectable_effect(0.03, blocks=blocks, alpha=0.05, power=power)
    values = np.random.default_rng(blocks).normal(effect, 0.03, size=(20_000, blocks))
    seen = excluded(values, alpha=0.05)
    assert seen[:, -1].mean() == pytest.approx(power, abs=0.015)
    assert power - 0.015 <= seen.any(axis=1).mean() <= power + 0.12


def test_too_few_blocks_detect_nothing_and_no_noise_hides_nothing() -> None:
    assert minimum_detectable_effect(0.03, blocks=5, alpha=0.05) == math.inf
    assert minimum_detectable_effect(0.0, blocks=6, alpha=0.05) == 0


def test_blocks_needed_is_where_the_expected_interval_clears_the_distance() -> None:
    for distance in (0.1, 0.02, 0.01):
        blocks = blocks_needed(-distance, 0.02, alpha=0.05)
        assert blocks is not None
        assert t_factor(blocks, alpha=0.05) * 0.02 < distance
        assert blocks == least_values(0.05) or t_factor(blocks - 1, alpha=0.05) * 0.02 >= distance


def test_blocks_needed_is_about_what_a_simulated_experiment_needs() -> None:
    promised = blocks_needed(0.02, 0.02, alpha=0.05)
    assert promised is not None
    values = np.random.default_rng(5).normal(0.02, 0.02, size=(5000, 3 * promised))
    stopped = np.argmax(excluded(values, alpha=0.05), axis=1) + 1
    assert 0.6 * promised <= np.median(stopped) <= 1.2 * promised


def test_some_verdicts_are_out_of_reach() -> None:
    assert blocks_needed(0.0, 0.02, alpha=0.05) is None
    assert blocks_needed(0.0, 0.0, alpha=0.05) is None
    assert blocks_needed(1e-6, 0.02, alpha=0.05) is None
    assert blocks_needed(0.1, 0.0, alpha=0.05) == 6


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(ValueError, match=r"deviation: expected 0 or more, found -0\.1"):
        minimum_detectable_effect(-0.1, blocks=10, alpha=0.05)
    with pytest.raises(ValueError, match="deviation: expected 0 or more, found nan"):
        blocks_needed(0.1, math.nan, alpha=0.05)
    with pytest.raises(ValueError, match=r"power: expected more than alpha, 0\.05, and less than 1"):
        minimum_detectable_effect(0.1, blocks=10, alpha=0.05, power=80)
