"""What the plots are drawn from: axes that hold every point, colours that are seen, percentiles that are merged."""

from __future__ import annotations

import dataclasses
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.report import forest
from tare.report.course import course
from tare.report.figure import COLOURS, GREY, key_of, log_ticks
from tare.report.percentiles import merge
from tare.report.summary import Summary
from tare.stats.histogram import Histogram
from tare.trials.plan import Plan
from tare.trials.trial import Trial

ratios = st.floats(min_value=1e-3, max_value=1e3)


@given(st.lists(st.tuples(ratios, st.floats(0, 1), st.floats(1, math.inf)), min_size=1, max_size=6))
def test_every_ratio_is_on_the_axis_and_intervals_are_cut_to_it(drawn: list[tuple[float, float, float]]) -> None:
    rows = [{"ratio": ratio, "low": ratio * down, "high": ratio * up} for ratio, down, up in drawn]
    low, high = forest.domain(rows)
    assert 0 < low < 1 < high < math.inf
    for row, (ratio, down, up) in zip(rows, drawn, strict=True):
        forest.cut(row, low, high)
        assert low <= row["low"] <= row["ratio"] <= row["high"] <= high
        assert bool(row.get("low_cut")) == (ratio * down < low)
        assert bool(row.get("high_cut")) == (ratio * up > high)
    ticks = forest.ticks(low, high)
    assert ticks and all(low <= tick <= high for tick in ticks) and 1.0 in ticks


@given(st.floats(1e-6, 1e3), st.floats(1.05, 1e6))
def test_ticks_of_a_logarithmic_axis_are_on_it_and_few(low: float, width: float) -> None:
    ticks = log_ticks(low, low * width)
    assert ticks == sorted(set(ticks)) and all(low <= tick <= low * width for tick in ticks)
    assert len(ticks) <= 12
    if width >= 2:
        assert ticks


def test_one_wild_interval_does_not_hide_the_points() -> None:
    rows = [{"ratio": 0.9, "low": 0.88, "high": 0.92}, {"ratio": 1.1, "low": 1e-9, "high": math.inf}]
    low, high = forest.domain(rows)
    assert low > 0.4 and high < 2.5


@pytest.mark.parametrize("colour", [*COLOURS, GREY])
@pytest.mark.parametrize("ground", ["#FFFFFF", "#16181C"])
def test_every_colour_is_seen_on_light_and_on_dark(colour: str, ground: str) -> None:
    """A contrast of 3 to 1, as WCAG 2.1 asks of graphical objects (1.4.11)."""
    light, dark = sorted((luminance(colour), luminance(ground)), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 3


def luminance(colour: str) -> float:
    """The relative luminance of sRGB as WCAG 2.1 defines it."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_each_level_has_a_shape_and_a_colour_and_the_baseline_is_grey(open_plan: Plan) -> None:
    key = key_of(open_plan)
    assert key.names == ("runc", "runc again (A/A)", "gvisor")
    assert key.colours == (GREY, GREY, COLOURS[0])
    assert len(set(key.shapes)) == 3


def test_percentiles_come_from_all_the_requests_of_a_cell(attempts: tuple[Trial, ...]) -> None:
    merged = merge(attempts, "caliper")
    assert len(merged) == 12
    for trial, histogram in merged:
        of_cell = [
            latency
            for other in attempts
            if (other.levels, other.aa) == (trial.levels, trial.aa) and not other.set_aside
            for latency in other.latencies_seconds["caliper"]
        ]
        assert histogram == Histogram.of(of_cell)


def test_latencies_without_a_histogram_count_too(attempts: tuple[Trial, ...]) -> None:
    raw = [dataclasses.replace(trial, histograms={}) for trial in attempts]
    assert [histogram for _, histogram in merge(raw, "caliper")] == [h for _, h in merge(attempts, "caliper")]


def test_a_plot_keeps_its_identifiers_to_itself(summary: Summary, open_plan: Plan) -> None:
    key = key_of(open_plan)
    one, two = forest.forest(summary, "goodput", key), forest.forest(summary, "latency_mean", key)
    assert one is not None and two is not None
    for plot, other in ((one, "latency_mean"), (two, "goodput")):
        assert "clip-path" in plot.svg and f"-{other}" not in plot.svg
        used = set(re.findall(r"url\(#([^)]+)\)", plot.svg))
        assert used and used <= set(re.findall(r'id="([^"]+)"', plot.svg))


def test_a_metric_that_nothing_measured_has_no_plot(
    summary: Summary, open_plan: Plan, attempts: tuple[Trial, ...]
) -> None:
    key = key_of(open_plan)
    assert forest.forest(summary, "cpu_ca", key) is None
    assert course(summary, attempts, "cpu_ca", key) is None
