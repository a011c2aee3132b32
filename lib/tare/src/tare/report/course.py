"""A metric from block to block, in order of time: drift is seen, and so is what was set aside."""

from __future__ import annotations

from collections.abc import Sequence

from tare.report import wording
from tare.report.figure import Figure, Key, colour, draw, facets, shape
from tare.report.summary import Summary
from tare.trials.trial import Trial
from tare.units import axis

_HEIGHT = 150


def course(summary: Summary, trials: Sequence[Trial], metric: str, key: Key) -> Figure | None:
    """Return the plot of every attempt, those set aside among them; None when none has the metric."""
    import altair as alt

    measured = [trial for trial in trials if metric in trial.metrics]
    if not measured:
        return None
    plan = summary.plan
    scale, unit = axis((trial.metrics[metric] for trial in measured), summary.metrics[metric].unit)
    values = [
        {
            # Where in its block a trial stood: block 3 is from 2.5 to 3.5.
            "time": (trial.index + 0.5) / plan.trials_per_block + 0.5,
            "value": trial.metrics[metric] / scale,
            "level": key.name(trial.levels[plan.design.compare], aa=trial.aa),
            "condition": wording.condition(summary, trial.levels),
            "set_aside": trial.set_aside,
        }
        for trial in measured
    ]
    last = max(trial.block for trial in measured) + 1
    base = alt.Chart().encode(
        x=alt.X("time:Q", title="block", scale=alt.Scale(domain=[0.5, last + 0.5], nice=False)).axis(
            values=_numbers(last), format="d", grid=False
        ),
        y=alt.Y("value:Q", title=unit, scale=alt.Scale(zero=False)),
        color=colour(key),
    )
    counted = base.transform_filter("!datum.set_aside")
    layers = [
        counted.mark_line(strokeWidth=1, opacity=0.5),
        counted.mark_point(filled=True, size=45, opacity=1).encode(shape=shape(key)),
        base.transform_filter("datum.set_aside")
        .mark_point(filled=False, size=45, strokeWidth=1.5, opacity=1)
        .encode(shape=shape(key)),
    ]
    chart = facets(alt.layer(*layers), values, conditions=wording.conditions(summary), height=_HEIGHT, own_y=True)
    aside = sum(trial.set_aside for trial in measured)
    return draw(
        chart,
        title=f"{metric}, block by block",
        description=f"{metric} of {len(measured)} trials in {last} blocks, in the order in which they were run.",
        caption="Every trial in the order in which it was run."
        + (
            f" Hollow: {aside} set aside, since the machine was disturbed; repeated, and in no figure." if aside else ""
        ),
        ident=f"course-{metric}",
    )


def _numbers(last: int) -> list[int]:
    """Return the block numbers on the axis, about ten."""
    step = next(step for step in (1, 2, 5, 10, 20, 50, last) if last / step <= 12)
    return [number for number in range(1, last + 1) if step == 1 or number % step == 0]
