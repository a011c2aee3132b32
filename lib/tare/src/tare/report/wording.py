"""How a report words what it found: for the terminal, the page and the plots alike. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tare.manifest import StudyFigure
from tare.report.summary import CONFIDENCE, Cell, Row, Summary, not_run_reason
from tare.stats.sequence import least_values
from tare.trials.levels import Levels, describe
from tare.trials.levels import show as show_level
from tare.trials.plan import NotRun, Plan
from tare.trials.trial import Trial
from tare.units import ratio, round_to, show
from tare.verdicts.attribution import Attribution
from tare.verdicts.compare import Comparison
from tare.verdicts.latencies import FEWEST_BEYOND, LatencyRatio

AA = "A/A"
CLIENT_BOUND = "client-bound"
CLIENT_BOUND_MEANS = "the load generator, not the service, set these figures: they say little about the service."
DASH = "–"  # noqa: RUF001
LATENCY_RATIOS = (
    "each percentile of all requests, level over baseline, with a 95 % interval by a bootstrap of the blocks, then of "
    "their requests. It is valid at one look: for the report, not for stopping. A percentile is told where "
    f"{FEWEST_BEYOND} requests of either side or more are beyond it."
)


def design(summary: Summary) -> str:
    """Return what was compared, over how many blocks, for how long, in one line."""
    plan = summary.plan
    return (
        f"{plan.design.compare} against {show_level(plan.design.baseline)}; {blocks(plan, summary.blocks)}, "
        f"{plan.design.duration_seconds:g} s a trial after {plan.design.warmup_seconds:g} s of warm-up; "
        f"seed {plan.seed}{f'; {plan.duet_told}' if plan.duet_told else ''}"
    )


def blocks(plan: Plan, measured: int) -> str:
    """Return how many blocks are whole, and how many the design allows: ``7 blocks (of 5 to 40)``."""
    allowed = plan.design.blocks
    told = f"{measured} block{'' if measured == 1 else 's'}"
    if allowed.least == allowed.most == measured:
        return told
    return f"{told} (of {block_range(plan)})"


def block_range(plan: Plan) -> str:
    """Return how many blocks the design allows: ``5 to 40``."""
    least, most = plan.design.blocks.least, plan.design.blocks.most
    return f"{most}" if least == most else f"{least} to {most}"


def deciding(plan: Plan, *, budgets: int, error_rate: float, first: int) -> str:
    """Return from which block on a verdict is possible, ``first``, and whether the design comes that far."""
    share = f"{budgets} budgets share" if budgets > 1 else "one budget has"
    told = f"{share} the error rate of {100 * error_rate:.4g} %: no verdict before block {first}"
    most = plan.design.blocks.most
    return told if first <= most else f"{told}, and the design allows {most}: allow more, or let fewer budgets share"


def interval_kind(summary: Summary) -> str:
    """Return what the intervals mean, in one sentence."""
    if summary.kind == "fixed":
        return "Intervals: 95 %, Student's t on the log-ratios; the number of blocks was fixed beforehand."
    valid = f"valid at every look, none before {least_values(1 - CONFIDENCE)} blocks"
    if summary.kind == "median":
        return f"Intervals: 95 % for the median ratio, {valid}."
    return f"Intervals: 95 %, a t confidence sequence of the log-ratios, {valid}."


def interval(comparison: Comparison) -> str:
    """Return the bounds of the ratio, or that there are none."""
    if comparison.low is None or comparison.high is None:
        return "none" if comparison.n == 0 else f"none (n = {comparison.n})"
    return f"{_bound(comparison.low)} … {_bound(comparison.high)}"


def attribution(summary: Summary, found: Attribution) -> str:
    """Return whose cost it is in one line: ``gvisor, goodput at 50 tx/s: 0.80 = a 0.90 (0.88 … 0.92) x b 0.89 …``."""
    where = condition(summary, found.whole.condition)
    steps = " x ".join(f"{step.cause} {_bounded(step.comparison)}" for step in found.steps)
    unbounded = all(step.comparison.low is None for step in found.steps)
    return (
        f"{level(found.whole)}, {found.whole.metric}{f' at {where}' if where else ''}: {ratio(found.whole.ratio)} "
        f"= {steps}; n = {found.whole.n}{', no intervals' if unbounded else ''}"
    )


def attribution_means(summary: Summary) -> str:
    """Return how the steps go together, in sentences."""
    product = (
        "Ratios are medians over the blocks, so the steps multiply to the whole only roughly."
        if summary.kind == "median"
        else "The steps multiply to the whole."
    )
    return (
        f"{product} All are over the blocks that have every one of the levels; each interval is its own step's alone."
    )


def quantiles(found: Sequence[LatencyRatio]) -> tuple[str, ...]:
    """Return the percentiles that any comparison has: ``p50``, ``p99.9``."""
    return tuple(f"p{100 * q:g}" for q in sorted({each.quantile for one in found for each in one.quantiles}))


def quantile_ratios(one: LatencyRatio, names: Sequence[str]) -> tuple[str, ...]:
    """Return the ratio and its bounds at each percentile; a dash where there are too few requests."""
    told = {}
    for each in one.quantiles:
        bounds = f"{_bound(each.low)} … {_bound(each.high)}" if math.isfinite(each.low) else f"none (n = {one.n})"
        told[f"p{100 * each.quantile:g}"] = f"{ratio(each.ratio)}, {bounds}"
    return tuple(told.get(name, DASH) for name in names)


def level(comparison: Comparison | LatencyRatio) -> str:
    """Return the compared level; the A/A arm is the baseline's, and marked."""
    return f"{show_level(comparison.level)}{f' ({AA})' if comparison.aa else ''}"


def cell_level(summary: Summary, cell: Cell) -> str:
    """Return the compared level of a cell; the A/A arm's is marked."""
    return f"{show_level(cell.levels[summary.plan.design.compare])}{f' ({AA})' if cell.aa else ''}"


def condition(summary: Summary, levels: Levels, metric: str | None = None) -> str:
    """Return the levels of the other factors that vary, here or with the study's figures of the metric, with their
    units: ``0.5 cpu, 50 tx/s``."""
    return ", ".join(factor_level(summary, name, levels) for name in summary.varying(metric) if name in levels)


def conditions(summary: Summary) -> tuple[str, ...]:
    """Return the conditions under which levels were compared, in the order of the cells."""
    return tuple(dict.fromkeys(condition(summary, cell.levels) for cell in summary.cells))


def factor_level(summary: Summary, factor: str, levels: Levels) -> str:
    return show_level(levels[factor], summary.plan.design.factors[factor].unit)


def marks(summary: Summary, row: Row, *, of_cells: bool) -> tuple[str, ...]:
    """Return what makes a row's figures mean something else: pairs left out, a bound client, a disturbed machine.

    What is true of the cells, whatever the metric, is told when ``of_cells``, but for a bound client, always.
    """
    comparison = row.comparison
    cells = dict(_cells_of(summary, comparison))
    found = [_of(f"{CLIENT_BOUND}:", {name: "" for name, cell in cells.items() if cell.client_bound})]
    if of_cells:
        found += [
            _of("failed:", {name: f" {failed_share(cell)}" for name, cell in cells.items() if cell.failed}),
            _of("late:", {name: f" {late_share(cell)}" for name, cell in cells.items() if cell.late}),
            _of(
                "no steady state:", {name: _count(cell.unsteady, cell) for name, cell in cells.items() if cell.unsteady}
            ),
            _of("disturbed:", {name: _count(cell.disturbed, cell) for name, cell in cells.items() if cell.disturbed}),
            _of("set aside:", {name: f" {cell.set_aside}" for name, cell in cells.items() if cell.set_aside}),
        ]
    if comparison.left_out:
        found.append(f"{comparison.left_out} without a ratio (zero)")
    found.append(smallest_effect(row))
    return tuple(mark for mark in found if mark)


def smallest_effect(row: Row) -> str:
    """Return what an A/A arm says of the effects that can be seen; empty if nothing."""
    return "" if row.smallest_effect is None else f"effects from {show(row.smallest_effect, '1')} on would show"


def failed_share(cell: Cell) -> str:
    return show(cell.failed / (cell.failed + cell.succeeded), "1")


def late_share(cell: Cell) -> str:
    """Return the share of the requests that the generator sent late or never; it is of those that ended either way."""
    return show(cell.late / max(cell.failed + cell.succeeded, cell.late), "1")


def failures(summary: Summary) -> str:
    """Return how many requests failed for which reason, over all cells; empty if none did."""
    counted = sum((Counter(cell.failures) for cell in summary.cells), Counter[str]())
    return ", ".join(f"{reason} {count}" for reason, count in counted.most_common())


def not_run(lost: NotRun) -> str:
    """Return the level that was not run, how much it leaves out, and why."""
    cells = f"{lost.cells} cell{'' if lost.cells == 1 else 's'} a block"
    return f"{lost.factor}={show_level(lost.level)} ({cells}): {lost.reason}"


def study_only(plan: Plan, figure: StudyFigure) -> str:
    """Return why a figure of the study stands beside no row."""
    return f"study only ({'not run' if not_run_reason(plan, figure) else 'other levels'})"


def warnings(summary: Summary) -> tuple[str, ...]:
    """Return what says that an interval of a headline metric promises too much, a sentence each."""
    compared = (row.comparison for metric in summary.headline for row in summary.rows[metric])
    return tuple(
        f"{one.metric}, {', '.join(filter(None, [level(one), condition(summary, one.condition)]))}: {warning}"
        for one in compared
        for warning in one.warnings
    )


def notes(summary: Summary, record: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what the loads say of themselves, and what the machine does not tell, each once."""
    found = (note for cell in summary.cells for note in cell.notes)
    return tuple(filter(None, dict.fromkeys((*found, absent(record)))))


def absent(record: Mapping[str, Any]) -> str:
    """Return what the machine did not tell while it was measured, after the run record; empty if nothing."""
    sources = record.get("absent", ())
    return f"this machine does not tell: {'; '.join(sources)}" if sources else ""


def disturbed(summary: Summary) -> str:
    """Return how many attempts the machine disturbed, and what came of them; empty if none."""
    repeated = sum(cell.set_aside for cell in summary.cells)
    kept = sum(cell.disturbed for cell in summary.cells)
    told = [f"{repeated} set aside and repeated" if repeated else ""]
    told.append(f"{kept} kept, since every attempt was disturbed" if kept else "")
    return ", ".join(filter(None, told))


def disturbances(trials: Iterator[Trial]) -> Iterator[str]:
    """Yield, attempt by attempt, what disturbed the machine, and what came of it."""
    for trial in trials:
        for sentence in trial.disturbances:
            came_of_it = "set aside, and repeated" if trial.set_aside else "kept, marked"
            yield (
                f"block {trial.block + 1}, {describe(trial.levels)}{f' ({AA})' if trial.aa else ''}, "
                f"attempt {trial.attempt + 1}, {came_of_it}: {sentence}"
            )


def _bounded(comparison: Comparison) -> str:
    bounds = "" if comparison.low is None else f" ({interval(comparison)})"
    return f"{ratio(comparison.ratio)}{bounds}"


def _cells_of(summary: Summary, comparison: Comparison) -> Iterator[tuple[str, Cell]]:
    """The cells that a row tells of, by name: a level's and its baseline's; the A/A arm's own, for the baseline has
    been told of."""
    factor, baseline = summary.plan.design.compare, summary.plan.design.baseline
    levels = (comparison.level,) if comparison.aa else (baseline, comparison.level)
    for of_level in levels:
        cell = summary.cell({**comparison.condition, factor: of_level}, aa=comparison.aa)
        if cell is not None:
            yield cell_level(summary, cell), cell


def _of(what: str, told: dict[str, str]) -> str:
    return f"{what} {', '.join(f'{name}{detail}' for name, detail in told.items())}" if told else ""


def _count(number: int, cell: Cell) -> str:
    return f" {number} of {cell.trials}"


def _bound(value: float) -> str:
    return round_to(value) if math.isfinite(value) else "∞"
