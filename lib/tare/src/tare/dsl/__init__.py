"""How an experiment is written in Python: the declaration, and the run of it that a test asks.

``from tare import experiment, Factor`` gives what stands here.
"""

from __future__ import annotations

from tare.dsl.declaration import Declaration, Factor, experiment
from tare.dsl.experiment_run import ExperimentRun
from tare.trials.running import Trial
from tare.verdicts.budget import equivalent, non_inferior, ranking

__all__ = [
    "Declaration",
    "ExperimentRun",
    "Factor",
    "Trial",
    "equivalent",
    "experiment",
    "non_inferior",
    "ranking",
]
