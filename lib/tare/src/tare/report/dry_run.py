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


def describe_plan(name: str, manifest: Manifest, plan: Plan, past_trial_seconds: float | None) -> list[str]:
    """Return the plan of an experiment in lines. ``past_trial_seconds`` is what a trial took in an earlier run of the
    lab, deployments and all; None without one, and then the time is that of the loads alone."""
    return list(_lines(name, manifest, plan, past_trial_seconds))


def _lines(name: str, manifest: Manifest, plan: Plan, past_trial_seconds: float | None) -> Iterator[str]:
    design, blocks = plan.design, plan.design.blocks
    yield f"{name}: {manifest.title} (lab {manifest.name})"
    yield f"  compares {design.compare} against {show_level(design.baseline)}"
    for factor, about in design.factors.items():
        possible = dict.fromkeys(cell[factor] for cell in plan.cells)
        levels = ", ".join(show_level(level, about.unit) for level in possible)
        yield f"  {factor}: {levels} ({'deployed anew' if about.scope == 'deployment' else 'set on what runs'})"
    again = plan.trials_per_block - len(plan.cells)
    arm = f", {again} of them the baseline again ({wording.AA})" if again else ", no A/A arm"
    yield f"  {len(plan.cells)} cells; {plan.trials_per_block} trials a block{arm}; {len(plan.deployments)} deployments"
    trials = tuple(count * plan.trials_per_block for count in (blocks.least, blocks.most))
    yield f"  {wording.block_range(plan)} blocks, so {_range(*trials)} trials"
    seconds = past_trial_seconds or design.warmup_seconds + design.duration_seconds
    times = tuple(_duration(count * seconds) for count in trials)
    source = (
        f"a trial of an earlier run took {_duration(seconds)}"
        if past_trial_seconds
        else "without deployments: no earlier run here tells how long they take"
    )
    yield f"  about {_range(*times)} ({source})"
    for lost in plan.not_run:
        yield f"  not run: {wording.not_run(lost)}"
    first = plan.block(0)
    yield f"  order of block 1 (seed {plan.seed}):"
    for trial in first[:_LISTED]:
        yield f"    {trial.index + 1}. {describe(trial.levels)}{f' ({wording.AA})' if trial.aa else ''}"
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
