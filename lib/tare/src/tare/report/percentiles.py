"""Latency by percentile, as HdrHistogram plots it: each cell's histograms are merged, no percentile is averaged."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from tare.report import wording
from tare.report.figure import Figure, Key, colour, draw, facets, log_ticks
from tare.report.summary import Summary
from tare.stats.histogram import Histogram
from tare.trials.levels import describe
from tare.trials.trial import Trial
from tare.units import axis

_HEIGHT = 220
_POINTS_PER_DECADE = 24
_LABELLED = (1, 2, 10, 100, 1_000, 10_000, 100_000, 1_000_000)


def percentiles(summary: Summary, trials: Sequence[Trial], key: Key) -> Iterator[Figure]:
    """Yield a plot for each load that tells its latencies."""
    for load in dict.fromkeys(name for trial in trials for name in (*trial.histograms, *trial.latencies_seconds)):
        merged = merge(trials, load)
        if merged:
            yield _plot(summary, load, merged, key)


def merge(trials: Sequence[Trial], load: str) -> list[tuple[Trial, Histogram]]:
    """Return, for each cell, its first trial and all its latencies together; those set aside are left out."""
    found: dict[tuple[str, bool], tuple[Trial, list[Histogram]]] = {}
    for trial in trials:
        if trial.set_aside:
            continue
        raw = trial.latencies_seconds.get(load, ())
        histogram = trial.histograms.get(load) or (Histogram.of(raw) if raw else None)
        if histogram is not None and histogram.count:
            found.setdefault((describe(trial.levels), trial.aa), (trial, []))[1].append(histogram)
    return [(trial, Histogram.merge(histograms)) for trial, histograms in found.values()]


def _plot(summary: Summary, load: str, merged: Sequence[tuple[Trial, Histogram]], key: Key) -> Figure:
    import altair as alt

    compare = summary.plan.design.compare
    scale, unit = axis((histogram.max_seconds for _, histogram in merged), "s")
    values: list[dict[str, Any]] = [
        {
            "rarity": rarity,
            "latency": max(latency, 1e-6) / scale,
            "level": key.name(trial.levels[compare], aa=trial.aa),
            "condition": wording.condition(summary, trial.levels),
        }
        for trial, histogram in merged
        for rarity, latency in _curve(histogram)
    ]
    most = max(value["rarity"] for value in values)
    low, high = (end(value["latency"] for value in values) for end in (min, max))
    x = alt.X("rarity:Q", title="percentile", scale=alt.Scale(type="log", nice=False, domain=[1, most])).axis(
        values=[rarity for rarity in _LABELLED if rarity <= most], labelExpr="format(100 - 100 / datum.value, '~r')"
    )
    chart = (
        alt.Chart()
        .mark_line(strokeWidth=1.8, opacity=0.9)
        .encode(
            x=x,
            y=alt.Y("latency:Q", title=f"latency, {unit}")
            .scale(type="log", domain=[low / 1.05, high * 1.05], nice=False)
            .axis(values=log_ticks(low, high), format="~g"),
            color=colour(key),
            strokeDash=alt.StrokeDash("level:N")
            .scale(domain=list(key.names), range=[[4, 3] if name == key.again else [1, 0] for name in key.names])
            .title(None),
        )
    )
    counted = sum(histogram.count for _, histogram in merged)
    return draw(
        facets(chart, values, height=_HEIGHT, conditions=wording.conditions(summary)),
        title=f"latency by percentile ({load})",
        description="; ".join(
            f"{describe(trial.levels)}{f' ({wording.AA})' if trial.aa else ''}: "
            f"p50 {histogram.quantile(0.5):.4g} s, p99 {histogram.quantile(0.99):.4g} s of {histogram.count}"
            for trial, histogram in merged
        ),
        caption=f"{counted} requests that succeeded; the histograms of a cell's trials are merged. "
        "Each curve ends where a single request is beyond it.",
        ident=f"percentiles-{load}",
    )


def _curve(histogram: Histogram) -> Iterator[tuple[float, float]]:
    """Yield 1 / (1 - q), which spreads the tail as HdrHistogram's plots do, and the q-quantile (seconds)."""
    steps = math.floor(math.log10(histogram.count) * _POINTS_PER_DECADE)
    rarities = [10 ** (step / _POINTS_PER_DECADE) for step in range(steps + 1)]
    yield from zip(rarities, histogram.quantiles([1 - 1 / rarity for rarity in rarities]), strict=True)
