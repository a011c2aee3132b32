"""The loop that measures: deploy, configure, load, keep. It knows no service and no load by name."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from tare.errors import UsageError
from tare.loads import Load
from tare.measure.sampler import Sample, Usage
from tare.progress import Progress
from tare.services import DeploymentT, Service
from tare.trials.levels import describe, show
from tare.trials.plan import Plan, PlannedTrial
from tare.trials.trial import Trial, metrics


class Sampling(Protocol):
    """Samples taken while its context is open; complete once it is closed."""

    @property
    def samples(self) -> Sequence[Sample]: ...

    def totals(self, between: tuple[float, float]) -> Mapping[str, Usage]:
        """Return what each label used between two Unix times (seconds)."""
        ...


class Sampler(Protocol):
    """Starts sampling the cgroups of each label."""

    def __call__(self, cgroups: Mapping[str, Sequence[str]]) -> AbstractContextManager[Sampling]: ...


class Keeper(Protocol):
    """Where finished trials go; each is committed whole or not at all."""

    def directory(self, index: int) -> Path:
        """Return the folder for the load generator's own files of a trial."""
        ...

    def commit(self, trial: Trial) -> None: ...


Clock = Callable[[], float]

# The run factor whose level, in requests per second, is what the load offers.
RATE_FACTOR = "send_rate"


def run(
    plan: Plan,
    *,
    service: Service[DeploymentT],
    load: Load[DeploymentT],
    sampler: Sampler,
    keeper: Keeper,
    progress: Progress,
    finished: Iterable[int] = (),
    clock: Clock = time.time,
) -> None:
    """Measure every trial of the plan that is not among ``finished`` (indices), and commit each as it ends.

    A fault of the machine, the service or the generator is raised as TareError; what was committed stays.
    ``clock`` gives Unix time in seconds. Raises UsageError when the experiment has no factor ``send_rate``.
    """
    if RATE_FACTOR not in plan.design.factors:
        raise UsageError(f"the experiment has no factor {RATE_FACTOR!r}, which says how many requests a second to send")
    done = frozenset(finished)
    left = [trial for trial in plan.trials() if trial.index not in done]
    for block, of_block in itertools.groupby(left, key=lambda trial: trial.block):
        with progress.phase(f"block {block + 1} of {plan.design.blocks}"):
            for _, of_deployment in itertools.groupby(of_block, key=lambda trial: trial.deployment):
                trials = list(of_deployment)
                _measure_deployment(plan, trials, service, load, sampler, keeper, progress, clock)


def _measure_deployment(
    plan: Plan,
    trials: Sequence[PlannedTrial],
    service: Service[DeploymentT],
    load: Load[DeploymentT],
    sampler: Sampler,
    keeper: Keeper,
    progress: Progress,
    clock: Clock,
) -> None:
    """Deploy once, measure the cells that need nothing but this deployment, and take it away again."""
    outer = {name: level for name, level in trials[0].levels.items() if plan.design.factors[name].scope == "deployment"}
    with progress.phase(f"deploy {describe(outer)}"):
        deployment = service.deploy(outer)
    try:
        for planned in trials:
            inner = {name: level for name, level in planned.levels.items() if name not in outer}
            with progress.phase(f"trial {planned.index + 1} of {len(plan)}: {describe(inner)}"):
                service.configure(deployment, planned.levels)
                trial = _measure_cell(plan, planned, deployment, load, sampler, keeper.directory(planned.index), clock)
                keeper.commit(trial)
                progress.note(summary(trial))
    finally:
        with progress.phase(f"remove {describe(outer)}"):
            deployment.close()


def _measure_cell(
    plan: Plan,
    planned: PlannedTrial,
    deployment: DeploymentT,
    load: Load[DeploymentT],
    sampler: Sampler,
    directory: Path,
    clock: Clock,
) -> Trial:
    began_at = clock()
    with sampler(deployment.node_types()) as sampling:
        result = load.run(
            deployment,
            rate=float(planned.levels[RATE_FACTOR]),
            warmup_seconds=plan.design.warmup_seconds,
            duration_seconds=plan.design.duration_seconds,
            directory=directory,
        )
    return Trial(
        index=planned.index,
        block=planned.block,
        deployment=planned.deployment,
        levels=planned.levels,
        began_at=began_at,
        seconds=clock() - began_at,
        metrics=metrics(result, sampling.totals((result.began_at, result.ended_at))),
        succeeded=result.succeeded,
        failed=result.failed,
        client_bound=result.client_bound,
        failures=result.failures,
        notes=result.notes,
        latencies_seconds=result.latencies_seconds,
        samples=tuple(sampling.samples),
    )


def summary(trial: Trial) -> str:
    """Return a trial in one line, for the progress."""
    parts = []
    if "goodput" in trial.metrics:
        parts.append(f"{trial.metrics['goodput']:.4g} tx/s")
    if "latency_p50" in trial.metrics:
        parts.append(f"p50 {show(round(trial.metrics['latency_p50'] * 1000, 1))} ms")
    if trial.failed:
        parts.append(f"{trial.failed} of {trial.succeeded + trial.failed} failed")
    if trial.client_bound:
        parts.append("client-bound")
    return ", ".join(parts) or "nothing measured"
