"""A trial: one cell measured once, and what its pods used. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tare.measure.sampler import Sample, Usage
from tare.trials.levels import Levels

if TYPE_CHECKING:
    from tare.measure.host import HostSample
    from tare.stats.histogram import Histogram

# What ``steady_state`` says when the load gives no course of the trial to look at.
NOT_CHECKED = "not checked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What is kept of a trial. ``metrics`` are in base units; one that could not be measured is absent.

    ``aa`` marks the block's second trial of a baseline cell, which only tells how much the machine varies.
    ``pair`` and ``side`` are those of ``PlannedTrial``: of a duet, or 0.
    ``attempt`` counts from 0; ``disturbances`` say why one is not to be trusted, and one that is
    ``set_aside`` was repeated: it is kept and counted, and stands in no figure.
    ``began_at`` is Unix time in seconds, ``seconds`` the whole trial with warm-up. ``late`` requests were sent behind
    the generator's schedule, or never; None where it has none. ``failures`` counts requests by reason. ``histograms``
    and ``latencies_seconds`` are by load. ``steady_state`` says from when on the figures were steady. ``samples`` and
    ``host`` span the whole trial.
    """

    index: int
    block: int
    deployment: int
    levels: Levels
    began_at: float
    seconds: float
    metrics: Mapping[str, float]
    succeeded: int
    failed: int
    client_bound: bool
    failures: Mapping[str, int]
    notes: tuple[str, ...]
    late: int | None = None
    aa: bool = False
    pair: int = 0
    side: int = 0
    attempt: int = 0
    disturbances: tuple[str, ...] = ()
    set_aside: bool = False
    steady_state: str = NOT_CHECKED
    histograms: Mapping[str, Histogram] = field(default_factory=dict)
    latencies_seconds: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    samples: tuple[Sample, ...] = ()
    host: tuple[HostSample, ...] = ()


def resource_metrics(usages: Mapping[str, Usage], *, succeeded: int) -> dict[str, float]:
    """Return what each node type used, in cores and bytes, and CPU seconds per request that succeeded.

    Memory is the mean of the samples. Without a success the CPU time per request has no value and is absent.
    """
    found = {f"cpu_{label}": used.cpu_cores for label, used in usages.items()}
    found |= {f"memory_{label}": used.memory_bytes for label, used in usages.items()}
    if usages:
        found["cpu_total"] = math.fsum(used.cpu_cores for used in usages.values())
    if usages and succeeded:
        of_each = {label: used.cpu_seconds / succeeded for label, used in usages.items()}
        found |= {f"cpu_per_request_{label}": seconds for label, seconds in of_each.items()}
        found["cpu_per_request"] = math.fsum(of_each.values())
    return found
