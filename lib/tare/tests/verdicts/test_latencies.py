"""Percentiles of latency against the baseline, as the report has them."""

from __future__ import annotations

import dataclasses
import math

import pytest

from tare.trials.trial import Trial
from tare.verdicts.latencies import LatencyRatio, compare_latencies


def compare(trials: tuple[Trial, ...] | list[Trial]) -> tuple[LatencyRatio, ...]:
    return compare_latencies(trials, factor="runtime", baseline="runc", seed=7)


def many(trial: Trial, *, block: int, raw: bool = True) -> Trial:
    """A thousand requests of the trial's own speed, a tenth of them ten times as slow."""
    slow = 1.1 if trial.levels["runtime"] == "gvisor" else 1.0
    latencies = tuple(0.001 * slow * (1 + number / 1000) * (10 if number % 10 == 0 else 1) for number in range(1000))
    histogram = type(trial.histograms["caliper"]).of(latencies)
    return dataclasses.replace(
        trial,
        block=block,
        latencies_seconds={"caliper": latencies} if raw else {},
        histograms={"caliper": histogram},
    )


def blocks(trials: tuple[Trial, ...], number: int, *, raw: bool = True) -> list[Trial]:
    first = [trial for trial in trials if trial.block == 0]
    return [many(trial, block=block, raw=raw) for block in range(number) for trial in first]


def test_each_level_and_each_arm_is_held_against_the_baseline_of_its_condition(trials: tuple[Trial, ...]) -> None:
    found = compare(blocks(trials, 4))
    assert sorted((str(one.level), one.aa) for one in found) == [("gvisor", False)] * 4 + [("runc", True)] * 4
    assert {(one.load, one.n, one.requests, one.baseline_requests) for one in found} == {("caliper", 4, 4000, 4000)}
    for one in found:
        expected = 1.1 if one.level == "gvisor" else 1.0
        assert [each.quantile for each in one.quantiles] == [0.5, 0.9, 0.99]
        for each in one.quantiles:
            assert each.ratio == pytest.approx(expected)
            assert each.low <= expected * (1 + 1e-9) and expected <= each.high * (1 + 1e-9)


@pytest.mark.parametrize(("number", "most"), [(1, 0.99), (9, 0.99), (10, 0.999)])
def test_a_percentile_needs_ten_requests_beyond_it(trials: tuple[Trial, ...], number: int, most: float) -> None:
    assert compare(blocks(trials, number))[0].quantiles[-1].quantile == most


def test_few_requests_have_the_median_alone(trials: tuple[Trial, ...]) -> None:
    # Two blocks of twenty requests; and two blocks bound nothing.
    (quantile,) = compare(trials)[0].quantiles
    assert (quantile.quantile, quantile.low, quantile.high) == (0.5, -math.inf, math.inf)


def test_histograms_stand_in_for_latencies_that_are_not_there(trials: tuple[Trial, ...]) -> None:
    for one, other in zip(compare(blocks(trials, 4)), compare(blocks(trials, 4, raw=False)), strict=True):
        assert other.requests == one.requests
        for exact, counted in zip(one.quantiles, other.quantiles, strict=True):
            assert (counted.ratio, counted.low) == pytest.approx((exact.ratio, exact.low), rel=3e-3)


def test_blocks_without_both_sides_and_trials_set_aside_do_not_count(trials: tuple[Trial, ...]) -> None:
    made = blocks(trials, 4)
    made = [
        dataclasses.replace(trial, set_aside=True)
        if trial.block == 1
        else dataclasses.replace(trial, latencies_seconds={}, histograms={})
        if trial.block == 2 and trial.levels["runtime"] == "gvisor"
        else trial
        for trial in made
    ]
    assert {(str(one.level), one.n) for one in compare(made)} == {("gvisor", 2), ("runc", 3)}
    assert compare([trial for trial in made if trial.levels["runtime"] == "gvisor"]) == ()


def test_a_latency_of_zero_has_a_ratio(trials: tuple[Trial, ...]) -> None:
    made = [dataclasses.replace(trial, latencies_seconds={"caliper": (0.0,) * 1000}) for trial in blocks(trials, 3)]
    assert {each.ratio for one in compare(made) for each in one.quantiles} == {1.0}


def test_the_same_seed_gives_the_same_intervals(trials: tuple[Trial, ...]) -> None:
    made = blocks(trials, 4)
    assert compare(made) == compare(made)
