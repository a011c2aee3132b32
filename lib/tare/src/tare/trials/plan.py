"""Which cells are measured, in which order, and which are not run and why. Pure.

A block is a complete replicate: every cell once, and each baseline cell a second time when the design
asks for an A/A arm. Within a block the deployments come in random order, each deployed once, and within
each the runs come in random order. Every block's order is drawn anew, so that no noise keeps step with it
(docs/decisions/2026-11-21-orders-drawn-anew.md). A block is a function of the seed and its number alone:
more blocks can be drawn, or a broken-off run taken up again, without changing those before.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tare.errors import TareError
from tare.manifest import Level
from tare.trials import factorial
from tare.trials.design import Design
from tare.trials.levels import Levels, describe, matches, normal, show

Unavailable = Mapping[str, Mapping[Level, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTrial:
    """One cell in one block. ``index`` counts trials through the whole plan, ``deployment`` deployments; from 0.

    ``aa`` marks the baseline's second trial.
    """

    index: int
    block: int
    deployment: int
    levels: Levels
    aa: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NotRun:
    """A level that cannot run here, the reason, and how many cells of a block it leaves out."""

    factor: str
    level: Level
    reason: str
    cells: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What is set on a deployment that stays up."""

    levels: Levels
    aa: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """What is deployed once a block, and the runs on it."""

    levels: Levels
    runs: tuple[Run, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """``deployments`` are those of every block, in the order of declaration."""

    design: Design
    seed: int
    deployments: tuple[Deployment, ...]
    not_run: tuple[NotRun, ...]

    @property
    def cells(self) -> tuple[Levels, ...]:
        """Every cell that is run, in the order of declaration, the A/A arm left out."""
        return tuple(
            {**deployment.levels, **run.levels}
            for deployment in self.deployments
            for run in deployment.runs
            if not run.aa
        )

    @property
    def trials_per_block(self) -> int:
        return sum(len(deployment.runs) for deployment in self.deployments)

    def block(self, number: int) -> tuple[PlannedTrial, ...]:
        """Return the trials of block ``number`` (from 0), in the order in which they are run."""
        ordered = self._order(number)
        trials: list[PlannedTrial] = []
        for position, deployment in enumerate(ordered):
            for run in deployment.runs:
                trials.append(
                    PlannedTrial(
                        index=number * self.trials_per_block + len(trials),
                        block=number,
                        deployment=number * len(self.deployments) + position,
                        levels={**deployment.levels, **run.levels},
                        aa=run.aa,
                    )
                )
        return tuple(trials)

    def trials(self) -> Iterator[PlannedTrial]:
        """Yield the trials of every block that the design allows, in order."""
        for number in range(self.design.blocks.most):
            yield from self.block(number)

    def as_record(self) -> dict[str, object]:
        """Return the plan as JSON-able values: what must be the same for two commands to be one run.

        How many blocks are measured is not among them: a run may always go on.
        """
        return {
            "compare": self.design.compare,
            "baseline": self.design.baseline,
            "factors": {
                name: {"levels": list(factor.levels), "scope": factor.scope, "unit": factor.unit}
                for name, factor in self.design.factors.items()
            },
            "warmup_seconds": self.design.warmup_seconds,
            "duration_seconds": self.design.duration_seconds,
            "aa": self.design.aa,
            "resolution": self.design.resolution,
            "seed": self.seed,
            "cells": [dict(cell) for cell in self.cells],
        }

    def _order(self, number: int) -> list[Deployment]:
        draw = random.Random(f"{self.seed}:{number}")
        outers = draw.sample(self.deployments, len(self.deployments))
        return [
            Deployment(levels=outer.levels, runs=tuple(draw.sample(outer.runs, len(outer.runs)))) for outer in outers
        ]


def make(design: Design, *, seed: int, unavailable: Unavailable) -> Plan:
    """Return the plan. ``unavailable`` maps a factor's levels that cannot run on this machine to the reason.

    Raises TareError when the baseline, or every level of some factor, cannot run: there is nothing to compare.
    """
    reasons = {
        factor: {normal(level): reason for level, reason in levels.items()} for factor, levels in unavailable.items()
    }
    possible: dict[str, tuple[Level, ...]] = {}
    lost: list[tuple[str, Level, str]] = []
    for name, factor in design.factors.items():
        possible[name] = tuple(level for level in factor.levels if level not in reasons.get(name, {}))
        lost.extend((name, level, reasons[name][level]) for level in factor.levels if level in reasons.get(name, {}))
        if not possible[name]:
            told = "; ".join(f"{show(level)}: {reasons[name][level]}" for level in factor.levels)
            raise TareError(f"no level of factor {name!r} can run on this machine: {told}")
    if design.baseline not in possible[design.compare]:
        raise TareError(
            f"the baseline {describe({design.compare: design.baseline})} cannot run on this machine: "
            f"{reasons[design.compare][design.baseline]}. Every ratio is taken to it, so nothing was measured."
        )
    all_cells = 1
    for factor in design.factors.values():
        all_cells *= len(factor.levels)
    return Plan(
        design=design,
        seed=seed,
        deployments=_deployments(design, possible),
        not_run=tuple(
            NotRun(factor=name, level=level, reason=reason, cells=all_cells // len(design.factors[name].levels))
            for name, level, reason in lost
        ),
    )


def _deployments(design: Design, possible: Mapping[str, tuple[Level, ...]]) -> tuple[Deployment, ...]:
    def of_scope(scope: str) -> dict[str, tuple[Level, ...]]:
        return {name: levels for name, levels in possible.items() if design.factors[name].scope == scope}

    conditions = {name: levels for name, levels in possible.items() if name != design.compare}
    kept = (
        factorial.full(conditions)
        if design.resolution is None
        else factorial.fraction(conditions, resolution=design.resolution)
    )
    found = []
    for outer in factorial.full(of_scope("deployment")):
        runs = [
            Run(levels=inner, aa=False)
            for inner in factorial.full(of_scope("run"))
            if any(matches({**outer, **inner}, condition) for condition in kept)
        ]
        if not runs:
            continue
        again = [
            Run(levels=run.levels, aa=True)
            for run in runs
            if design.aa and {**outer, **run.levels}[design.compare] == design.baseline
        ]
        if design.factors[design.compare].scope == "run":
            found.append(Deployment(levels=outer, runs=(*runs, *again)))
        else:
            # The noise of deploying is part of what the A/A arm shows, so it has a deployment of its own.
            found.append(Deployment(levels=outer, runs=tuple(runs)))
            found.extend([Deployment(levels=outer, runs=tuple(again))] if again else [])
    return tuple(found)
