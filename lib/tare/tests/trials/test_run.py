"""The loop, with a service and a load that only remember what they were asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tare.errors import TareError, UsageError
from tare.loads import LoadResult
from tare.manifest import Factor
from tare.measure.sampler import Sampler
from tare.progress import Reporter
from tare.trials.design import Design
from tare.trials.levels import Levels, describe
from tare.trials.plan import Plan, make
from tare.trials.run import run
from tare.trials.trial import Trial


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

    def deploy(self, levels: Levels) -> Deployed:
        self.journal.append(f"deploy {describe(levels)}")
        return Deployed(self.journal, describe(levels))

    def configure(self, deployment: Deployed, levels: Levels) -> None:
        self.journal.append(f"configure {describe(levels)}")

    def run(
        self, deployment: Deployed, *, rate: float, warmup_seconds: float, duration_seconds: float, directory: Path
    ) -> LoadResult:
        self.loads += 1
        if self.loads == self.breaks_at:
            raise TareError("the generator could not start")
        self.journal.append(f"load {rate:g}")
        return LoadResult(
            offered_rate=rate,
            sent_rate=rate,
            goodput=rate,
            succeeded=10,
            failed=0,
            duration_seconds=duration_seconds,
            began_at=0.0,
            ended_at=duration_seconds,
            latencies_seconds=(0.1,) * 10,
            failures={},
            generator_cpu_cores=0.1,
            client_bound=False,
        )


class Tree:
    """Cgroups that stand still."""

    def cpu_usage_seconds(self, path: str) -> float:
        return 1.0

    def throttled_seconds(self, path: str) -> float:
        return 0.0

    def memory_bytes(self, path: str) -> int:
        return 1 << 20


@dataclass
class Kept:
    folder: Path
    trials: list[Trial] = field(default_factory=list)

    def directory(self, index: int) -> Path:
        return self.folder

    def commit(self, trial: Trial) -> None:
        self.trials.append(trial)


def plan(rate: str = "send_rate", blocks: int = 2) -> Plan:
    factors = {
        "runtime": Factor(levels=("runc", "gvisor"), scope="deployment", unit=None, description="d"),
        rate: Factor(levels=(25.0, 50.0), scope="run", unit="tx/s", description="d"),
    }
    design = Design(
        compare="runtime", baseline="runc", factors=factors, blocks=blocks, warmup_seconds=1.0, duration_seconds=2.0
    )
    return make(design, seed=3, unavailable={})


def measure(made: Plan, what: Remembering, kept: Kept, finished: Sequence[int] = ()) -> None:
    run(
        made,
        service=what,
        load=what,
        sampler=lambda cgroups: Sampler(Tree(), cgroups),
        keeper=kept,
        progress=Reporter(),
        finished=finished,
    )


def test_each_deployment_is_made_and_closed_once_a_block(tmp_path: Path) -> None:
    what, kept = Remembering(), Kept(tmp_path)
    measure(plan(), what, kept)
    kinds = [entry.split()[0] for entry in what.journal]
    assert kinds == ["deploy", "configure", "load", "configure", "load", "close"] * 4
    assert [trial.index for trial in kept.trials] == list(range(8))
    assert {trial.block for trial in kept.trials} == {0, 1}
    assert kept.trials[0].metrics["goodput"] == kept.trials[0].levels["send_rate"]
    assert kept.trials[0].metrics["memory_peer"] == 1 << 20


def test_a_fault_is_raised_with_the_deployment_closed_and_what_was_committed_kept(tmp_path: Path) -> None:
    what, kept = Remembering(breaks_at=4), Kept(tmp_path)
    with pytest.raises(TareError, match="the generator could not start"):
        measure(plan(), what, kept)
    assert len(kept.trials) == 3
    assert what.journal[-1].startswith("close ")


def test_finished_trials_are_not_measured_again(tmp_path: Path) -> None:
    what, kept = Remembering(), Kept(tmp_path)
    measure(plan(), what, kept, finished=[0, 1, 2, 5])
    assert [trial.index for trial in kept.trials] == [3, 4, 6, 7]
    assert sum(entry.startswith("deploy") for entry in what.journal) == 3


def test_an_experiment_without_a_rate_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no factor 'send_rate'"):
        measure(plan(rate="speed"), Remembering(), Kept(tmp_path))
