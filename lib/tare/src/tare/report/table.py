"""The report for a terminal: a table a metric, whose cost it is, CPU and memory by node type, and what was not run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tare.manifest import StudyFigure
from tare.report import wording
from tare.report.summary import Row, Summary
from tare.report.wording import CLIENT_BOUND, DASH
from tare.trials.levels import describe
from tare.trials.levels import show as show_level
from tare.units import ratio, show


def render(summary: Summary, *, record: Mapping[str, Any]) -> RenderableType:
    """Return the whole report; ``record`` is the run record."""
    parts: list[RenderableType] = [_heading(summary)]
    for metric in summary.headline:
        if summary.rows[metric]:
            parts.append(_metric_table(summary, metric))
    parts.append(_usage_table(summary))
    parts.extend(_paragraphs(summary, record))
    return Group(*(Padding(part, (1, 0, 0, 0)) for part in parts))


def _heading(summary: Summary) -> Text:
    text = Text(summary.title, "bold")
    text.append(f"\n{wording.design(summary)}", "not bold dim")
    return text.append(f"\n{wording.interval_kind(summary)}", "not bold dim")


def _metric_table(summary: Summary, metric: str) -> Table:
    about = summary.metrics[metric]
    title = f"{metric}  ({about.better} is better)"
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for factor in summary.varying(metric):
        table.add_column(factor, justify="right")
    table.add_column(summary.plan.design.compare)
    table.add_column(show_level(summary.plan.design.baseline), justify="right")
    table.add_column("value", justify="right")
    table.add_column("ratio", justify="right", style="bold")
    table.add_column("95 % interval", justify="right")
    table.add_column("n", justify="right")
    table.add_column("study", justify="right")
    table.add_column("")
    of_levels = [row for row in summary.rows[metric] if not row.comparison.aa]
    arms = [row for row in summary.rows[metric] if row.comparison.aa]
    for rows in (of_levels, arms):
        for place, row in enumerate(rows, start=1):
            table.add_row(*_metric_row(summary, metric, row), end_section=place == len(rows))
    for figure in summary.unmatched:
        if figure.metric == metric:
            table.add_row(*_study_row(summary, figure), style="dim")
    return table


def _metric_row(summary: Summary, metric: str, row: Row) -> list[RenderableType]:
    comparison, unit = row.comparison, summary.metrics[metric].unit
    return [
        *(wording.factor_level(summary, factor, comparison.condition) for factor in summary.varying(metric)),
        wording.level(comparison),
        show(comparison.baseline_value, unit),
        show(comparison.value, unit),
        ratio(comparison.ratio),
        wording.interval(comparison),
        str(comparison.n),
        ratio(row.study.ratio) if row.study else DASH,
        Text("; ".join(wording.marks(summary, row, of_cells=metric == summary.headline[0])), "yellow"),
    ]


def _study_row(summary: Summary, figure: StudyFigure) -> list[str]:
    """A figure that the study prints for levels not measured here, as a row of its own."""
    compare = summary.plan.design.compare
    levels = [
        wording.factor_level(summary, factor, figure.levels) if factor in figure.levels else DASH
        for factor in summary.varying(figure.metric)
    ]
    level = show_level(figure.levels[compare]) if compare in figure.levels else DASH
    why = wording.study_only(summary.plan, figure)
    return [*levels, level, DASH, DASH, DASH, DASH, DASH, ratio(figure.ratio), why]


def _usage_table(summary: Summary) -> Table:
    """CPU and memory of each node type, one row a cell, baseline cells too."""
    compare = summary.plan.design.compare
    varying = summary.varying()
    cpu, memory = summary.usage()
    table = Table(
        title="CPU (cores) and memory by node type", title_justify="left", title_style="bold", box=box.SIMPLE_HEAD
    )
    for factor in (*varying, compare):
        table.add_column(factor, justify="left" if factor == compare else "right")
    for name in (*cpu, *memory):
        table.add_column(name.replace("_", "\n", 1), justify="right")
    for cell in summary.cells:
        table.add_row(
            *(wording.factor_level(summary, factor, cell.levels) for factor in varying),
            wording.cell_level(summary, cell),
            *(show(cell.metrics.get(name), "").strip() for name in cpu),
            *(show(cell.metrics.get(name), "B") for name in memory),
        )
    return table


def _paragraphs(summary: Summary, record: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Yield what stands below the tables."""
    apart = [wording.attribution(summary, found) for of_metric in summary.attributions.values() for found in of_metric]
    if apart:
        yield Group(_listing("attribution", apart), Text(wording.attribution_means(summary), "dim"))
    fixed = summary.fixed()
    if fixed:
        yield Text("everywhere: ", "bold").append(describe(fixed), "not bold")
    if any(cell.client_bound for cell in summary.cells):
        yield Text(f"{CLIENT_BOUND}: ", "bold yellow").append(wording.CLIENT_BOUND_MEANS, "not bold")
    if wording.disturbed(summary):
        yield Text("disturbed: ", "bold yellow").append(wording.disturbed(summary), "not bold")
    if wording.warnings(summary):
        yield _listing("warnings", wording.warnings(summary))
    if wording.notes(summary, record):
        yield _listing("notes", wording.notes(summary, record))
    if summary.plan.not_run:
        yield _listing("not run", [wording.not_run(lost) for lost in summary.plan.not_run])
    if summary.study:
        yield Text("study: ", "bold").append(f"{summary.study.title} ({', '.join(summary.study.authors)})", "not bold")


def _listing(title: str, lines: Sequence[str]) -> RenderableType:
    """A title and lines below it, indented as a whole where they are longer than the terminal is wide."""
    return Group(Text(f"{title}:", "bold"), *(Padding(Text(line), (0, 0, 0, 2)) for line in lines))
