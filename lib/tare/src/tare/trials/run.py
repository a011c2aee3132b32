"""The loop that measures: deploy, configure, load, keep. It knows no service and no load by name."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from tare.errors import TareError
from tare.measure.sampler import Sample, Usage
from tare.progress import Progress
from tare.services import Deployment, Service
from tare.trials.levels import describe
from tare.trials.plan import Plan, PlannedTrial
from tare.trials.running import RunningTrial, TrialFunction
from tare.trials.steady import steadiness
from tare.trials.trial import Trial, resource_metrics
from tare.units import show

if TYPE_CHECKING:
    from tare.loads import Load, LoadResult
    from tare.measure.host import HostSample

# A trial that the machine disturbed is run again this often before its last attempt counts, marked.
REPEATS = 2


class Sampling(Protocol):
    """Samples taken while its context is open; complete once it is closed."""

    @property
    def samples(self) -> Sequence[Sample]: ...

    @property
    def host_samples(self) -> Sequence[HostSample]: ...

    def totals(self, between: tuple[float, float] | None = None) -> Mapping[str, Usage]:
        """Return what each label used between two Unix times (seconds)."""
        ...

    def disturbances(self, between: tuple[float, float]) -> tuple[str, ...]:
        """Return what outside the lab disturbed the machine between two Unix times, a sentence each."""
        ...


class Sampler(Protocol):
    """Starts sampling the cgroups of each label, and the machine."""

    def __call__(self, cgroups: Mapping[str, Sequence[str]]) -> AbstractContextManager[Sampling]: ...


class Keeper(Protocol):
    """Where trials go; each is committed whole or not at all."""

    def plan(self, trials: Sequence[PlannedTrial]) -> None:
        """Write down what is going to be measured."""
        ...

    def attempts(self, index: int) -> int:
        """Return how many attempts at a trial are kept, all set aside: the number of the next one."""
        ...

    def begin(self, index: int, attempt: int) -> None: ...

    def directory(self, index: int, attempt: int) -> Path:
        """Return the folder for the load generators' own files of a trial."""
        ...

    def commit(self, trial: Trial) -> None: ...

    def finished(self) -> frozenset[int]:
        """Return the indices of the trials that need no measuring any more."""
        ...


Clock = Callable[[], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """All that a plan needs to be measured. ``units`` are the base units of the metrics by name; ``clock`` gives Unix
    time in seconds."""

    service: Service[Any]
    loads: Mapping[str, Load[Any]]
    default_load: str
    function: TrialFunction
    units: Mapping[str, str]
    sampler: Sampler
    keeper: Keeper
    progress: Progress
    clock: Clock = time.time


def measure_block(plan: Plan, number: int, bench: Bench) -> None:
    """Measure the trials of one block that are not finished, and commit each as it ends.

    A fault of the machine, the service or a generator is raised as TareError; what was committed stays.
    """
    block = plan.block(number)
    bench.keeper.plan(block)
    left = [trial for trial in block if trial.index not in bench.keeper.finished()]
    if not left:
        return
    with bench.progress.phase(f"block {number + 1} of {_blocks(plan)}"):
        for _, of_deployment in itertools.groupby(left, key=lambda trial: trial.deployment):
            _measure_deployment(plan, list(of_deployment), bench)


def _blocks(plan: Plan) -> str:
    blocks = plan.design.blocks
    return f"{blocks.most}" if blocks.least == blocks.most else f"{blocks.least} to {blocks.most}"


def _measure_deployment(plan: Plan, trials: Sequence[PlannedTrial], bench: Bench) -> None:
    """Deploy once, measure the cells that need nothing but this deployment, and take it away again."""
    outer = {name: level for name, level in trials[0].levels.items() if plan.design.factors[name].scope == "deployment"}
    arm = " (A/A)" if all(trial.aa for trial in trials) else ""
    with bench.progress.phase(f"deploy {describe(outer)}{arm}"):
        deployment = bench.service.deploy(outer)
    try:
        for planned in trials:
            _measure_trial(plan, planned, outer, deployment, bench)
    finally:
        with bench.progress.phase(f"remove {describe(outer)}{arm}"):
            deployment.close()


def _measure_trial(
    plan: Plan, planned: PlannedTrial, outer: Mapping[str, object], deployment: Deployment, bench: Bench
) -> None:
    """Measure a cell until an attempt is undisturbed, or the last attempt has to do."""
    inner = {name: level for name, level in planned.levels.items() if name not in outer}
    place = f"trial {planned.index % plan.trials_per_block + 1} of {plan.trials_per_block}"
    for attempt in range(bench.keeper.attempts(planned.index), 1 + REPEATS):
        again = f", attempt {attempt + 1}" if attempt else ""
        with bench.progress.phase(f"{place}: {describe(inner)}{' (A/A)' if planned.aa else ''}{again}"):
            bench.service.configure(deployment, planned.levels)
            bench.keeper.begin(planned.index, attempt)
            trial = _measure_once(plan, planned, attempt, deployment, bench)
            bench.keeper.commit(trial)
            bench.progress.note(summary(trial, bench.units))
            for disturbance in trial.disturbances:
                bench.progress.note(
                    f"{'set aside, and repeated' if trial.set_aside else 'kept, marked'}: {disturbance}"
                )
        if not trial.set_aside:
            return


def _measure_once(plan: Plan, planned: PlannedTrial, attempt: int, deployment: Deployment, bench: Bench) -> Trial:
    running = RunningTrial(
        levels=planned.levels,
        deployment=deployment,
        loads=bench.loads,
        default_load=bench.default_load,
        units=bench.units,
        warmup_seconds=plan.design.warmup_seconds,
        duration_seconds=plan.design.duration_seconds,
        directory=bench.keeper.directory(planned.index, attempt),
    )
    began_at = bench.clock()
    with bench.sampler(deployment.node_types()) as sampling:
        bench.function(running)
    ended_at = bench.clock()
    running.require_measured()
    results = running.results
    spans = [(result.began_at, result.ended_at) for result in results] or [(began_at, ended_at)]
    disturbances = tuple(dict.fromkeys(sentence for span in spans for sentence in sampling.disturbances(span)))
    return Trial(
        index=planned.index,
        block=planned.block,
        deployment=planned.deployment,
        levels=planned.levels,
        aa=planned.aa,
        attempt=attempt,
        began_at=began_at,
        seconds=ended_at - began_at,
        metrics=_metrics(running, sampling),
        succeeded=sum(result.succeeded for result in results),
        failed=sum(result.failed for result in results),
        client_bound=any(result.client_bound for result in results),
        failures=_failures(results),
        notes=tuple(note for result in results for note in result.notes),
        disturbances=disturbances,
        set_aside=bool(disturbances) and attempt < REPEATS,
        steady_state="; ".join(steadiness(result) for result in results),
        histograms={result.load: result.latency for result in results if result.latency is not None},
        latencies_seconds={result.load: result.latencies_seconds for result in results if result.latencies_seconds},
        samples=tuple(sampling.samples),
        host=tuple(sampling.host_samples),
    )


def _metrics(running: RunningTrial, sampling: Sampling) -> dict[str, float]:
    """What the pods used counts over the first load: it is the one that the service is measured with."""
    if not running.results:
        return running.metrics
    first = running.results[0]
    usages = sampling.totals((first.began_at, first.ended_at))
    of_pods = resource_metrics(usages, succeeded=first.succeeded)
    twice = sorted(of_pods.keys() & running.metrics.keys())
    if twice:
        raise TareError(f"{', '.join(twice)}: named by a node type and by a load alike; rename the one in the lab")
    return of_pods | running.metrics


def _failures(results: Sequence[LoadResult]) -> dict[str, int]:
    found: dict[str, int] = {}
    for result in results:
        for reason, count in result.failures.items():
            found[reason] = found.get(reason, 0) + count
    return found


# What the progress tells of a trial, where the lab has it.
_TOLD = ("goodput", "throughput", "latency_p50")


def summary(trial: Trial, units: Mapping[str, str]) -> str:
    """Return a trial in one line, for the progress."""

    parts = [
        f"{name} {show(trial.metrics[name], units[name])}" for name in _TOLD if name in trial.metrics and name in units
    ]
    if trial.failed:
        parts.append(f"{trial.failed} of {trial.succeeded + trial.failed} failed")
    if trial.client_bound:
        parts.append("client-bound")
    return ", ".join(parts) or ", ".join(f"{name} {value:.4g}" for name, value in sorted(trial.metrics.items())[:3])
