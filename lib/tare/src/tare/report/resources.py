"""What each node type used: CPU and memory, level beside level."""

from __future__ import annotations

from collections.abc import Sequence

from tare.report import wording
from tare.report.figure import Figure, Key, colour, draw, facets
from tare.report.summary import Summary
from tare.units import axis

_BAR = 9


def cpu(summary: Summary, key: Key) -> Figure | None:
    """Return the plot of CPUs by node type, the client's too; None where nothing was measured."""
    names = [name for name in summary.usage()[0] if name != "cpu_total"]
    return _bars(summary, names, key, title="CPU by node type", unit="cpu", ident="cpu")


def memory(summary: Summary, key: Key) -> Figure | None:
    """Return the plot of memory by node type; None where nothing was measured."""
    return _bars(summary, summary.usage()[1], key, title="memory by node type", unit="B", ident="memory")


def _bars(summary: Summary, names: Sequence[str], key: Key, *, title: str, unit: str, ident: str) -> Figure | None:
    import altair as alt

    compare = summary.plan.design.compare
    found = [
        (cell, name, cell.metrics[name])
        for cell in summary.cells
        if not cell.aa
        for name in names
        if name in cell.metrics
    ]
    if not found:
        return None
    scale, shown = axis((value for _, _, value in found), unit)
    values = [
        {
            "type": node_type(name),
            "value": value / scale,
            "level": key.name(cell.levels[compare]),
            "condition": wording.condition(summary, cell.levels),
        }
        for cell, name, value in found
    ]
    levels = [name for name in key.names if any(value["level"] == name for value in values)]
    types = list(dict.fromkeys(node_type(name) for name in names))
    chart = (
        alt.Chart()
        .mark_bar()
        .encode(
            y=alt.Y("type:N", sort=types, title=None),
            yOffset=alt.YOffset("level:N", sort=levels),
            x=alt.X("value:Q", title=shown).axis(tickCount=5),
            color=colour(key, aa=False),
        )
    )
    height = len(types) * (len(levels) * _BAR + 8)
    return draw(
        facets(chart, values, height=height, conditions=wording.conditions(summary)),
        title=title,
        description=f"{title}: means over the blocks, {len(found)} values.",
        caption="Means over the blocks.",
        ident=ident,
    )


def node_type(metric: str) -> str:
    """Return the node type in the name of a metric such as ``cpu_peer``; the load generator's is the client."""
    return "client" if metric == "client_cpu" else metric.split("_", 1)[1]
