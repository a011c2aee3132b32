"""What a report says, gathered from a run and not yet laid out. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tare.manifest import Experiment, Manifest, Metric, Study, StudyFigure
from tare.stats.power import minimum_detectable_effect
from tare.stats.sequence import Method
from tare.study import applies, beside
from tare.trials.design import Design
from tare.trials.levels import Levels, describe, matches, normal
from tare.trials.plan import Plan
from tare.trials.steady import NO_STEADY_STATE
from tare.trials.trial import Trial
from tare.verdicts.attribution import Attribution, attribute
from tare.verdicts.compare import Comparison, IntervalKind, compare
from tare.verdicts.latencies import LatencyRatio, compare_latencies

# What a report opens with, where the lab has it; the rest is below, in the JSON report and in the Parquet files.
HEADLINE = ("goodput", "throughput", "latency_mean", "latency_p99", "paced_latency_p99", "cpu_per_request")

CONFIDENCE = 0.95

# As a log-ratio: nobody asks whether a thousandfold effect would be seen.
_ABSURD = math.log(1000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell over its blocks. ``metrics`` are means over the blocks that have them; base units.

    ``aa`` marks the baseline's second trials. ``trials`` counts those in the figures; of them ``client_bound`` had
    figures set by the load generator, ``disturbed`` were disturbed at every attempt, and ``unsteady`` found no steady
    state. ``late`` requests were sent behind the generator's schedule, or never. ``set_aside`` attempts were repeated,
    and are in no figure.
    """

    levels: Levels
    aa: bool
    trials: int
    metrics: Mapping[str, float]
    succeeded: int
    failed: int
    late: int
    client_bound: int
    disturbed: int
    unsteady: int
    set_aside: int
    failures: Mapping[str, int]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A comparison, and the study's figure for the same levels when it has one.

    ``smallest_effect``, of an A/A arm only, is the share by which a level must differ for as many blocks as there
    are to show it, in four of five runs; None where they are too few, or do not vary at all.
    """

    comparison: Comparison
    study: StudyFigure | None
    smallest_effect: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """``rows`` maps each metric to its comparisons, A/A arms last, ``attributions`` each headline metric to the levels
    whose cost is taken apart, in the order of the levels; ``unmatched`` are the study's figures that stand beside no
    row. ``kind`` is how the intervals were made, ``blocks`` how many are whole."""

    lab: str
    title: str
    plan: Plan
    kind: IntervalKind
    blocks: int
    metrics: Mapping[str, Metric]
    headline: tuple[str, ...]
    cells: tuple[Cell, ...]
    rows: Mapping[str, tuple[Row, ...]]
    attributions: Mapping[str, tuple[Attribution, ...]]
    study: Study | None
    unmatched: tuple[StudyFigure, ...]

    def cell(self, levels: Levels, *, aa: bool = False) -> Cell | None:
        """Return the cell with exactly these levels, or None when no trial of it was kept."""
        wanted = describe(levels)
        return next((cell for cell in self.cells if describe(cell.levels) == wanted and cell.aa == aa), None)

    def noise(self, comparison: Comparison) -> Comparison | None:
        """Return the A/A arm beside a comparison: same metric, same other levels. None without one."""
        for row in self.rows[comparison.metric]:
            if row.comparison.aa and describe(row.comparison.condition) == describe(comparison.condition):
                return row.comparison
        return None

    def varying(self, metric: str | None = None) -> tuple[str, ...]:
        """Return the factors besides the compared one that have several levels; with a metric, those of the study's
        figures of it count too."""
        seen = [cell.levels for cell in self.cells]
        seen += [figure.levels for figure in self.unmatched if figure.metric == metric]
        return tuple(
            name
            for name in self.plan.design.factors
            if name != self.plan.design.compare and len({normal(levels[name]) for levels in seen if name in levels}) > 1
        )

    def fixed(self) -> Levels:
        """Return the levels that are the same in every cell."""
        if not self.cells:
            return {}
        others = (*self.varying(), self.plan.design.compare)
        return {name: level for name, level in self.cells[0].levels.items() if name not in others}

    def usage(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the names of the metrics of CPU and of memory by node type; the client's stands last."""
        cpu = [name for name, about in self.metrics.items() if name.startswith("cpu_") and about.unit == "cpu"]
        client = [name for name in ("client_cpu",) if name in self.metrics]
        return (*cpu, *client), tuple(name for name in self.metrics if name.startswith("memory_"))


def summarise(manifest: Manifest, plan: Plan, trials: Sequence[Trial], *, method: Method = "t") -> Summary:
    """Return what is to be said about the trials, those set aside among them. Cells come in the order of the plan.

    ``method`` makes the intervals where the number of blocks was left open.
    """
    ordered = in_order(plan, trials)
    factor, baseline = plan.design.compare, plan.design.baseline
    kind = interval_kind(plan.design, method)
    rows = {
        metric: tuple(
            _row(comparison, manifest.study, factor)
            for comparison in compare(
                ordered, metric=metric, factor=factor, baseline=baseline, kind=kind, confidence=CONFIDENCE
            )
        )
        for metric in manifest.experiment.metrics
    }
    compared = [row.comparison for of_metric in rows.values() for row in of_metric if not row.comparison.aa]
    figures = manifest.study.figures if manifest.study else ()
    of_study = [figure.metric for figure in figures]
    headline = tuple(dict.fromkeys(name for name in (*HEADLINE, *of_study) if name in manifest.experiment.metrics))
    headline = headline or tuple(manifest.experiment.metrics)
    return Summary(
        lab=manifest.name,
        title=manifest.title,
        plan=plan,
        kind=kind,
        blocks=whole_blocks(plan, trials),
        metrics=manifest.experiment.metrics,
        headline=headline,
        cells=_cells(ordered),
        rows=rows,
        attributions={
            metric: _attributions(manifest.experiment, plan.design, ordered, metric, kind) for metric in headline
        },
        study=manifest.study,
        unmatched=tuple(
            figure for figure in figures if not any(applies(figure, one, factor=factor) for one in compared)
        ),
    )


def in_order(plan: Plan, trials: Iterable[Trial]) -> list[Trial]:
    """Return the trials cell by cell, in the order of the plan, A/A arms last."""
    order = {describe(levels): place for place, levels in enumerate(plan.cells)}
    return sorted(trials, key=lambda trial: (trial.aa, order.get(describe(trial.levels), len(order)), trial.index))


def latencies(plan: Plan, trials: Iterable[Trial]) -> tuple[LatencyRatio, ...]:
    """Return what the report says of percentiles of latency; the same seed gives the same intervals."""
    return compare_latencies(
        in_order(plan, trials),
        factor=plan.design.compare,
        baseline=plan.design.baseline,
        seed=plan.seed,
        confidence=CONFIDENCE,
    )


def interval_kind(design: Design, method: Method) -> IntervalKind:
    """Return how intervals are made: as for a fixed number of blocks, where the design fixes it."""
    return "fixed" if design.blocks.least == design.blocks.most else method


def whole_blocks(plan: Plan, trials: Iterable[Trial]) -> int:
    """Return how many blocks have every trial of theirs."""
    counted = Counter(trial.block for trial in trials if not trial.set_aside)
    return sum(count == plan.trials_per_block for count in counted.values())


def not_run_reason(plan: Plan, figure: StudyFigure) -> str | None:
    """Return why a figure's levels were not run here, or None when that is not the reason."""
    for lost in plan.not_run:
        if lost.factor in figure.levels and matches(figure.levels, {lost.factor: lost.level}):
            return lost.reason
    return None


def _attributions(
    experiment: Experiment, design: Design, ordered: Sequence[Trial], metric: str, kind: IntervalKind
) -> tuple[Attribution, ...]:
    """Return none where something else is compared than the lab takes apart, or with another baseline."""
    if (design.compare, design.baseline) != (experiment.compare, normal(experiment.baseline)):
        return ()
    ways = {normal(steps[-1].level): steps for steps in experiment.attributions.values()}
    return tuple(
        attribution
        for level in map(normal, design.factors[design.compare].levels)
        if level in ways
        for attribution in attribute(
            ordered,
            ways[level],
            metric=metric,
            factor=design.compare,
            baseline=design.baseline,
            kind=kind,
            confidence=CONFIDENCE,
        )
    )


def _row(comparison: Comparison, study: Study | None, factor: str) -> Row:
    if comparison.aa:
        return Row(comparison=comparison, study=None, smallest_effect=_smallest_effect(comparison))
    return Row(comparison=comparison, study=beside(study, comparison, factor=factor), smallest_effect=None)


def _smallest_effect(noise: Comparison) -> float | None:
    # A spread of zero is rounding: it does not say that any effect would be seen.
    if not noise.deviation:
        return None
    found = minimum_detectable_effect(noise.deviation, blocks=noise.n, alpha=1 - noise.confidence)
    return math.expm1(found) if found < _ABSURD else None


def _cells(trials: Sequence[Trial]) -> tuple[Cell, ...]:
    grouped: dict[tuple[str, bool], list[Trial]] = {}
    for trial in trials:
        grouped.setdefault((describe(trial.levels), trial.aa), []).append(trial)
    return tuple(_cell(of_cell) for of_cell in grouped.values())


def _cell(attempts: Sequence[Trial]) -> Cell:
    trials = [trial for trial in attempts if not trial.set_aside]
    values: dict[str, list[float]] = {}
    failures: Counter[str] = Counter()
    for trial in trials:
        for name, value in trial.metrics.items():
            values.setdefault(name, []).append(value)
        failures.update(trial.failures)
    return Cell(
        levels=attempts[0].levels,
        aa=attempts[0].aa,
        trials=len(trials),
        metrics={name: math.fsum(found) / len(found) for name, found in values.items()},
        succeeded=sum(trial.succeeded for trial in trials),
        failed=sum(trial.failed for trial in trials),
        late=sum(trial.late or 0 for trial in trials),
        client_bound=sum(trial.client_bound for trial in trials),
        disturbed=sum(bool(trial.disturbances) for trial in trials),
        unsteady=sum(NO_STEADY_STATE in trial.steady_state for trial in trials),
        set_aside=len(attempts) - len(trials),
        failures=dict(failures),
        notes=tuple(dict.fromkeys(note for trial in trials for note in trial.notes)),
    )
