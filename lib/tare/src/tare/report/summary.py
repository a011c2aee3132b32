"""What a report says, gathered from a run and not yet laid out. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tare.manifest import Manifest, Metric, Study, StudyFigure
from tare.study import applies, beside
from tare.trials.levels import Levels, describe, matches
from tare.trials.plan import Plan
from tare.trials.trial import Trial
from tare.verdicts.compare import Comparison, compare

# What the table opens with, where the lab has it; the rest is in the JSON report and the Parquet files.
HEADLINE = ("goodput", "latency_mean", "latency_p99", "cpu_per_transaction")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell over its blocks. ``metrics`` are means over the blocks that have them; base units.

    ``client_bound`` counts the trials in which the load generator set the figures.
    """

    levels: Levels
    trials: int
    metrics: Mapping[str, float]
    succeeded: int
    failed: int
    client_bound: int
    failures: Mapping[str, int]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A comparison, and the study's figure for the same levels when it has one."""

    comparison: Comparison
    study: StudyFigure | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """``rows`` maps each metric to its comparisons; ``unmatched`` are the study's figures that stand beside no row."""

    lab: str
    title: str
    plan: Plan
    metrics: Mapping[str, Metric]
    headline: tuple[str, ...]
    cells: tuple[Cell, ...]
    rows: Mapping[str, tuple[Row, ...]]
    study: Study | None
    unmatched: tuple[StudyFigure, ...]

    def cell(self, levels: Levels) -> Cell | None:
        """Return the cell with exactly these levels, or None when no trial of it was kept."""
        return next((cell for cell in self.cells if describe(cell.levels) == describe(levels)), None)


def summarise(manifest: Manifest, plan: Plan, trials: Sequence[Trial]) -> Summary:
    """Return what is to be said about the trials. Cells come in the order of the plan's declaration."""
    order = {describe(levels): place for place, levels in enumerate(plan.cells)}
    ordered = sorted(trials, key=lambda trial: (order.get(describe(trial.levels), len(order)), trial.index))
    factor, baseline = plan.design.compare, plan.design.baseline
    rows = {
        metric: tuple(
            Row(comparison=comparison, study=beside(manifest.study, comparison, factor=factor))
            for comparison in compare(ordered, metric=metric, factor=factor, baseline=baseline)
        )
        for metric in manifest.experiment.metrics
    }
    all_rows = [row for of_metric in rows.values() for row in of_metric]
    figures = manifest.study.figures if manifest.study else ()
    of_study = [figure.metric for figure in figures if figure.metric in manifest.experiment.metrics]
    headline = dict.fromkeys(name for name in (*HEADLINE, *of_study) if name in manifest.experiment.metrics)
    return Summary(
        lab=manifest.name,
        title=manifest.title,
        plan=plan,
        metrics=manifest.experiment.metrics,
        headline=tuple(headline) or tuple(manifest.experiment.metrics),
        cells=_cells(ordered),
        rows=rows,
        study=manifest.study,
        unmatched=tuple(
            figure for figure in figures if not any(applies(figure, row.comparison, factor=factor) for row in all_rows)
        ),
    )


def not_run_reason(plan: Plan, figure: StudyFigure) -> str | None:
    """Return why a figure's levels were not run here, or None when that is not the reason."""
    for lost in plan.not_run:
        if lost.factor in figure.levels and matches(figure.levels, {lost.factor: lost.level}):
            return lost.reason
    return None


def _cells(trials: Sequence[Trial]) -> tuple[Cell, ...]:
    grouped: dict[str, list[Trial]] = {}
    for trial in trials:
        grouped.setdefault(describe(trial.levels), []).append(trial)
    return tuple(_cell(of_cell) for of_cell in grouped.values())


def _cell(trials: Sequence[Trial]) -> Cell:
    values: dict[str, list[float]] = {}
    failures: dict[str, int] = {}
    for trial in trials:
        for name, value in trial.metrics.items():
            values.setdefault(name, []).append(value)
        for reason, count in trial.failures.items():
            failures[reason] = failures.get(reason, 0) + count
    return Cell(
        levels=trials[0].levels,
        trials=len(trials),
        metrics={name: sum(found) / len(found) for name, found in values.items()},
        succeeded=sum(trial.succeeded for trial in trials),
        failed=sum(trial.failed for trial in trials),
        client_bound=sum(trial.client_bound for trial in trials),
        failures=failures,
        notes=tuple(dict.fromkeys(note for trial in trials for note in trial.notes)),
    )
