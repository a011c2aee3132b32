"""Two trials at once: that they overlap, that the end of one ends the other, and that both are kept or none."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tare.errors import TareError
from tare.loads import LoadResult, Loop
from tare.manifest import Factor
from tare.measure.host import HostSample
from tare.measure.sampler import Sample, Usage
from tare.progress import Reporter
from tare.trials.design import Blocks, Design
from tare.trials.levels import Levels, describe
from tare.trials.plan import Plan, PlannedTrial, make
from tare.trials.run import REPEATS, Bench, Side, measure_block
from tare.trials.running import Trial as RunningTrial
from tare.trials.running import TrialFunction
from tare.trials.together import Parted, Start, at_once
from tare.trials.trial import Trial

ROUND_SECONDS = 0.4


@dataclass
class Deployed:
    name: str
    journal: list[str]

    def node_types(self) -> Mapping[str, Sequence[str]]:
        return {}

    def close(self) -> None:
        self.journal.append(f"close {self.name}")


@dataclass
class OnASide:
    """A service and its load on one side: a round takes its time, unless it breaks or is told to stop."""

    side: int
    journal: list[str]
    late_seconds: float = 0.0
    breaks: bool = False
    hangs: bool = False
    stopped: threading.Event = field(default_factory=threading.Event)
    name: str = "wrk"
    loop: Loop = "closed"
    option_names: frozenset[str] = frozenset()

    def obstacle(self, deployment: Deployed) -> None: ...

    def deploy(self, levels: Levels) -> Deployed:
        self.journal.append(f"deploy {describe(levels)} on {self.side}")
        return Deployed(f"{describe(levels)} on {self.side}", self.journal)

    def configure(self, deployment: Deployed, levels: Levels) -> None: ...

    def options(self, given: Mapping[str, object]) -> Mapping[str, object]:
        return given

    def stop(self) -> None:
        self.stopped.set()

    def run(
        self,
        deployment: Deployed,
        *,
        options: Mapping[str, object],
        warmup_seconds: float,
        duration_seconds: float,
        directory: Path,
    ) -> LoadResult:
        if self.breaks:
            raise TareError(f"the generator on side {self.side} could not start")
        time.sleep(self.late_seconds)
        began_at = time.time()
        if self.stopped.wait(60.0 if self.hangs else ROUND_SECONDS):
            raise TareError(f"the generator on side {self.side} was stopped")
        return LoadResult(
            load=self.name,
            loop=self.loop,
            offered_rate=None,
            metrics={"throughput": 1.0},
            succeeded=1,
            failed=0,
            late=None,
            began_at=began_at,
            ended_at=time.time(),
            latency=None,
            failures={},
            generator_cpu_cores=0.1,
            client_bound=False,
        )


class Sampling:
    absent: Sequence[str] = ()
    samples: Sequence[Sample] = ()
    host_samples: Sequence[HostSample] = ()

    def __init__(self, cgroups: object) -> None: ...

    def __enter__(self) -> Sampling:
        return self

    def __exit__(self, *error: object) -> None: ...

    def totals(self, between: object = None) -> Mapping[str, Usage]:
        return {}

    def disturbances(self, between: object) -> tuple[str, ...]:
        return ()


@dataclass
class Kept:
    folder: Path
    commits: list[tuple[Trial, ...]] = field(default_factory=list)

    def plan(self, trials: Sequence[PlannedTrial]) -> None: ...

    def attempts(self, index: int) -> int:
        return sum(trial.index == index for trial in self.trials)

    def begin(self, index: int, attempt: int) -> None: ...

    def directory(self, index: int, attempt: int) -> Path:
        return self.folder / f"{index}-{attempt}"

    def commit(self, *trials: Trial) -> None:
        self.commits.append(trials)

    def lacks(self, sources: Sequence[str]) -> None: ...

    def finished(self) -> frozenset[int]:
        return frozenset(trial.index for trial in self.trials if not trial.set_aside)

    @property
    def trials(self) -> list[Trial]:
        return [trial for trials in self.commits for trial in trials]


def duet() -> Plan:
    design = Design(
        compare="runtime",
        baseline="runc",
        factors={"runtime": Factor(levels=("runc", "gvisor"), scope="deployment", unit=None, description="d")},
        blocks=Blocks(least=1, most=1),
        warmup_seconds=0.0,
        duration_seconds=1.0,
        duet=True,
    )
    return make(design, seed=1, unavailable={})


def of_lab(trial: RunningTrial) -> None:
    trial.load()


def measure(kept: Kept, sides: Sequence[OnASide], function: TrialFunction = of_lab) -> Kept:
    bench = Bench(
        sides=[Side(service=side, loads={"wrk": side}) for side in sides],
        own_loads=["wrk"],
        function=function,
        units={"throughput": "req/s"},
        sampler=Sampling,
        keeper=kept,
        progress=Reporter(),
    )
    measure_block(duet(), 0, bench)
    return kept


@pytest.fixture
def journal() -> list[str]:
    return []


def test_the_two_of_a_pair_run_at_the_same_moment_and_are_kept_together(tmp_path: Path, journal: list[str]) -> None:
    seen: list[tuple[float, float]] = []

    def function(trial: RunningTrial) -> None:
        # One is ready long before the other: it waits.
        if trial["runtime"] == "gvisor":
            time.sleep(ROUND_SECONDS)
        result = trial.load()
        seen.append((result.began_at, result.ended_at))

    kept = measure(Kept(tmp_path), [OnASide(0, journal), OnASide(1, journal)], function)
    # On a busy machine an attempt may be repeated; in turn, no two would ever overlap.
    assert {len(trials) for trials in kept.commits} == {2}
    assert len(seen) == 2 * len(kept.commits)
    for one, two in zip(seen[::2], seen[1::2], strict=True):
        assert min(one[1], two[1]) > max(one[0], two[0])
    for level, baseline in kept.commits:
        assert (level.side, baseline.side) in ((0, 1), (1, 0))
        assert (level.pair, baseline.levels["runtime"]) == (baseline.pair, "runc")
    against = {(trials[0].levels["runtime"], trials[0].aa) for trials in kept.commits}
    assert against == {("gvisor", False), ("runc", True)}


def test_a_pair_is_deployed_on_both_sides_and_removed(tmp_path: Path, journal: list[str]) -> None:
    measure(Kept(tmp_path), [OnASide(0, journal), OnASide(1, journal)])
    for half in (journal[:4], journal[4:]):
        assert [entry.split()[0] for entry in half] == ["deploy", "deploy", "close", "close"]
        assert {entry[-1] for entry in half[:2]} == {entry[-1] for entry in half[2:]} == {"0", "1"}


def test_a_pair_that_did_not_overlap_is_repeated_as_a_pair(tmp_path: Path, journal: list[str]) -> None:
    kept = measure(Kept(tmp_path), [OnASide(0, journal), OnASide(1, journal, late_seconds=1.5 * ROUND_SECONDS)])
    assert [len(trials) for trials in kept.commits] == [2] * 2 * (1 + REPEATS)
    for one, two in kept.commits:
        assert one.disturbances == two.disturbances
        assert "the two of the pair ran together for" in one.disturbances[0]
        assert one.set_aside == two.set_aside == (one.attempt < REPEATS)


@pytest.mark.parametrize("broken", [0, 1])
def test_when_one_fails_the_other_is_stopped_and_nothing_is_kept(
    tmp_path: Path, journal: list[str], broken: int
) -> None:
    sides = [OnASide(side, journal, breaks=side == broken, hangs=side != broken) for side in (0, 1)]
    kept, began = Kept(tmp_path), time.monotonic()
    with pytest.raises(TareError, match=f"the generator on side {broken} could not start"):
        measure(kept, sides)
    assert sides[1 - broken].stopped.is_set()
    assert time.monotonic() - began < 10
    assert not kept.commits
    assert [entry.split()[0] for entry in journal] == ["deploy", "deploy", "close", "close"]


def test_trial_functions_that_drive_different_loads_are_told(tmp_path: Path, journal: list[str]) -> None:
    def function(trial: RunningTrial) -> None:
        if trial["runtime"] == "gvisor":
            trial.load()
        else:
            trial.record("throughput", "1 req/s")

    with pytest.raises(Parted, match="the two trials of a duet drove different loads: let the trial function drive"):
        measure(Kept(tmp_path), [OnASide(0, journal), OnASide(1, journal)], function)


def test_an_interruption_ends_both() -> None:
    stop, begun = threading.Event(), threading.Barrier(2)

    def work() -> None:
        begun.wait()
        if not stop.wait(60):
            raise AssertionError("nobody stopped it")

    class Interrupted(BaseException): ...

    def interrupt(*_: object) -> None:
        raise Interrupted

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(Interrupted):
            at_once([work, work], stop=stop.set)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert stop.is_set()


def test_what_each_returns_is_returned_in_order() -> None:
    work: list[Callable[[], int]] = [lambda: 1, lambda: 2]
    assert at_once(work, stop=lambda: None) == [1, 2]


def test_the_error_that_began_it_is_raised() -> None:
    start = Start(2)

    def fails() -> None:
        try:
            raise TareError("no network")
        finally:
            start.leave()

    with pytest.raises(TareError, match="no network"):
        at_once([start.together, fails], stop=lambda: None)


def test_a_trial_that_is_soon_done_lets_the_other_start_first() -> None:
    def soon_done(start: Start) -> Callable[[], None]:
        def work() -> None:
            start.together()
            start.leave()

        return work

    for _ in range(200):
        start = Start(2)
        at_once([soon_done(start), soon_done(start)], stop=lambda: None)
