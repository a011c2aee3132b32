"""Which cells are measured, in which order, and which are not run and why. Pure.

A block is a complete replicate: every cell once, and each baseline cell a second time when the design
asks for an A/A arm. In a duet every level, the A/A arm among them, runs at the same moment as a baseline
of its own, on the other side of the lab; which stands on which side is tossed once a deployment, in every
block anew. Within a block the deployments come in random order, each deployed once, and within
each the runs come in random order. Every block's order is drawn anew, so that no noise keeps step with it
(docs/decisions/2026-11-21-orders-drawn-anew.md). A block is a function of the seed and its number alone:
more blocks can be drawn, or a broken-off run taken up again, without changing those before.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from tare.errors import TareError
from tare.manifest import Level
from tare.trials import factorial
from tare.trials.design import Design
from tare.trials.levels import Levels, describe, matches, normal, show

Unavailable = Mapping[str, Mapping[Level, str]]

# The pair of a trial that has none: it is compared with every other trial of its block.
IN_TURN = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTrial:
    """One cell in one block. ``index`` counts trials through the whole plan, ``deployment`` deployments; from 0.

    ``aa`` marks the baseline's second trial. The two trials of a ``pair`` run at the same moment and are compared with
    each other; a block numbers its pairs from 1, and 0 is a trial that runs in turn. ``side`` is that of the lab.
    """

    index: int
    block: int
    deployment: int
    levels: Levels
    aa: bool = False
    pair: int = IN_TURN
    side: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NotRun:
    """A level that cannot run here, the reason, and how many cells of a block it leaves out."""

    factor: str
    level: Level
    reason: str
    cells: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What is set on a deployment that stays up. ``pair`` is its number in a duet."""

    levels: Levels
    aa: bool
    pair: int = IN_TURN


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """What is deployed once a block, and the runs on it. A run may have another of its levels, where several share one
    deployment. ``swapped``: in a duet it is on the second side, and the
    baseline on the first."""

    levels: Levels
    runs: tuple[Run, ...]
    swapped: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """``deployments`` are those of every block run in turn, in the order of declaration. ``against_duet`` is why the
    trials run in turn although the design asks for a duet; None where they do not, or it does not."""

    design: Design
    seed: int
    deployments: tuple[Deployment, ...]
    not_run: tuple[NotRun, ...]
    against_duet: str | None = None

    @property
    def duet(self) -> bool:
        """Whether each level runs at the same moment as a baseline."""
        return self.design.duet and self.against_duet is None

    @property
    def duet_told(self) -> str:
        """What became of the wish for a duet, in words; empty where there was none."""
        if not self.design.duet:
            return ""
        if self.against_duet is not None:
            return f"duet was asked for; run in turn: {self.against_duet}"
        return "duet: each level runs at the same moment as a baseline, on two sides of the lab"

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
        return (2 if self.duet else 1) * sum(len(deployment.runs) for deployment in self._stood_up)

    @property
    def deployments_per_block(self) -> int:
        return (2 if self.duet else 1) * len(self._stood_up)

    def pairs(self, cell: Levels, *, aa: bool = False) -> frozenset[int]:
        """Return the pairs of a block in which a cell stands. Two cells can be compared that share one."""
        if not self.duet:
            return frozenset([IN_TURN])
        return frozenset(
            pair
            for deployment in self._stood_up
            for run in deployment.runs
            for pair, levels, run_aa in self._arms(deployment, run)
            if run_aa == aa and matches(levels, cell)
        )

    def block(self, number: int) -> tuple[PlannedTrial, ...]:
        """Return the trials of block ``number`` (from 0), in the order in which they are run."""
        ordered = self._order(number)
        begin = number * self.trials_per_block
        trials: list[PlannedTrial] = []
        for position, deployment in enumerate(ordered):
            for run in deployment.runs:
                for arm, (pair, levels, aa) in enumerate(self._arms(deployment, run)):
                    trials.append(
                        PlannedTrial(
                            index=begin + len(trials),
                            block=number,
                            deployment=number * len(ordered) + position,
                            levels=levels,
                            aa=aa,
                            pair=pair,
                            side=arm ^ deployment.swapped,
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
            "duet": self.duet,
            "resolution": self.design.resolution,
            "seed": self.seed,
            "cells": [dict(cell) for cell in self.cells],
        }

    def _order(self, number: int) -> list[Deployment]:
        draw = random.Random(f"{self.seed}:{number}")
        outers = draw.sample(self._stood_up, len(self._stood_up))
        return [
            replace(
                outer,
                runs=tuple(draw.sample(outer.runs, len(outer.runs))),
                swapped=self.duet and draw.random() < 0.5,
            )
            for outer in outers
        ]

    @property
    def _stood_up(self) -> tuple[Deployment, ...]:
        """The deployments of a block: in a duet those of what is held against a baseline, which brings its own."""
        return _challengers(self.design, self.deployments) if self.duet else self.deployments

    def _arms(self, deployment: Deployment, run: Run) -> list[tuple[int, Levels, bool]]:
        """Return the pair, levels and ``aa`` of each trial of a run: its own, and in a duet the baseline's."""
        cell = {**deployment.levels, **run.levels}
        if not self.duet:
            return [(IN_TURN, cell, run.aa)]
        return [(run.pair, cell, run.aa), (run.pair, {**cell, self.design.compare: self.design.baseline}, False)]


def make(design: Design, *, seed: int, unavailable: Unavailable, against_duet: str | None = None) -> Plan:
    """Return the plan. ``unavailable`` maps a factor's levels that cannot run on this machine to the reason;
    ``against_duet`` is why a duet cannot be run here, None if it can (see ``trials.duet``).

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
    deployments = _deployments(design, possible)
    if not _challengers(design, deployments):
        against_duet = against_duet or "nothing is there to run beside the baseline"
    return Plan(
        design=design,
        seed=seed,
        deployments=deployments,
        against_duet=against_duet if design.duet else None,
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
    found: dict[str, Deployment] = {}
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
            runs, again = [*runs, *again], []
        name = _name(design, outer)
        standing = found.setdefault(name, Deployment(levels=outer, runs=()))
        other = {factor: level for factor, level in outer.items() if level != standing.levels[factor]}
        of_other = (replace(run, levels={**other, **run.levels}) for run in runs)
        found[name] = replace(standing, runs=(*standing.runs, *of_other))
        if again:
            # The noise of deploying is part of what the A/A arm shows, so it has a deployment of its own.
            found[f"{name} again"] = Deployment(levels=outer, runs=tuple(again))
    return tuple(found.values())


def _name(design: Design, outer: Levels) -> str:
    """Return what names a deployment: levels of one name stand on one."""
    return describe({name: design.factors[name].deployments.get(str(level), level) for name, level in outer.items()})


def _challengers(design: Design, deployments: tuple[Deployment, ...]) -> tuple[Deployment, ...]:
    """Return all but the baseline's first runs, each run with a pair of its own."""
    numbers = itertools.count(IN_TURN + 1)
    numbered = [
        replace(
            deployment,
            runs=tuple(
                replace(run, pair=next(numbers))
                for run in deployment.runs
                if run.aa or {**deployment.levels, **run.levels}[design.compare] != design.baseline
            ),
        )
        for deployment in deployments
    ]
    return tuple(deployment for deployment in numbered if deployment.runs)
