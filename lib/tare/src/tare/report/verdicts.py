"""What pytest's terminal summary says: verdicts, where each run is kept, whose cost it is, how much was noise. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from tare.manifest import Manifest
from tare.report import wording
from tare.report.summary import summarise
from tare.stats.sequence import Method
from tare.trials.plan import Plan
from tare.trials.trial import Trial
from tare.units import ratio
from tare.verdicts.budget import Verdict

if TYPE_CHECKING:
    from pathlib import PurePath


class Judgement(Protocol):
    """A verdict on a budget of an experiment."""

    @property
    def experiment(self) -> str: ...

    @property
    def budget(self) -> str: ...

    @property
    def verdict(self) -> Verdict: ...


class Run(Protocol):
    """The run of an experiment; ``trials`` are those that count, ``method`` makes its intervals."""

    @property
    def name(self) -> str: ...

    @property
    def manifest(self) -> Manifest: ...

    @property
    def plan(self) -> Plan: ...

    @property
    def folder(self) -> PurePath: ...

    @property
    def method(self) -> Method: ...

    @property
    def proof(self) -> str:
        """What the proofs of the lab came to; empty without any."""
        ...

    @property
    def trials(self) -> tuple[Trial, ...]: ...


def verdict_lines(judged: Sequence[Judgement], runs: Sequence[Run]) -> list[str]:
    """Return what each run came to: its verdicts, each budget once, whose cost it is, its noise floor, and what was
    not run."""
    return [line for run in runs for line in _run_lines(judged, run)]


def _run_lines(judged: Sequence[Judgement], run: Run) -> Iterator[str]:
    # The trials that count tell of those set aside: each was an attempt before them.
    set_aside = sum(trial.attempt for trial in run.trials)
    summary = summarise(run.manifest, run.plan, run.trials, method=run.method)
    yield (
        f"{run.name}: {wording.blocks(run.plan, summary.blocks)}, {len(run.trials)} trials"
        f"{f', {set_aside} more set aside and repeated' if set_aside else ''}; {run.folder}"
    )
    if run.proof:
        yield f"  {run.proof}"
    if run.plan.duet_told:
        yield f"  {run.plan.duet_told}"
    verdicts = {each.budget: each.verdict for each in judged if each.experiment == run.name}
    for verdict in verdicts.values():
        first, *claims = verdict.lines()
        yield f"  {first}"
        yield from (f"    {line}" for line in claims)
    for metric in summary.headline:
        yield from (f"  {wording.attribution(summary, found)}" for found in summary.attributions[metric])
    for metric in summary.headline:
        arms = [row for row in summary.rows[metric] if row.comparison.aa and row.comparison.n]
        for row in arms:
            where = wording.condition(summary, row.comparison.condition)
            seen = wording.smallest_effect(row)
            yield (
                f"  noise ({wording.AA}): {metric}{f' at {where}' if where else ''}: {ratio(row.comparison.ratio)}, "
                f"interval {wording.interval(row.comparison)}{f'; {seen}' if seen else ''}"
            )
    yield from (f"  warning: {warning}" for warning in wording.warnings(summary))
    for lost in run.plan.not_run:
        yield f"  not run: {wording.not_run(lost)}"
