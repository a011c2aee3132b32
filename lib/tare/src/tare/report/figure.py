"""Plots as SVG to stand in a page: drawn without a browser, in the page's own text colour, told apart by shape too."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tare.manifest import Level
from tare.report.wording import AA
from tare.trials.levels import normal
from tare.trials.levels import show as show_level
from tare.trials.plan import Plan

if TYPE_CHECKING:
    import altair

# The renderer brings this font, so that a plot is the same on every machine; the others are as wide.
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
VEGA_LITE = "6.4"

WIDTH = 860
"""Of a whole plot, in pixels."""

# What the axis of a plot takes beside it, and the room for a reader's font that is wider than ours.
_MARGIN = 80
_PADDING = {"left": 30, "right": 30, "top": 5, "bottom": 5}

INK = "currentColor"
GREY = "#7A7A7A"

# After Okabe and Ito (2008), two of them darker: each has a contrast of 3 to white and to the dark page, and a reader
# who does not see the colours has the shapes.
COLOURS = ("#1A7ABF", "#D55E00", "#009E73", "#C0699A", "#A87400")
SHAPES = ("square", "triangle-up", "diamond", "triangle-down", "triangle-right", "triangle-left", "cross")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A plot. ``description`` says what is seen to those who do not see it; ``caption`` says how to read it."""

    title: str
    description: str
    caption: str
    svg: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """The colour and the shape of each level, the same in every plot; the baseline is grey, and so is its A/A arm."""

    names: tuple[str, ...]
    colours: tuple[str, ...]
    shapes: tuple[str, ...]
    baseline: str
    again: str

    def name(self, level: Level, *, aa: bool = False) -> str:
        return self.again if aa else show_level(normal(level))


def key_of(plan: Plan) -> Key:
    """Return the key of a plan's levels: the baseline, its A/A arm if there is one, then the others as declared."""
    compare, baseline = plan.design.compare, show_level(plan.design.baseline)
    found = dict.fromkeys(show_level(cell[compare]) for cell in plan.cells)
    others = [name for name in found if name != baseline]
    again = f"{baseline} again ({AA})"
    arm = [again] if plan.design.aa else []
    return Key(
        names=(baseline, *arm, *others),
        colours=(GREY, *(GREY for _ in arm), *(COLOURS[place % len(COLOURS)] for place in range(len(others)))),
        shapes=("circle", *("cross" for _ in arm), *(SHAPES[place % len(SHAPES)] for place in range(len(others)))),
        baseline=baseline,
        again=again,
    )


def draw(chart: Any, *, title: str, description: str, caption: str, ident: str) -> Figure:
    """Return an altair chart as a figure. ``ident`` is unique in the page: the identifiers in the SVG begin with it."""
    import vl_convert

    svg = vl_convert.vegalite_to_svg(_styled(chart).to_dict(), vl_version=VEGA_LITE, allowed_base_urls=[])
    return Figure(
        title=title,
        description=description,
        caption=caption,
        svg=_inline(svg, title=title, description=description, ident=ident),
    )


def colour(key: Key, *, aa: bool = True) -> altair.Color:
    """Return the encoding of levels by colour; without ``aa``, the A/A arm is not in its legend."""
    import altair

    shown = [(name, of_name) for name, of_name in zip(key.names, key.colours, strict=True) if aa or name != key.again]
    domain, colours = zip(*shown, strict=True)
    return altair.Color("level:N").scale(domain=domain, range=colours).title(None)


def shape(key: Key) -> altair.Shape:
    """Return the encoding of levels by shape; with ``colour`` it makes one legend."""
    import altair

    return altair.Shape("level:N").scale(domain=key.names, range=key.shapes).title(None)


def data_of(values: list[dict[str, Any]]) -> altair.InlineData:
    """Return values as what a chart is drawn from."""
    import altair

    return altair.InlineData(values=values)


def log_ticks(low: float, high: float) -> list[float]:
    """Return round numbers between two others for a logarithmic axis: a few in each decade, or all if it is short."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for digits in ((1,), (1, 2, 5), range(1, 10)):
        found = [float(f"{digit}e{decade}") for decade in decades for digit in digits]
        found = [value for value in found if low <= value <= high]
        if len(found) >= 4:
            break
    return found


def facets(
    chart: Any, values: list[dict[str, Any]], *, conditions: Sequence[str], height: float, own_y: bool = False
) -> Any:
    """Return the chart once for each ``condition`` of the values, two in a row; alone, it has all the width.

    With ``own_y`` each has a vertical axis of its own.
    """
    import altair

    data = data_of(values)
    if len(conditions) < 2:
        return chart.properties(data=data, width=WIDTH - _MARGIN, height=height)
    facet = altair.Facet("condition:N", sort=list(conditions), title=None)
    several = chart.properties(width=WIDTH / 2 - _MARGIN, height=height).facet(facet=facet, columns=2, data=data)
    return several.resolve_scale(y="independent") if own_y else several


def _styled(chart: Any) -> Any:
    """Nothing but the marks has a colour of its own, so that a plot is read on a light page and on a dark one."""
    text = {"labelColor": INK, "titleColor": INK, "labelFontSize": 12, "titleFontSize": 12}
    return (
        chart.configure(aria=False, background="transparent", font=FONT, padding=_PADDING)
        .configure_view(stroke=None)
        .configure_axis(
            **text,
            titleFontWeight="normal",
            titlePadding=10,
            domainColor=INK,
            domainOpacity=0.4,
            tickColor=INK,
            tickOpacity=0.4,
            gridColor=INK,
            gridOpacity=0.12,
            labelLimit=340,
        )
        .configure_legend(
            labelColor=INK, labelFontSize=12, orient="top", symbolOpacity=1, labelLimit=340, columnPadding=28
        )
        .configure_header(**text, titleFontWeight="normal", labelFontWeight="bold", labelLimit=400)
    )


def _inline(svg: str, *, title: str, description: str, ident: str) -> str:
    """Several plots stand in one page: each keeps its identifiers to itself, and has its title and description.

    In HTML the namespaces go without saying.
    """
    for number, name in enumerate(re.findall(r'\bid="([^"]+)"', svg)):
        # The renderer counts on from plot to plot; numbered anew, the same plot has the same bytes.
        svg = svg.replace(f'id="{name}"', f'id="{ident}-{number}"').replace(f"url(#{name})", f"url(#{ident}-{number})")
    svg = re.sub(r' xmlns(:xlink)?="[^"]*"', "", svg, count=2)
    opening = f'<svg role="img" aria-labelledby="{ident}-title {ident}-description"'
    names = (
        f'<title id="{ident}-title">{html.escape(title)}</title>'
        f'<desc id="{ident}-description">{html.escape(description)}</desc>'
    )
    head, rest = svg.split(">", 1)
    return f"{head.replace('<svg', opening, 1)}>{names}{rest}"
