"""The loop that measures: deploy, configure, load, keep. It knows no service and no load by name."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from tare.errors import TareError
from tare.measure.sampler import Sample, Usage
from tare.progress import Progress
from tare.services import Deployment, Service
from tare.trials import duet
from tare.trials.levels import Levels, describe
from tare.trials.plan import IN_TURN, Plan, PlannedTrial
from tare.trials.running import RunningTrial, TrialFunction
from tare.trials.steady import steadiness
from tare.trials.together import Start, at_once
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

    @property
    def absent(self) -> Sequence[str]:
        """What this machine does not tell, a phrase each."""
        ...

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

    def commit(self, *trials: Trial) -> None:
        """Keep attempts at trials that belong together, all or none."""
        ...

    def lacks(self, sources: Sequence[str]) -> None:
        """Write down, once for the run, what the machine does not tell."""
        ...

    def finished(self) -> frozenset[int]:
        """Return the indices of the trials that need no measuring any more."""
        ...


Clock = Callable[[], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A place in the lab for the service and its loads."""

    service: Service[Any]
    loads: Mapping[str, Load[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """All that a plan needs to be measured. ``sides`` is one, or two for a duet. ``units`` are the base units of the
    metrics by name; ``clock`` gives Unix time in seconds."""

    sides: Sequence[Side]
    own_loads: Sequence[str]
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
    """Deploy once on each side, measure the cells that need nothing but this, and take it away again."""
    with ExitStack() as standing:
        deployments: dict[int, Deployment] = {}
        for side in sorted({trial.side for trial in trials}):
            of_side = [trial for trial in trials if trial.side == side]
            arm = f"{' (A/A)' if all(trial.aa for trial in of_side) else ''}{_on_side(of_side[0])}"
            what = f"{describe(_outer(plan, of_side[0]))}{arm}"
            with bench.progress.phase(f"deploy {what}"):
                deployments[side] = bench.sides[side].service.deploy(_outer(plan, of_side[0]))
            standing.callback(_remove, deployments[side], what, bench)
        # The trials of a pair stand side by side, and start at the same moment; all others are alone.
        for _, together in itertools.groupby(trials, key=lambda t: (t.pair, t.index if t.pair == IN_TURN else None)):
            _measure_trials(plan, list(together), deployments, bench)


def _remove(deployment: Deployment, what: str, bench: Bench) -> None:
    with bench.progress.phase(f"remove {what}"):
        deployment.close()


def _outer(plan: Plan, trial: PlannedTrial) -> Levels:
    """What is deployed for a trial, and not set on what runs."""
    return {name: level for name, level in trial.levels.items() if plan.design.factors[name].scope == "deployment"}


def _on_side(trial: PlannedTrial) -> str:
    return "" if trial.pair == IN_TURN else f" (side {trial.side + 1})"


def _measure_trials(
    plan: Plan, together: Sequence[PlannedTrial], deployments: Mapping[int, Deployment], bench: Bench
) -> None:
    """Measure a cell, or the two of a pair, until an attempt is undisturbed, or the last attempt has to do."""
    what = " beside ".join(_describe(plan, trial) for trial in together)
    numbers = " and ".join(str(trial.index % plan.trials_per_block + 1) for trial in together)
    place = f"trial {numbers} of {plan.trials_per_block}"
    for attempt in range(max(bench.keeper.attempts(trial.index) for trial in together), 1 + REPEATS):
        again = f", attempt {attempt + 1}" if attempt else ""
        with bench.progress.phase(f"{place}: {what}{again}"):
            for planned in together:
                bench.sides[planned.side].service.configure(deployments[planned.side], planned.levels)
                bench.keeper.begin(planned.index, attempt)
            trials = _measure_once(plan, together, attempt, deployments, bench)
            bench.keeper.commit(*trials)
            for trial in trials:
                bench.progress.note(summary(trial, bench.units))
            for disturbance in trials[0].disturbances:
                bench.progress.note(
                    f"{'set aside, and repeated' if trials[0].set_aside else 'kept, marked'}: {disturbance}"
                )
        if not trials[0].set_aside:
            return


def _describe(plan: Plan, trial: PlannedTrial) -> str:
    """The levels that tell a trial from the others of its deployment; of a pair all, for they tell the two apart."""
    shared = {name for name, factor in plan.design.factors.items() if factor.deployments}
    outer = set() if trial.pair != IN_TURN else _outer(plan, trial).keys() - shared
    inner = {name: level for name, level in trial.levels.items() if name not in outer}
    return f"{describe(inner)}{' (A/A)' if trial.aa else ''}{_on_side(trial)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Measured:
    """What came of a trial function: the trial that ran, what was sampled meanwhile, and when (Unix seconds)."""

    running: RunningTrial
    sampling: Sampling
    began_at: float
    ended_at: float

    @property
    def spans(self) -> list[tuple[float, float]]:
        """The rounds that were measured."""
        return [(r.began_at, r.ended_at) for r in self.running.results] or [(self.began_at, self.ended_at)]


def _measure_once(
    plan: Plan,
    together: Sequence[PlannedTrial],
    attempt: int,
    deployments: Mapping[int, Deployment],
    bench: Bench,
) -> list[Trial]:
    """Measure one trial, or two at the same moment; what disturbs one of two is told of both."""
    start = Start(len(together))

    def measuring(planned: PlannedTrial) -> Callable[[], _Measured]:
        deployment = deployments[planned.side]
        running = RunningTrial(
            levels=planned.levels,
            deployment=deployment,
            loads=bench.sides[planned.side].loads,
            own_loads=bench.own_loads,
            units=bench.units,
            warmup_seconds=plan.design.warmup_seconds,
            duration_seconds=plan.design.duration_seconds,
            directory=bench.keeper.directory(planned.index, attempt),
            start=start.together,
        )

        def measure() -> _Measured:
            began_at = bench.clock()
            try:
                with bench.sampler(deployment.node_types()) as sampling:
                    bench.function(running)
            finally:
                start.leave()
            return _Measured(running=running, sampling=sampling, began_at=began_at, ended_at=bench.clock())

        return measure

    def stop() -> None:
        start.leave()
        for planned in together:
            for load in bench.sides[planned.side].loads.values():
                load.stop()

    work = [measuring(planned) for planned in together]
    found = [work[0]()] if len(work) == 1 else at_once(work, stop=stop)
    for measured in found:
        measured.running.require_measured()
        bench.keeper.lacks(measured.sampling.absent)
    told = [sentence for each in found for span in each.spans for sentence in each.sampling.disturbances(span)]
    if len(found) == 2:
        told += [s for spans in zip(found[0].spans, found[1].spans, strict=False) for s in duet.apart(spans)]
    disturbances = tuple(dict.fromkeys(told))
    return [_trial(planned, attempt, measured, disturbances) for planned, measured in zip(together, found, strict=True)]


def _trial(planned: PlannedTrial, attempt: int, measured: _Measured, disturbances: tuple[str, ...]) -> Trial:
    results, sampling = measured.running.results, measured.sampling
    return Trial(
        index=planned.index,
        block=planned.block,
        deployment=planned.deployment,
        levels=planned.levels,
        aa=planned.aa,
        pair=planned.pair,
        side=planned.side,
        attempt=attempt,
        began_at=measured.began_at,
        seconds=measured.ended_at - measured.began_at,
        metrics=_metrics(measured.running, sampling),
        succeeded=sum(result.succeeded for result in results),
        failed=sum(result.failed for result in results),
        late=_late(results),
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


def _late(results: Sequence[LoadResult]) -> int | None:
    told = [result.late for result in results if result.late is not None]
    return sum(told) if told else None


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
