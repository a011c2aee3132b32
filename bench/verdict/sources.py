"""Noise to judge verdicts on: made by formula, or recorded on a real machine. An experiment a row, a slot a column."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from tare.stats.simulation import NOISES, Array

TRACES = Path(__file__).parent / "traces"
DEVIATION = 0.02
"""Simulated noise moves a slot by about 2 %."""

SIMULATED = (
    "normal",
    "log-normal",
    "contaminated",
    "two modes",
    "AR(1) 0.9",
    "random walk",
    "step",
    "drift, 0.1 a slot",
    "periodic, 7.3 slots",
)
RECORDED = ("cpu", "tcp", "memory", "processes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    kind: Literal["simulated", "recorded"]
    name: str

    def seconds(self, rng: np.random.Generator, *, rows: int, slots: int) -> Array:
        """Return how long the baseline's work takes in each slot; made noise has slots of about a second.

        A row of a recorded trace is a window of it that begins anywhere, so rows overlap.
        """
        if self.kind == "simulated":
            made: Array = np.exp(DEVIATION * NOISES[self.name](rng, rows, slots))
            return made
        trace = recorded(self.name)
        begin = rng.integers(0, len(trace) - slots + 1, size=(rows, 1))
        windows: Array = trace[begin + np.arange(slots)]
        return windows


def sources() -> tuple[Source, ...]:
    return (
        *(Source(kind="simulated", name=name) for name in SIMULATED),
        *(Source(kind="recorded", name=name) for name in RECORDED),
    )


def recorded(name: str) -> Array:
    """Return the seconds of the slots of traces/NAME.csv."""
    with (TRACES / f"{name}.csv").open(newline="") as stream:
        return np.array([float(row["seconds"]) for row in csv.DictReader(stream)])
