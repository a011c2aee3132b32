"""The report for a terminal: a table a metric, the CPU and memory of each node type, and what was not run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tare.manifest import StudyFigure
from tare.report.summary import Cell, Row, Summary, not_run_reason
from tare.report.units import ratio, round_to, show
from tare.trials.levels import Levels, describe, normal
from tare.trials.levels import show as show_level
from tare.verdicts.compare import Comparison

CLIENT_BOUND = "client-bound"
DASH = "–"  # noqa: RUF001


def render(summary: Summary) -> RenderableType:
    """Return the whole report."""
    parts: list[RenderableType] = [_heading(summary)]
    for metric in summary.headline:
        if summary.rows[metric]:
            parts.append(_metric_table(summary, metric))
    parts.append(_usage_table(summary))
    parts.extend(_paragraphs(summary))
    return Group(*(Padding(part, (1, 0, 0, 0)) for part in parts))


def _heading(summary: Summary) -> Text:
    design = summary.plan.design
    blocks = f"{design.blocks} block" + ("s" if design.blocks > 1 else "")
    text = Text(summary.title, "bold")
    return text.append(
        f"\n{design.compare} against {show_level(design.baseline)}; {blocks}, "
        f"{design.duration_seconds:g} s a trial after {design.warmup_seconds:g} s of warm-up; seed {summary.plan.seed}",
        "not bold dim",
    )


def _metric_table(summary: Summary, metric: str) -> Table:
    about = summary.metrics[metric]
    rows = summary.rows[metric]
    title = f"{metric}  ({about.better} is better)"
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for factor in _varying(summary, with_study=True):
        table.add_column(factor, justify="right")
    table.add_column(summary.plan.design.compare)
    table.add_column(show_level(summary.plan.design.baseline), justify="right")
    table.add_column("value", justify="right")
    table.add_column("ratio", justify="right", style="bold")
    table.add_column("95 % interval", justify="right")
    table.add_column("n", justify="right")
    table.add_column("study", justify="right")
    table.add_column("")
    for place, row in enumerate(rows, start=1):
        comparison = row.comparison
        table.add_row(
            *(_show(summary, factor, comparison.condition) for factor in _varying(summary, with_study=True)),
            show_level(comparison.level),
            show(comparison.baseline_value, about.unit),
            show(comparison.value, about.unit),
            ratio(comparison.ratio),
            _interval(comparison),
            str(comparison.n),
            ratio(row.study.ratio) if row.study else DASH,
            _marks(summary, row, with_failures=metric == summary.headline[0]),
            end_section=place == len(rows),
        )
    for figure in summary.unmatched:
        if figure.metric == metric:
            table.add_row(*_study_row(summary, figure), style="dim")
    return table


def _study_row(summary: Summary, figure: StudyFigure) -> list[str]:
    """A figure that the study prints for levels not measured here, as a row of its own."""
    compare = summary.plan.design.compare
    levels = [
        _show(summary, factor, figure.levels) if factor in figure.levels else DASH
        for factor in _varying(summary, with_study=True)
    ]
    level = show_level(figure.levels[compare]) if compare in figure.levels else DASH
    reason = "not run" if not_run_reason(summary.plan, figure) else "other levels"
    return [*levels, level, DASH, DASH, DASH, DASH, DASH, ratio(figure.ratio), f"study only ({reason})"]


def _interval(comparison: Comparison) -> str:
    if comparison.low is None or comparison.high is None:
        return "none" if comparison.n == 0 else "none (n < 2)"
    return f"{round_to(comparison.low)} … {round_to(comparison.high)}"


def _marks(summary: Summary, row: Row, *, with_failures: bool) -> Text:
    """Say what makes a row's figures mean something else: a bound client, failures, pairs left out."""
    factor, comparison = summary.plan.design.compare, row.comparison
    levels = (summary.plan.design.baseline, comparison.level)
    found = {show_level(level): summary.cell({**comparison.condition, factor: level}) for level in levels}
    cells = {level: cell for level, cell in found.items() if cell is not None}
    bound = [level for level, cell in cells.items() if cell.client_bound]
    failed = [f"{level} {_failed(cell)}" for level, cell in cells.items() if cell.failed]
    marks = []
    if bound:
        marks.append(f"{CLIENT_BOUND}: {', '.join(bound)}")
    if failed and with_failures:
        marks.append(f"failed: {', '.join(failed)}")
    if comparison.left_out:
        marks.append(f"{comparison.left_out} without a ratio (zero)")
    return Text("; ".join(marks), "yellow")


def _failed(cell: Cell) -> str:
    return show(cell.failed / (cell.failed + cell.succeeded), "1")


def _usage_table(summary: Summary) -> Table:
    """CPU and memory of each node type, one row a cell, baseline cells too."""
    cpu = [name for name, metric in summary.metrics.items() if name.startswith("cpu_") and metric.unit == "cpu"]
    memory = [name for name in summary.metrics if name.startswith("memory_")]
    table = Table(
        title="CPU (cores) and memory by node type", title_justify="left", title_style="bold", box=box.SIMPLE_HEAD
    )
    for factor in (*_varying(summary, with_study=True), summary.plan.design.compare):
        table.add_column(factor, justify="left" if factor == summary.plan.design.compare else "right")
    for name in (*cpu, *memory):
        table.add_column(name.replace("_", "\n", 1), justify="right")
    if "client_cpu" in summary.metrics:
        table.add_column("cpu\nclient", justify="right")
    for cell in summary.cells:
        table.add_row(
            *(_show(summary, factor, cell.levels) for factor in _varying(summary, with_study=True)),
            show_level(cell.levels[summary.plan.design.compare]),
            *(_number(cell.metrics.get(name)) for name in cpu),
            *(show(cell.metrics.get(name), "B") for name in memory),
            *([_number(cell.metrics.get("client_cpu"))] if "client_cpu" in summary.metrics else []),
        )
    return table


def _paragraphs(summary: Summary) -> Iterator[RenderableType]:
    """Yield what stands below the tables."""
    fixed = _fixed(summary)
    if fixed:
        yield Text("everywhere: ", "bold").append(describe(fixed), "not bold")
    bound = [cell for cell in summary.cells if cell.client_bound]
    if bound:
        yield Text(f"{CLIENT_BOUND}: ", "bold yellow").append(
            "the load generator, not the service, set these figures: they say little about the service.", "not bold"
        )
    notes = tuple(dict.fromkeys(note for cell in summary.cells for note in cell.notes))
    if notes:
        yield _listing("notes", notes)
    if summary.plan.not_run:
        yield _listing(
            "not run",
            [
                f"{lost.factor}={show_level(lost.level)} ({lost.cells} cells a block): {lost.reason}"
                for lost in summary.plan.not_run
            ],
        )
    if summary.study:
        yield Text("study: ", "bold").append(f"{summary.study.title} ({', '.join(summary.study.authors)})", "not bold")


def _listing(title: str, lines: Sequence[str]) -> RenderableType:
    """A title and lines below it, indented as a whole where they are longer than the terminal is wide."""
    return Group(Text(f"{title}:", "bold"), *(Padding(Text(line), (0, 0, 0, 2)) for line in lines))


def _varying(summary: Summary, *, with_study: bool) -> tuple[str, ...]:
    """The factors besides the compared one that have several levels, here or with the study's; one has a column."""
    seen = [cell.levels for cell in summary.cells]
    if with_study:
        seen += [figure.levels for figure in summary.unmatched]
    return tuple(
        name
        for name in summary.plan.design.factors
        if name != summary.plan.design.compare and len({normal(levels[name]) for levels in seen if name in levels}) > 1
    )


def _fixed(summary: Summary) -> Levels:
    """The levels that are the same everywhere and have no column."""
    if not summary.cells:
        return {}
    shown = (*_varying(summary, with_study=True), summary.plan.design.compare)
    return {name: level for name, level in summary.cells[0].levels.items() if name not in shown}


def _show(summary: Summary, factor: str, levels: Levels) -> str:
    return show_level(levels[factor], summary.plan.design.factors[factor].unit)


def _number(value: float | None) -> str:
    return show(value, "").strip()
