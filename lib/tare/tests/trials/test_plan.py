from __future__ import annotations

import dataclasses
import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.errors import TareError
from tare.manifest import Factor
from tare.trials.design import Blocks, Design
from tare.trials.levels import describe
from tare.trials.plan import Plan, make

REASON = "no KVM that runs a guest"


def design(
    blocks: int = 2, *, aa: bool = False, resolution: int | None = None, **levels: tuple[str | float, ...]
) -> Design:
    chosen: dict[str, tuple[str | float, ...]] = {
        "runtime": ("runc", "gvisor", "kata"),
        "vcpus": ("shared", "1:2"),
        "total_cpus": (0.5, 1.0, 4.0),
        "send_rate": (25.0, 50.0),
        **levels,
    }
    return Design(
        compare="runtime",
        baseline="runc",
        factors={
            name: Factor(
                levels=of_factor,
                scope="deployment" if name in ("runtime", "vcpus") else "run",
                unit=None,
                description="a factor",
            )
            for name, of_factor in chosen.items()
        },
        blocks=Blocks(least=blocks, most=blocks),
        warmup_seconds=1.0,
        duration_seconds=2.0,
        aa=aa,
        resolution=resolution,
    )


def plan(seed: int = 1, blocks: int = 2, *, aa: bool = False) -> Plan:
    unavailable = {"runtime": {"kata": REASON}, "total_cpus": {4.0: "node 'fabric' has 1 CPU"}}
    return make(design(blocks, aa=aa), seed=seed, unavailable=unavailable)


@given(seed=st.integers(min_value=0), blocks=st.integers(min_value=1, max_value=5))
def test_every_block_has_every_cell_once(seed: int, blocks: int) -> None:
    made = plan(seed, blocks)
    expected = sorted(map(describe, made.cells))
    for number in range(blocks):
        assert sorted(describe(trial.levels) for trial in made.block(number)) == expected
    assert len(list(made.trials())) == blocks * made.trials_per_block == blocks * 16


@given(seed=st.integers(min_value=0))
def test_within_a_block_each_deployment_is_made_once(seed: int) -> None:
    for number in range(2):
        runs = [
            (deployment, {(trial.levels["runtime"], trial.levels["vcpus"]) for trial in trials})
            for deployment, trials in itertools.groupby(plan(seed).block(number), key=lambda trial: trial.deployment)
        ]
        assert len(runs) == len({deployment for deployment, _ in runs}) == 4
        assert all(len(outer) == 1 for _, outer in runs)
        assert len(set().union(*(outer for _, outer in runs))) == 4


@given(seed=st.integers(min_value=0), blocks=st.integers(min_value=1, max_value=4))
def test_more_blocks_do_not_change_those_already_drawn(seed: int, blocks: int) -> None:
    assert list(plan(seed, blocks).trials()) == list(plan(seed, blocks + 1).trials())[: blocks * 16]


@given(seed=st.integers(min_value=0))
def test_indices_count_through_the_plan(seed: int) -> None:
    trials = list(plan(seed).trials())
    assert [trial.index for trial in trials] == list(range(len(trials)))
    assert sorted({trial.deployment for trial in trials}) == list(range(8))


def test_the_order_is_random_over_seeds() -> None:
    first = {describe(plan(seed).block(0)[0].levels) for seed in range(200)}
    assert first == set(map(describe, plan().cells))


def test_the_same_seed_gives_the_same_order_for_ever() -> None:
    """A broken-off run is taken up again by its seed: this order must not change between versions."""
    assert [describe(trial.levels) for trial in plan(seed=7).block(0)][:3] == [
        "runtime=runc send_rate=25 total_cpus=1 vcpus=shared",
        "runtime=runc send_rate=50 total_cpus=0.5 vcpus=shared",
        "runtime=runc send_rate=25 total_cpus=0.5 vcpus=shared",
    ]


def test_what_cannot_run_is_listed_with_its_reason_and_not_planned() -> None:
    made = plan()
    assert [(lost.factor, lost.level, lost.cells) for lost in made.not_run] == [
        ("runtime", "kata", 12),
        ("total_cpus", 4.0, 12),
    ]
    assert made.not_run[0].reason == REASON
    assert all(trial.levels["runtime"] != "kata" and trial.levels["total_cpus"] != 4.0 for trial in made.trials())


def test_without_a_baseline_there_is_nothing_to_compare() -> None:
    with pytest.raises(TareError, match="the baseline runtime=runc cannot run on this machine: no shim"):
        make(design(), seed=1, unavailable={"runtime": {"runc": "no shim"}})


def test_a_factor_without_a_level_that_can_run_is_told() -> None:
    with pytest.raises(TareError, match="no level of factor 'total_cpus' can run on this machine: 4: one CPU"):
        make(design(total_cpus=(4.0,)), seed=1, unavailable={"total_cpus": {4: "one CPU"}})


def test_the_record_is_json() -> None:
    record = json.loads(json.dumps(plan().as_record()))
    assert len(record["cells"]) == 16 and record["seed"] == 1
    assert record["factors"]["runtime"]["levels"] == ["runc", "gvisor", "kata"]


def test_over_many_blocks_each_of_three_cells_comes_first_about_as_often() -> None:
    """A third of 500 draws: 167 +- 53 is five standard deviations."""
    made = make(design(500, vcpus=("shared",), total_cpus=(1.0,), send_rate=(25.0,)), seed=1, unavailable={})
    first = [describe(made.block(number)[0].levels) for number in range(500)]
    assert 114 < first.count("runtime=kata send_rate=25 total_cpus=1 vcpus=shared") < 220


@given(seed=st.integers(min_value=0))
def test_the_aa_arm_is_every_baseline_cell_once_more_in_a_deployment_of_its_own(seed: int) -> None:
    block = plan(seed, aa=True).block(0)
    again = [trial for trial in block if trial.aa]
    assert sorted(describe(trial.levels) for trial in again) == sorted(
        describe(trial.levels) for trial in block if trial.levels["runtime"] == "runc" and not trial.aa
    )
    assert len(again) == 8 and {trial.deployment for trial in again}.isdisjoint(
        trial.deployment for trial in block if not trial.aa
    )
    assert len({trial.deployment for trial in block}) == 6
    assert len(plan(seed, aa=True).cells) == 16


def test_the_aa_arm_of_a_run_factor_shares_its_deployment() -> None:
    compared = dataclasses.replace(design(aa=True), compare="total_cpus", baseline=0.5)
    made = make(compared, seed=1, unavailable={})
    assert all(any(run.aa for run in deployment.runs) for deployment in made.deployments)
    assert sum(trial.aa for trial in made.block(0)) == 3 * 2 * 2


def test_a_fraction_halves_the_conditions_and_keeps_every_level_in_each() -> None:
    made = make(design(resolution=3, total_cpus=(0.5, 1.0)), seed=1, unavailable={})
    assert len(made.cells) == 3 * 4
    conditions = {describe({name: cell[name] for name in cell if name != "runtime"}) for cell in made.cells}
    assert len(conditions) == 4


def sharing(seed: int = 1) -> Plan:
    """Three runtimes, of which two are measured on one deployment."""
    made = design(aa=True, vcpus=("shared",), total_cpus=(1.0,))
    runtime = dataclasses.replace(made.factors["runtime"], deployments={"gvisor": "secure", "kata": "secure"})
    return make(dataclasses.replace(made, factors={**made.factors, "runtime": runtime}), seed=seed, unavailable={})


def test_levels_of_one_name_share_a_deployment() -> None:
    made = sharing()
    # Those two share one, the baseline has its own, and so has its A/A arm.
    assert made.deployments_per_block == 3
    standing: dict[int, set[object]] = {}
    for trial in made.block(0):
        standing.setdefault(trial.deployment, set()).add(trial.levels["runtime"])
    assert sorted(map(sorted, standing.values())) == [["gvisor", "kata"], ["runc"], ["runc"]]


@given(seed=st.integers(min_value=0))
def test_sharing_a_deployment_leaves_out_no_cell_and_draws_the_order_within_it(seed: int) -> None:
    made = sharing(seed)
    cells = [describe(trial.levels) for trial in made.block(0) if not trial.aa]
    assert sorted(cells) == sorted(map(describe, made.cells))
    assert len(set(cells)) == 6


def test_either_of_those_that_share_may_come_first() -> None:
    first = {
        next(trial.levels["runtime"] for trial in sharing(seed).block(0) if trial.levels["runtime"] != "runc")
        for seed in range(20)
    }
    assert first == {"gvisor", "kata"}
