"""The loop, with a service and a load that only remember what they were asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

from tare.errors import TareError, UsageError
from tare.loads import LoadResult, Loop
from tare.manifest import Factor
from tare.measure.host import HostSample
from tare.measure.sampler import Sample, Usage
from tare.progress import Reporter
from tare.stats.histogram import Histogram
from tare.trials.design import Blocks, Design
from tare.trials.levels import Levels, describe
from tare.trials.plan import Plan, PlannedTrial, make
from tare.trials.run import REPEATS, Bench, Side, measure_block
from tare.trials.running import RunningTrial, TrialFunction
from tare.trials.running import Trial as AnyTrial
from tare.trials.trial import Trial

UNITS = {"goodput": "tx/s", "latency_p50": "s", "energy": "s"}


@dataclass
class Deployed:
    journal: list[str]
    name: str

    def node_types(self) -> Mapping[str, Sequence[str]]:
        return {"peer": ["pods/peer"]}

    def close(self) -> None:
        self.journal.append(f"close {self.name}")


@dataclass
class Remembering:
    """A service and a load in one."""

    journal: list[str] = field(default_factory=list)
    breaks_at: int | None = None
    loads: int = 0
    late: int | None = 3
    name: str = "caliper"
    loop: Loop = "open"
    option_names: frozenset[str] = frozenset({"send_rate"})
    stands_against: str | None = None

    def stop(self) -> None: ...

    def obstacle(self, deployment: Deployed) -> str | None:
        return self.stands_against

    def deploy(self, levels: Levels) -> Deployed:
        self.journal.append(f"deploy {describe(levels)}")
        return Deployed(self.journal, describe(levels))

    def configure(self, deployment: Deployed, levels: Levels) -> None:
        self.journal.append(f"configure {describe(levels)}")

    def options(self, given: Mapping[str, object]) -> Mapping[str, object]:
        return dict(given)

    def run(
        self,
        deployment: Deployed,
        *,
        options: Mapping[str, object],
        warmup_seconds: float,
        duration_seconds: float,
        directory: Path,
    ) -> LoadResult:
        self.loads += 1
        if self.loads == self.breaks_at:
            raise TareError("the generator could not start")
        self.journal.append(f"load {options['send_rate']} {warmup_seconds:g} {duration_seconds:g}")
        return LoadResult(
            load=self.name,
            loop=self.loop,
            offered_rate=float(str(options["send_rate"])),
            metrics={"goodput": float(str(options["send_rate"])), "latency_p50": 0.1},
            succeeded=10,
            failed=1,
            late=self.late,
            began_at=0.0,
            ended_at=duration_seconds,
            latency=Histogram.of([0.1] * 10),
            failures={"timeout": 1},
            generator_cpu_cores=0.1,
            client_bound=False,
            latencies_seconds=(0.1,) * 10,
            completed_per_second=(5,) * 12,
        )


@dataclass
class Sampling:
    """Samples of nothing; ``disturbed`` trials in all are said to be disturbed."""

    disturbed: int = 0
    samples: Sequence[Sample] = ()
    host_samples: Sequence[HostSample] = ()
    absent: Sequence[str] = ("CPU frequency",)

    def __call__(self, cgroups: Mapping[str, Sequence[str]]) -> Sampling:
        return self

    def __enter__(self) -> Sampling:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def totals(self, between: tuple[float, float] | None = None) -> Mapping[str, Usage]:
        return {
            "peer": Usage(
                seconds=2.0, cpu_seconds=1.0, throttled_seconds=0.0, memory_bytes=1 << 20, memory_peak_bytes=1 << 20
            )
        }

    def disturbances(self, between: tuple[float, float]) -> tuple[str, ...]:
        self.disturbed -= 1
        return ("others used 30 % of the CPUs",) if self.disturbed >= 0 else ()


@dataclass
class Kept:
    folder: Path
    trials: list[Trial] = field(default_factory=list)
    planned: list[PlannedTrial] = field(default_factory=list)
    begun: list[tuple[int, int]] = field(default_factory=list)
    done: frozenset[int] = frozenset()
    absent: list[str] = field(default_factory=list)

    def plan(self, trials: Sequence[PlannedTrial]) -> None:
        self.planned.extend(trials)

    def attempts(self, index: int) -> int:
        return sum(trial.index == index for trial in self.trials)

    def begin(self, index: int, attempt: int) -> None:
        self.begun.append((index, attempt))

    def directory(self, index: int, attempt: int) -> Path:
        return self.folder

    def commit(self, *trials: Trial) -> None:
        self.trials.extend(trials)

    def lacks(self, sources: Sequence[str]) -> None:
        self.absent.extend(sources)

    def finished(self) -> frozenset[int]:
        return self.done | {trial.index for trial in self.trials if not trial.set_aside}


def plan(blocks: int = 2, *, aa: bool = False) -> Plan:
    factors = {
        "runtime": Factor(levels=("runc", "gvisor"), scope="deployment", unit=None, description="d"),
        "send_rate": Factor(levels=(25.0, 50.0), scope="run", unit="tx/s", description="d"),
    }
    design = Design(
        compare="runtime",
        baseline="runc",
        factors=factors,
        blocks=Blocks(least=blocks, most=blocks),
        warmup_seconds=1.0,
        duration_seconds=2.0,
        aa=aa,
    )
    return make(design, seed=3, unavailable={})


def of_lab(trial: AnyTrial) -> None:
    trial.load()


def measure(
    made: Plan,
    what: Remembering,
    kept: Kept,
    *,
    function: TrialFunction = of_lab,
    sampling: Sampling | None = None,
) -> None:
    bench = Bench(
        sides=[Side(service=what, loads={"caliper": what})],
        own_loads=["caliper"],
        function=function,
        units=UNITS,
        sampler=sampling or Sampling(),
        keeper=kept,
        progress=Reporter(),
    )
    for number in range(made.design.blocks.most):
        measure_block(made, number, bench)


def test_each_deployment_is_made_and_closed_once_a_block(tmp_path: Path) -> None:
    what, kept = Remembering(), Kept(tmp_path)
    measure(plan(), what, kept)
    kinds = [entry.split()[0] for entry in what.journal]
    assert kinds == ["deploy", "configure", "load", "configure", "load", "close"] * 4
    assert [trial.index for trial in kept.trials] == [trial.index for trial in kept.planned] == list(range(8))
    assert {trial.block for trial in kept.trials} == {0, 1}


def test_a_trial_keeps_what_its_load_and_its_pods_told(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    measure(plan(), Remembering(), kept)
    trial = kept.trials[0]
    assert trial.metrics["goodput"] == trial.levels["send_rate"]
    assert (trial.metrics["memory_peer"], trial.metrics["cpu_per_request"]) == (1 << 20, 0.1)
    assert (trial.succeeded, trial.failed, trial.late, trial.failures) == (10, 1, 3, {"timeout": 1})
    assert trial.steady_state == "caliper: steady from second 0"
    assert trial.histograms["caliper"].count == len(trial.latencies_seconds["caliper"]) == 10


def test_a_generator_without_a_schedule_is_never_late(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    measure(plan(blocks=1), Remembering(late=None), kept)
    assert {trial.late for trial in kept.trials} == {None}


def test_what_the_machine_does_not_tell_is_written_down(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    measure(plan(blocks=1), Remembering(), kept)
    assert set(kept.absent) == {"CPU frequency"}


def test_the_aa_arm_is_measured_and_marked(tmp_path: Path) -> None:
    what, kept = Remembering(), Kept(tmp_path)
    measure(plan(aa=True), what, kept)
    assert sum(trial.aa for trial in kept.trials) == 4
    assert sum(entry.startswith("deploy runtime=runc") for entry in what.journal) == 4


def test_a_fault_is_raised_with_the_deployment_closed_and_what_was_committed_kept(tmp_path: Path) -> None:
    what, kept = Remembering(breaks_at=4), Kept(tmp_path)
    with pytest.raises(TareError, match="the generator could not start"):
        measure(plan(), what, kept)
    assert len(kept.trials) == 3
    assert what.journal[-1].startswith("close ")


def test_finished_trials_are_not_measured_again(tmp_path: Path) -> None:
    what, kept = Remembering(), Kept(tmp_path, done=frozenset([0, 1, 2, 5]))
    measure(plan(), what, kept)
    assert [trial.index for trial in kept.trials] == [3, 4, 6, 7]
    assert sum(entry.startswith("deploy") for entry in what.journal) == 3


def test_a_disturbed_trial_is_repeated_and_both_are_kept(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    measure(plan(blocks=1), Remembering(), kept, sampling=Sampling(disturbed=1))
    assert [(trial.index, trial.attempt, trial.set_aside) for trial in kept.trials] == [
        (0, 0, True),
        (0, 1, False),
        (1, 0, False),
        (2, 0, False),
        (3, 0, False),
    ]
    assert kept.trials[0].disturbances == ("others used 30 % of the CPUs",)
    assert kept.begun[:2] == [(0, 0), (0, 1)]


def test_the_last_attempt_counts_and_is_marked(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    measure(plan(blocks=1), Remembering(), kept, sampling=Sampling(disturbed=1 + REPEATS))
    last = kept.trials[REPEATS]
    assert (last.index, last.attempt, last.set_aside, len(last.disturbances)) == (0, REPEATS, False, 1)


def test_a_run_that_broke_off_after_an_attempt_goes_on_with_the_next(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    with pytest.raises(TareError, match="the generator could not start"):
        measure(plan(blocks=1), Remembering(breaks_at=2), kept, sampling=Sampling(disturbed=1))
    assert [(trial.index, trial.attempt) for trial in kept.trials] == [(0, 0)]
    measure(plan(blocks=1), Remembering(), kept)
    assert [(trial.index, trial.attempt) for trial in kept.trials[:3]] == [(0, 0), (0, 1), (1, 0)]


def test_options_come_from_factors_and_the_call_with_times_in_their_units(tmp_path: Path) -> None:
    def function(trial: AnyTrial) -> None:
        trial.load("caliper", send_rate=trial.levels["send_rate"] * 2, duration="500 ms", warmup="0 s")
        trial.record("energy", "3 ms")

    what, kept = Remembering(), Kept(tmp_path)
    measure(plan(blocks=1), what, kept, function=function)
    assert {entry for entry in what.journal if entry.startswith("load")} == {"load 50.0 0 0.5", "load 100.0 0 0.5"}
    assert kept.trials[0].metrics["energy"] == 0.003


class Counting(Remembering):
    """Another load, which measures something else."""

    def run(self, deployment: Deployed, **how: Any) -> LoadResult:
        return replace(super().run(deployment, **how), metrics={"energy": 1.0})


def running(directory: Path, **loads: Remembering) -> RunningTrial:
    return RunningTrial(
        levels={"send_rate": 25.0},
        deployment=Deployed([], ""),
        loads=loads,
        own_loads=list(loads),
        units=UNITS,
        warmup_seconds=1.0,
        duration_seconds=2.0,
        directory=directory,
    )


def test_a_trial_runs_the_labs_own_loads_in_their_order(tmp_path: Path) -> None:
    trial = running(tmp_path, wrk=Remembering(name="wrk"), vegeta=Counting(name="vegeta"))
    assert trial.loads() == tuple(trial.results)
    assert [result.load for result in trial.results] == ["wrk", "vegeta"]
    assert trial.metrics == {"goodput": 25.0, "latency_p50": 0.1, "energy": 1.0}


def test_a_load_that_cannot_drive_a_deployment_is_left_out_and_refused_by_name(tmp_path: Path) -> None:
    trial = running(tmp_path, wrk=Remembering(name="wrk"), tcp_rr=Counting(name="tcp_rr", stands_against="no bytes"))
    assert [result.load for result in trial.loads()] == ["wrk"]
    with pytest.raises(UsageError, match=r"trial.load\('tcp_rr'\): no bytes"):
        trial.load("tcp_rr")


def test_one_of_several_loads_is_named(tmp_path: Path) -> None:
    trial = running(tmp_path, wrk=Remembering(name="wrk"), vegeta=Counting(name="vegeta"))
    with pytest.raises(UsageError, match=r"the lab has several loads \(wrk, vegeta\); name one, or call trial.loads"):
        trial.load()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda trial: trial.load("wrk"), r"trial.load\('wrk'\): the lab declares no such load; it has: caliper"),
        (lambda trial: trial.load(duration=5), r"trial.load\(duration=...\): 5 has no unit, .* Write '0.5 ms'"),
        (lambda trial: (trial.load(), trial.load()), r"trial.load\('caliper'\): ran in this trial already"),
        (lambda trial: trial["speed"], r"trial\['speed'\]: no such factor; the experiment has: runtime, send_rate"),
        (
            lambda trial: trial.record("heat", 1),
            r"trial.record\('heat'\): the lab's experiment declares no such metric",
        ),
        (lambda trial: (trial.load(), trial.record("goodput", "1 tx/s")), "goodput was measured already"),
        (lambda trial: None, "the trial function measured nothing at runtime="),
    ],
)
def test_a_mistake_in_a_trial_function_is_told(call: TrialFunction, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        measure(plan(), Remembering(), Kept(tmp_path), function=call)
