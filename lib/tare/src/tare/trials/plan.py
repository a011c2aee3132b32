"""Which cells are measured, in which order, and which are not run and why. Pure.

A block is a complete replicate: every cell once. Within a block the combinations of deployment
factors come in random order, each deployed once, and within each the combinations of run factors
come in random order. A block is a function of the seed and its number alone, so that more blocks
can be drawn, or a broken-off run taken up again, without changing what was drawn before.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tare.errors import TareError
from tare.manifest import Level
from tare.trials.design import Design
from tare.trials.levels import Levels, describe, normal, show

Unavailable = Mapping[str, Mapping[Level, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTrial:
    """One cell in one block. ``index`` counts trials through the whole plan, ``deployment`` deployments; from 0."""

    index: int
    block: int
    deployment: int
    levels: Levels


@dataclass(frozen=True, slots=True, kw_only=True)
class NotRun:
    """A level that cannot run here, the reason, and how many cells of a block it leaves out."""

    factor: str
    level: Level
    reason: str
    cells: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """``deployments`` and ``runs`` are the combinations of levels whose product is the cells of a block."""

    design: Design
    seed: int
    deployments: tuple[Levels, ...]
    runs: tuple[Levels, ...]
    not_run: tuple[NotRun, ...]

    @property
    def cells(self) -> tuple[Levels, ...]:
        """Every cell that is run, in the order of declaration."""
        return tuple({**outer, **inner} for outer in self.deployments for inner in self.runs)

    def block(self, number: int) -> tuple[PlannedTrial, ...]:
        """Return the trials of block ``number`` (from 0), in the order in which they are run."""
        draw = random.Random(f"{self.seed}:{number}")
        outers = draw.sample(self.deployments, len(self.deployments))
        first_trial = number * len(self.deployments) * len(self.runs)
        first_deployment = number * len(self.deployments)
        trials: list[PlannedTrial] = []
        for position, outer in enumerate(outers):
            for inner in draw.sample(self.runs, len(self.runs)):
                trials.append(
                    PlannedTrial(
                        index=first_trial + len(trials),
                        block=number,
                        deployment=first_deployment + position,
                        levels={**outer, **inner},
                    )
                )
        return tuple(trials)

    def trials(self) -> Iterator[PlannedTrial]:
        """Yield the trials of every block of the design, in order."""
        for number in range(self.design.blocks):
            yield from self.block(number)

    def __len__(self) -> int:
        return self.design.blocks * len(self.deployments) * len(self.runs)

    def as_record(self) -> dict[str, object]:
        """Return the plan as JSON-able values: what must be the same for two runs to be one run."""
        return {
            "compare": self.design.compare,
            "baseline": self.design.baseline,
            "factors": {
                name: {"levels": list(factor.levels), "scope": factor.scope, "unit": factor.unit}
                for name, factor in self.design.factors.items()
            },
            "blocks": self.design.blocks,
            "warmup_seconds": self.design.warmup_seconds,
            "duration_seconds": self.design.duration_seconds,
            "trials": [
                {"index": trial.index, "block": trial.block, "deployment": trial.deployment, "levels": trial.levels}
                for trial in self.trials()
            ],
        }


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
        deployments=_combinations(design, possible, "deployment"),
        runs=_combinations(design, possible, "run"),
        not_run=tuple(
            NotRun(factor=name, level=level, reason=reason, cells=all_cells // len(design.factors[name].levels))
            for name, level, reason in lost
        ),
    )


def _combinations(design: Design, possible: Mapping[str, tuple[Level, ...]], scope: str) -> tuple[Levels, ...]:
    names = [name for name, factor in design.factors.items() if factor.scope == scope]
    return tuple(
        dict(zip(names, levels, strict=True)) for levels in itertools.product(*(possible[name] for name in names))
    )
