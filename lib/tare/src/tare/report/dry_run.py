"""What would be measured, before anything is: cells, order, and the time it will take. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from tare.manifest import Manifest
from tare.report import wording
from tare.trials.levels import describe
from tare.trials.levels import show as show_level
from tare.trials.plan import Plan

# Beyond this, a block's trials are counted instead of listed.
_LISTED = 40


def describe_plan(
    name: str, manifest: Manifest, plan: Plan, past_trial_seconds: float | None, *, seeded: bool, deciding: str
) -> list[str]:
    """Return the plan of an experiment in lines. ``past_trial_seconds`` is what a trial took in an earlier run of the
    lab, deployments and all; None without one, and then the time is that of the loads alone. ``seeded`` says that the
    plan's seed is the one it will have: given, or recorded in the run that would go on. ``deciding`` tells from which
    block on there can be a verdict."""
    return list(_lines(name, manifest, plan, past_trial_seconds, seeded, deciding))


def _lines(
    name: str, manifest: Manifest, plan: Plan, past_trial_seconds: float | None, seeded: bool, deciding: str
) -> Iterator[str]:
    design, blocks = plan.design, plan.design.blocks
    yield f"{name}: {manifest.title} (lab {manifest.name})"
    yield f"  compares {design.compare} against {show_level(design.baseline)}"
    for factor, about in design.factors.items():
        possible = dict.fromkeys(cell[factor] for cell in plan.cells)
        levels = ", ".join(show_level(level, about.unit) for level in possible)
        yield f"  {factor}: {levels} ({'deployed anew' if about.scope == 'deployment' else 'set on what runs'})"
    again = sum(trial.aa for trial in plan.block(0))
    arm = f", {again} of them the baseline again ({wording.AA})" if again else ", no A/A arm"
    deployments = f"{plan.deployments_per_block} deployments"
    yield f"  {len(plan.cells)} cells; {plan.trials_per_block} trials a block{arm}; {deployments}"
    if plan.duet_told:
        yield f"  {plan.duet_told}"
    trials = tuple(count * plan.trials_per_block for count in (blocks.least, blocks.most))
    yield f"  {wording.block_range(plan)} blocks, so {_range(*trials)} trials"
    yield f"  {deciding}"
    at_once = 2 if plan.duet else 1
    seconds = past_trial_seconds or (design.warmup_seconds + design.duration_seconds) / at_once
    times = tuple(_duration(count * seconds) for count in trials)
    source = (
        f"a trial of an earlier run took {_duration(seconds)}"
        if past_trial_seconds
        else "without deployments: no earlier run here tells how long they take"
    )
    yield f"  about {_range(*times)} ({source})"
    for lost in plan.not_run:
        yield f"  not run: {wording.not_run(lost)}"
    if not seeded:
        yield "  order of the trials: drawn anew when it begins, and recorded; --tare-seed fixes it"
        return
    first = plan.block(0)
    yield f"  order of block 1 (seed {plan.seed}):"
    for trial in first[:_LISTED]:
        arm = f" ({wording.AA})" if trial.aa else ""
        place = f", pair {trial.pair}, side {trial.side + 1}" if plan.duet else ""
        yield f"    {trial.index + 1}. {describe(trial.levels)}{arm}{place}"
    if len(first) > _LISTED:
        yield f"    ... and {len(first) - _LISTED} more"


def _range(least: object, most: object) -> str:
    return f"{least}" if least == most else f"{least} to {most}"


def _duration(seconds: float) -> str:
    """Return a time as a person estimates it: ``45 s``, ``12 min``, ``3 h 20 min``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"
