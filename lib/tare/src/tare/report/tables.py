"""The tables of the page: what the plots above them show, in figures. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tare.manifest import StudyFigure
from tare.report import wording
from tare.report.resources import node_type
from tare.report.summary import Row, Summary
from tare.report.wording import DASH
from tare.trials.levels import show as show_level
from tare.units import ratio, show
from tare.verdicts.latencies import LatencyRatio

# The columns of a comparison after the baseline's value.
_COMPARED = ("value", "ratio", "95 % interval", "n")

# What stands for a cause where all of them are told together.
_WHOLE = "whole"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """``caption`` says what it shows, ``numbers`` of each column whether it is set to the right; rows whose place is in
    ``quiet`` are set back."""

    caption: str
    heading: tuple[str, ...]
    numbers: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]
    quiet: frozenset[int]


def metric_table(summary: Summary, metric: str) -> Table:
    """Each level against the baseline, then the A/A arms, then what only the study has."""
    rows = summary.rows[metric]
    figures = [figure for figure in summary.unmatched if figure.metric == metric]
    varying, design = summary.varying(metric), summary.plan.design
    # Without a study there is nothing to stand beside.
    study = bool(figures) or any(row.study for row in rows)
    return Table(
        caption=f"{metric}: means over the blocks, and ratios within them",
        heading=(*varying, design.compare, show_level(design.baseline), *_COMPARED, *(["study"] if study else []), ""),
        numbers=(*(True for _ in varying), False, True, *(True for _ in _COMPARED), *([True] if study else []), False),
        rows=(
            *(
                (
                    *(wording.factor_level(summary, factor, row.comparison.condition) for factor in varying),
                    *_comparison(row, summary.metrics[metric].unit),
                    *([ratio(row.study.ratio) if row.study else DASH] if study else []),
                    "; ".join(wording.marks(summary, row, of_cells=False)),
                )
                for row in rows
            ),
            *(_study_row(summary, figure) for figure in figures),
        ),
        quiet=frozenset(
            place for place in range(len(rows) + len(figures)) if place >= len(rows) or rows[place].comparison.aa
        ),
    )


def _study_row(summary: Summary, figure: StudyFigure) -> tuple[str, ...]:
    """A figure that the study prints for levels not measured here, as a row of its own."""
    compare = summary.plan.design.compare
    return (
        *(
            wording.factor_level(summary, factor, figure.levels) if factor in figure.levels else DASH
            for factor in summary.varying(figure.metric)
        ),
        show_level(figure.levels.get(compare, DASH)),
        DASH,
        *(DASH for _ in _COMPARED),
        ratio(figure.ratio),
        wording.study_only(summary.plan, figure),
    )


def _comparison(row: Row, unit: str) -> tuple[str, ...]:
    comparison = row.comparison
    return (
        wording.level(comparison),
        show(comparison.baseline_value, unit),
        show(comparison.value, unit),
        ratio(comparison.ratio),
        wording.interval(comparison),
        str(comparison.n),
    )


def attribution_table(summary: Summary, metric: str) -> Table:
    """Each level whose cost is taken apart against the baseline, then its steps, each against the one before."""
    varying, design = summary.varying(), summary.plan.design
    listed = []
    for found in summary.attributions[metric]:
        listed.append((found.whole, _WHOLE, design.baseline))
        listed += [(step.comparison, step.cause, step.before) for step in found.steps]
    return Table(
        caption=f"{metric}: {wording.attribution_means(summary)}",
        heading=(*varying, "cause", design.compare, "against", "ratio", "95 % interval", "n", ""),
        numbers=(*(True for _ in varying), False, False, False, True, True, True, False),
        rows=tuple(
            (
                *(wording.factor_level(summary, factor, comparison.condition) for factor in varying),
                cause,
                wording.level(comparison),
                show_level(before),
                ratio(comparison.ratio),
                wording.interval(comparison),
                str(comparison.n),
                "; ".join(comparison.warnings),
            )
            for comparison, cause, before in listed
        ),
        quiet=frozenset(place for place, (_, cause, _) in enumerate(listed) if cause != _WHOLE),
    )


def latency_table(summary: Summary, found: Sequence[LatencyRatio]) -> Table:
    """Each level against the baseline in percentiles of latency, under one load, then the A/A arms."""
    varying = summary.varying()
    quantiles = wording.quantiles(found)
    return Table(
        caption=f"latency ({found[0].load}): {wording.LATENCY_RATIOS}",
        heading=(*varying, summary.plan.design.compare, *quantiles, "n", "requests"),
        numbers=(*(True for _ in varying), False, *(True for _ in quantiles), True, True),
        rows=tuple(
            (
                *(wording.factor_level(summary, factor, one.condition) for factor in varying),
                wording.level(one),
                *wording.quantile_ratios(one, quantiles),
                str(one.n),
                f"{one.requests} / {one.baseline_requests}",
            )
            for one in found
        ),
        quiet=frozenset(place for place, one in enumerate(found) if one.aa),
    )


def usage_tables(summary: Summary) -> tuple[Table, ...]:
    """CPU and memory of each cell by node type."""
    cpu, memory = summary.usage()
    captions = {"CPUs that each node type used, mean over the blocks": (cpu, ""), "memory, likewise": (memory, "B")}
    return tuple(_usage_table(summary, caption, names, unit) for caption, (names, unit) in captions.items() if names)


def _usage_table(summary: Summary, caption: str, names: Sequence[str], unit: str) -> Table:
    varying, compare = summary.varying(), summary.plan.design.compare
    return Table(
        caption=caption,
        heading=(*varying, compare, *(node_type(name) for name in names), "n"),
        numbers=(*(True for _ in varying), False, *(True for _ in names), True),
        rows=tuple(
            (
                *(wording.factor_level(summary, factor, cell.levels) for factor in varying),
                wording.cell_level(summary, cell),
                *(show(cell.metrics.get(name), unit).strip() for name in names),
                str(cell.trials),
            )
            for cell in summary.cells
        ),
        quiet=frozenset(place for place, cell in enumerate(summary.cells) if cell.aa),
    )


def other_table(summary: Summary) -> Table | None:
    """Every metric that has no section, each level against the baseline."""
    varying = summary.varying()
    listed = [
        (metric, row)
        for metric, rows in summary.rows.items()
        if metric not in summary.headline
        for row in rows
        if row.comparison.value is not None
    ]
    if not listed:
        return None
    design = summary.plan.design
    return Table(
        caption="means over the blocks, and ratios within them",
        heading=("metric", *varying, design.compare, show_level(design.baseline), *_COMPARED),
        numbers=(False, *(True for _ in varying), False, True, *(True for _ in _COMPARED)),
        rows=tuple(
            (
                metric,
                *(wording.factor_level(summary, factor, row.comparison.condition) for factor in varying),
                *_comparison(row, summary.metrics[metric].unit),
            )
            for metric, row in listed
        ),
        quiet=frozenset(place for place, (_, row) in enumerate(listed) if row.comparison.aa),
    )


def cell_table(summary: Summary) -> Table:
    """What befell the trials of each cell."""
    varying, compare = summary.varying(), summary.plan.design.compare
    heading = ("trials", "set aside", "disturbed", "no steady state", "client-bound", "succeeded", "failed", "late")
    return Table(
        caption="what befell the trials of each cell; one that is set aside was repeated, and is in no figure; "
        "a late request was sent behind the generator's schedule, or never",
        heading=(*varying, compare, *heading),
        numbers=(*(True for _ in varying), False, *(True for _ in heading)),
        rows=tuple(
            (
                *(wording.factor_level(summary, factor, cell.levels) for factor in varying),
                wording.cell_level(summary, cell),
                *(
                    str(count or DASH)
                    for count in (cell.trials, cell.set_aside, cell.disturbed, cell.unsteady, cell.client_bound)
                ),
                str(cell.succeeded),
                f"{cell.failed} ({wording.failed_share(cell)})" if cell.failed else DASH,
                f"{cell.late} ({wording.late_share(cell)})" if cell.late else DASH,
            )
            for cell in summary.cells
        ),
        quiet=frozenset(place for place, cell in enumerate(summary.cells) if cell.aa),
    )
