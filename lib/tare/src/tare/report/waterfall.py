"""The cost of levels taken apart, as a plot of a metric: from the baseline, step by step, down or up to each level."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tare.report import wording
from tare.report.figure import INK, Figure, Key, colour, data_of, draw
from tare.report.forest import cut, domain, ticks
from tare.report.summary import Summary
from tare.trials.levels import show as show_level
from tare.units import ratio
from tare.verdicts.attribution import Attribution
from tare.verdicts.compare import Comparison

_ROW = 20
_PLOT = 400
_WHOLE, _STEP = 14, 8


def waterfall(summary: Summary, metric: str, key: Key) -> Figure | None:
    """Return the plot, or None when no level is taken apart."""
    import altair as alt

    rows = [
        row for number, found in enumerate(summary.attributions[metric]) for row in _rows(summary, found, number, key)
    ]
    if not rows:
        return None
    low, high = domain(rows)
    for row in rows:
        cut(row, low, high)
    left, right = ("worse", "better") if summary.metrics[metric].better == "higher" else ("better", "worse")
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    axis = alt.Axis(
        title=f"ratio to {key.baseline} (← {left} · {right} →)", values=ticks(low, high), format="~g", grid=True
    )
    # Causes come again with every level, so that a row is known by its number and shown by what follows it.
    weight = alt.condition("test(/^[0-9]+ 0 /, datum.value)", alt.value("bold"), alt.value("normal"))
    label = alt.Axis(labelExpr="replace(datum.label, /^[0-9]+ [0-9]+ /, '')", labelFontWeight=weight)
    base = alt.Chart(data_of(rows)).encode(y=alt.Y("row:N", sort=[row["row"] for row in rows], title=None, axis=label))
    base = base.properties(width=_PLOT, height=alt.Step(_ROW))
    colours = colour(key).legend(None)
    line = alt.Chart(data_of([{"one": 1}])).mark_rule(color=INK, strokeDash=[4, 3]).encode(x="one:Q")
    bars = [
        base.transform_filter(f"datum.place {'==' if whole else '>'} 0")
        .mark_bar(height=height, clip=True)
        .encode(x=alt.X("before:Q", scale=scale, axis=axis), x2="ratio:Q", color=colours)
        for whole, height in ((True, _WHOLE), (False, _STEP))
    ]
    ends = base.mark_tick(color=INK, thickness=2, size=_WHOLE).encode(x=alt.X("ratio:Q", scale=scale, axis=axis))
    interval = base.mark_rule(color=INK, clip=True).encode(x=alt.X("low:Q", scale=scale, axis=axis), x2="high:Q")
    told = [
        base.mark_text(align="left", color=INK, fontSize=12, fontWeight="bold" if bold else "normal").encode(
            x=alt.value(_PLOT + at), text=field
        )
        for at, field, bold in ((14, "figure:N", True), (70, "interval:N", False))
    ]
    return draw(
        alt.layer(line, *bars, interval, ends, *told).properties(width=_PLOT),
        title=f"{metric}: whose cost it is",
        description="; ".join(wording.attribution(summary, found) for found in summary.attributions[metric]),
        caption=_caption(summary, rows),
        ident=f"waterfall-{metric}",
    )


def _rows(summary: Summary, found: Attribution, number: int, key: Key) -> Iterator[dict[str, Any]]:
    name = key.name(found.whole.level)
    where = wording.condition(summary, found.whole.condition)
    label = ", ".join(filter(None, [show_level(found.whole.level), where]))
    yield _row(number, 0, label, name, found.whole, before=1.0)
    before = 1.0
    for place, step in enumerate(found.steps, start=1):
        row = _row(number, place, step.cause, name, step.comparison, before=before)
        yield row
        before = row["ratio"]


def _row(number: int, place: int, label: str, level: str, comparison: Comparison, *, before: float) -> dict[str, Any]:
    """A bar from ``before`` on, its ends as ratios to the baseline; the figures beside it are the comparison's own."""
    # What is taken apart has a ratio in every step, see ``attribute``.
    own = 1.0 if comparison.ratio is None else comparison.ratio
    return {
        "row": f"{number} {place} {label}",
        "place": place,
        "level": level,
        "before": before,
        "ratio": before * own,
        "low": None if comparison.low is None else before * comparison.low,
        "high": None if comparison.high is None else before * comparison.high,
        "figure": ratio(comparison.ratio),
        "interval": wording.interval(comparison),
    }


def _caption(summary: Summary, rows: Sequence[dict[str, Any]]) -> str:
    told = [
        "Wide bar: the level against the baseline. Narrow bars below it: what each cause makes of it, from where",
        "the one before ends; the axis is logarithmic, so that equal ratios are equally long. Figures and lines: each",
        "bar's own ratio and its 95 % interval.",
        wording.attribution_means(summary),
    ]
    if any(row.get("low_cut") or row.get("high_cut") for row in rows):
        told.append("A line to the edge: the interval goes on.")
    return " ".join(told)
