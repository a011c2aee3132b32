"""Tare: a declarative laboratory that weighs what a layer costs.

What a test needs is imported from here: ``from tare import experiment, Factor``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tare.dsl import ExperimentRun, Factor, Trial, equivalent, experiment, non_inferior, ranking

__version__ = "0.1.0"

__all__ = ["ExperimentRun", "Factor", "Trial", "equivalent", "experiment", "non_inferior", "ranking"]


def __getattr__(name: str) -> Any:
    """Import what tests are written with when it is asked for: the command line starts without it."""
    if name not in __all__:
        raise AttributeError(f"module 'tare' has no attribute {name!r}")
    from tare import dsl

    return getattr(dsl, name)
