from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import PurePath

import pytest

from tare.manifest import Manifest
from tare.report.verdicts import verdict_lines
from tare.stats.sequence import Interval, Method
from tare.trials.plan import Plan
from tare.trials.trial import Trial
from tare.verdicts.budget import Claim, Judged, State, Verdict
from tare.verdicts.estimate import Contrast, Found


@dataclass
class Run:
    """A run as the fixture gives it, without its lab."""

    name: str
    manifest: Manifest
    plan: Plan
    folder: PurePath
    trials: tuple[Trial, ...]
    method: Method = "t"
    proof: str = ""


@dataclass
class Judgement:
    experiment: str
    budget: str
    verdict: Verdict


def verdict(state: State, *names: str) -> Verdict:
    found = Found(value=0.9, interval=Interval(low=0.88, high=0.92), n=7, left_out=0, bounded=True, alpha=0.05)
    return Verdict(
        state=state,
        judged=tuple(
            Judged(
                claim=Claim(
                    estimate=Contrast(text=name, unit="1", scale="log", parts=()), low=0.8, high=9.0, text=">= 0.8"
                ),
                found=found,
                state=state,
            )
            for name in names
        ),
    )


@pytest.fixture
def run(kata_hlf: Manifest, open_plan: Plan, attempts: tuple[Trial, ...]) -> Run:
    kept = tuple(trial for trial in attempts if not trial.set_aside)
    return Run(name="fabric", manifest=kata_hlf, plan=open_plan, folder=PurePath("results/x"), trials=kept)


def test_the_proof_of_the_lab_is_told_where_there_is_one(run: Run) -> None:
    assert not [line for line in verdict_lines([], [run]) if "proof" in line]
    told = "proof of the lab: 2 of 2 tests passed"
    assert verdict_lines([], [replace(run, proof=told)])[1] == f"  {told}"


def test_a_run_is_told_with_its_blocks_its_folder_and_what_was_set_aside(run: Run) -> None:
    lines = verdict_lines([], [run])
    assert lines[0] == "fabric: 7 blocks (of 5 to 40), 84 trials, 1 more set aside and repeated; results/x"


def test_each_budget_is_told_once_and_its_claims_below_it(run: Run) -> None:
    one = Judgement("fabric", "a >= 0.8", verdict("held", "a"))
    both = Judgement("fabric", "ranking(a, b, c)", verdict("undecided", "a / b", "b / c"))
    other = Judgement("another", "z", verdict("missed", "z"))
    lines = verdict_lines([one, one, both, other], [run])
    sentence = "= 0.900, interval 0.880 … 0.920 (95 %, valid at every look; n = 7 blocks), budget >= 0.8"
    assert lines[1:5] == [
        f"  held: a {sentence}",
        "  undecided: 2 claims together",
        f"    undecided: a / b {sentence}",
        f"    undecided: b / c {sentence}",
    ]


def test_the_noise_of_each_headline_metric_is_told_and_what_was_not_run(run: Run) -> None:
    lines = verdict_lines([], [run])
    noise = [line for line in lines if line.startswith("  noise (A/A): goodput at ")]
    assert len(noise) == 4
    assert all(" … " in line and "% on would show" in line for line in noise)
    assert any(" at 50 tx/s, 0.5 cpu: " in line for line in noise)
    assert lines[-1] == "  not run: runtime=kata (4 cells a block): kvm-guests: KVM runs no guest here"


def test_a_run_that_measured_nothing_is_told_too(run: Run) -> None:
    run.trials = ()
    assert verdict_lines([], [run])[0] == "fabric: 0 blocks (of 5 to 40), 0 trials; results/x"
