"""How ``tare results`` lays out cells, costs and changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table

from tare.results.change import means
from tare.trials.levels import describe
from tare.units import ratio
from tare.units import show as show_value

if TYPE_CHECKING:
    from tare.results import Change, StoredRun
    from tare.trials.levels import Levels
    from tare.trials.trial import Trial
    from tare.verdicts.compare import Comparison


def cell_table(
    run: StoredRun,
    metric: str,
    trials: Sequence[Trial],
    compared: Sequence[Comparison],
    factor: str,
    short: Mapping[str, str],
) -> Table:
    """Return each cell's mean in a metric and its cost, an A/A arm below it; ``short`` says how cells are written."""
    unit = run.record["units"].get(metric, "")
    table = plain_table("cell", "value", "cost", "95 % interval", "n", title=metric)
    costs = {(describe({**one.condition, factor: one.level}), one.aa): one for one in compared}
    for cell, value in means(trials, metric).items():
        one, again = costs.get((cell, False)), costs.get((cell, True))
        table.add_row(short[cell], show_value(value, unit), *(_cost(one) if one else ("baseline", "", "")))
        if again:
            table.add_row(f"{short[cell]} (A/A)", show_value(again.value, unit), *_cost(again))
    return table


def change_table(metric: str, unit: str, found: Sequence[Change], short: Mapping[str, str]) -> Table:
    """Return what became of each cell in a metric (base unit ``unit``)."""
    table = plain_table("cell", "A", "B", "B/A", "cost in A", "cost in B", "change", "95 % interval", "", title=metric)
    for change in found:
        table.add_row(
            short[describe(change.levels)],
            show_value(change.a, unit),
            show_value(change.b, unit),
            ratio(change.ratio),
            ratio(change.cost_a.ratio if change.cost_a else None),
            ratio(change.cost_b.ratio if change.cost_b else None),
            ratio(change.cost_ratio),
            "" if change.cost_ratio is None else _bounds(change.low, change.high),
            change.word,
        )
    return table


def shorten(cells: Sequence[Levels], *, keep: str) -> tuple[dict[str, str], str]:
    """Return how each cell is written without the levels that are the same everywhere, and those."""
    names = {name for levels in cells for name in levels}
    same = {name for name in names if len({levels.get(name) for levels in cells}) == 1} - {keep}
    short = {
        describe(levels): describe({name: level for name, level in levels.items() if name not in same})
        for levels in cells
    }
    return short, describe({name: cells[0][name] for name in same})


def asides(trials: Sequence[Trial]) -> list[str]:
    """Return what a reader of the figures has to know of the trials behind them."""
    lines = [
        f"trial {trial.index}, attempt {trial.attempt}: {'set aside' if trial.set_aside else 'kept, marked'}: {reason}"
        for trial in trials
        for reason in trial.disturbances
    ]
    notes = dict.fromkeys(note for trial in trials for note in trial.notes)
    return [*lines, *(f"note: {note}" for note in notes)]


def plain_table(*columns: str, title: str | None = None) -> Table:
    """Return an empty table whose cells are folded where the terminal is too narrow."""
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _cost(one: Comparison) -> tuple[str, str, str]:
    return ratio(one.ratio), _bounds(one.low, one.high), str(one.n)


def _bounds(low: float | None, high: float | None) -> str:
    return f"{ratio(low)} … {ratio(high)}" if low is not None and high is not None else "none yet"
