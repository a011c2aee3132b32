"""The forest plot of a metric: each level's ratio to the baseline with its interval, and the noise of the machine."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from tare.report import wording
from tare.report.figure import GREY, INK, Figure, Key, colour, data_of, draw, log_ticks, shape
from tare.report.summary import Row, Summary
from tare.trials.levels import show as show_level
from tare.units import ratio, round_to

_ROW = 26
_PLOT = 400

# An interval that is wider than this many times what the points span is cut, so that the points can be told apart.
_WIDEST = 2.5


def forest(summary: Summary, metric: str, key: Key) -> Figure | None:
    """Return the plot, or None when no level has a ratio."""
    import altair as alt

    rows = list(_rows(summary, metric, key))
    if not any(row["ratio"] is not None for row in rows):
        return None
    low, high = domain(rows)
    for row in rows:
        cut(row, low, high)
    names = [row["row"] for row in rows]
    left, right = ("worse", "better") if summary.metrics[metric].better == "higher" else ("better", "worse")
    title = f"ratio to {key.baseline} (← {left} · {right} →)"
    axis = alt.Axis(title=title, values=ticks(low, high), format="~g", grid=True)
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    base = alt.Chart(data_of(rows)).encode(y=alt.Y("row:N", sort=names, title=None))
    base = base.properties(width=_PLOT, height=alt.Step(_ROW))
    x = alt.X("ratio:Q", scale=scale, axis=axis)
    noise = base.mark_bar(color=GREY, opacity=0.28, height=_ROW - 2, clip=True).encode(
        x=alt.X("noise_low:Q", scale=scale, axis=axis), x2="noise_high:Q"
    )
    line = alt.Chart(data_of([{"one": 1}])).mark_rule(color=INK, strokeDash=[4, 3]).encode(x="one:Q")
    colours = colour(key).legend(None)
    interval = base.mark_rule(strokeWidth=2.5, clip=True).encode(
        x=alt.X("low:Q", scale=scale, axis=axis), x2="high:Q", color=colours
    )
    points = base.mark_point(filled=True, size=90, opacity=1).encode(x=x, color=colours, shape=shape(key).legend(None))
    arrows = [
        base.transform_filter(f"datum.{side}_cut")
        .mark_point(filled=True, size=50, opacity=1, shape=f"triangle-{'left' if side == 'low' else 'right'}")
        .encode(x=alt.X(f"{side}:Q", scale=scale, axis=axis), color=colours)
        for side in ("low", "high")
    ]
    study = base.mark_point(filled=False, shape="diamond", size=110, color=INK, strokeWidth=1.5, opacity=1).encode(
        x=alt.X("study:Q", scale=scale, axis=axis)
    )
    told = [
        base.mark_text(align="left", color=INK, fontSize=12, fontWeight="bold" if bold else "normal").encode(
            x=alt.value(_PLOT + at), text=field
        )
        for at, field, bold in ((14, "figure:N", True), (70, "interval:N", False))
    ]
    return draw(
        alt.layer(noise, line, interval, *arrows, points, study, *told).properties(width=_PLOT),
        title=f"{metric}: ratio to {key.baseline}",
        description="; ".join(f"{row['row']}: {row['figure']}, {row['interval']}" for row in rows),
        caption=_caption(summary, rows),
        ident=f"forest-{metric}",
    )


def _rows(summary: Summary, metric: str, key: Key) -> Iterator[dict[str, Any]]:
    for row in summary.rows[metric]:
        if not row.comparison.aa:
            yield _row(summary, row, key)
    for figure in summary.unmatched:
        if figure.metric == metric:
            compare = summary.plan.design.compare
            where = wording.condition(summary, figure.levels, metric)
            yield {
                "row": ", ".join(filter(None, [show_level(figure.levels.get(compare, wording.DASH)), where])),
                "level": "",
                "study": figure.ratio,
                "ratio": None,
                "figure": ratio(figure.ratio),
                "interval": wording.study_only(summary.plan, figure),
            }


def _row(summary: Summary, row: Row, key: Key) -> dict[str, Any]:
    comparison = row.comparison
    noise = summary.noise(comparison)
    where = wording.condition(summary, comparison.condition, comparison.metric)
    interval = wording.interval(comparison)
    return {
        "row": ", ".join(filter(None, [show_level(comparison.level), where])),
        "level": key.name(comparison.level),
        "ratio": comparison.ratio,
        "low": comparison.low,
        "high": comparison.high,
        "noise_low": noise and noise.low,
        "noise_high": noise and noise.high,
        "study": row.study and row.study.ratio,
        "figure": ratio(comparison.ratio),
        "interval": f"{interval}  (study: {ratio(row.study.ratio)})" if row.study else interval,
    }


def _caption(summary: Summary, rows: Sequence[dict[str, Any]]) -> str:
    centre = "median" if summary.kind == "median" else "geometric mean"
    told = [f"Mark and line: the {centre} of the ratios within the blocks, and its 95 % interval."]
    if any(row.get("noise_low") is not None for row in rows):
        told.append("Grey band: the baseline against itself (A/A); a difference within it may be noise alone.")
    elif summary.plan.design.aa:
        told.append("The A/A arm has too few blocks yet for an interval, so there is no band of noise.")
    if any(row.get("study") is not None for row in rows):
        told.append("Hollow diamond: the study's figure.")
    if any(row.get("low_cut") or row.get("high_cut") for row in rows):
        told.append("An arrow head: the interval goes on.")
    return " ".join(told)


def domain(rows: Sequence[dict[str, Any]]) -> tuple[float, float]:
    """Return the ends of the axis: every point and 1 are on it, and so are intervals, unless they are far wider."""
    points = [1.0, *(row[name] for row in rows for name in ("ratio", "study") if row.get(name) is not None)]
    names = ("low", "high", "noise_low", "noise_high")
    bounds = [row[name] for row in rows for name in names if row.get(name) is not None]
    spread = max(max(points) / min(points), 1.2) ** _WIDEST
    low = max(min([*points, *bounds]), min(points) / spread)
    high = min(max([*points, *bounds]), max(points) * spread)
    margin = max((high / low) ** 0.04, 1.005)
    return low / margin, high * margin


def cut(row: dict[str, Any], low: float, high: float) -> None:
    """Bring the ends of a row's intervals onto the axis, and say so."""
    for name in ("low", "high", "noise_low", "noise_high"):
        value = row.get(name)
        if value is not None and not low <= value <= high:
            row[name] = min(max(value, low), high)
            row[f"{name}_cut"] = True


def ticks(low: float, high: float) -> list[float]:
    """Return round ratios between two others, about six; 1 is among them if it is between."""
    if high / low > 6:
        return log_ticks(low, high)
    step = next(step for step in (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0) if (high - low) / step <= 8)
    found = [1 + step * count for count in range(math.ceil((low - 1) / step), math.floor((high - 1) / step) + 1)]
    return [float(round_to(value)) for value in found]
