"""What became of the figures from one run to another."""

from __future__ import annotations

import dataclasses
import math
import random
from typing import Any

import pytest

from tare.results import changes
from tare.results.change import interval_kind
from tare.trials.levels import describe
from tare.trials.plan import Plan, PlannedTrial
from tare.trials.trial import Trial

BLOCKS = 12


def measured(plan: Plan, *, cost: float, host: float, seed: int, noise: float = 0.01) -> list[Trial]:
    """Trials of a host of some speed, on which gVisor has a cost."""
    draw = random.Random(seed)
    return [
        one
        for number in range(BLOCKS)
        for trial in plan.block(number)
        for one in [_trial(trial, draw.lognormvariate(0, noise) * host, cost)]
    ]


def _trial(planned: PlannedTrial, speed: float, cost: float) -> Trial:
    value = 100 * speed * (cost if planned.levels["runtime"] == "gvisor" else 1.0)
    return Trial(
        index=planned.index,
        block=planned.block,
        deployment=planned.deployment,
        levels=planned.levels,
        aa=planned.aa,
        began_at=0.0,
        seconds=1.0,
        metrics={"goodput": value},
        succeeded=1,
        failed=0,
        client_bound=False,
        failures={},
        notes=(),
    )


def test_a_slower_host_is_in_the_means_and_not_in_the_costs(plan: Plan) -> None:
    then, now = (measured(plan, cost=0.9, host=host, seed=seed) for host, seed in ((1.0, 1), (0.5, 2)))
    found = changes(then, now, metrics=["goodput"], plan=plan.as_record())
    assert {describe(change.levels) for change in found} == set(map(describe, plan.cells))
    for change in found:
        assert change.ratio == pytest.approx(0.5, rel=0.03)
        if change.levels["runtime"] == "runc":
            assert (change.cost_a, change.cost_b, change.cost_ratio, change.word) == (None, None, None, "")
        else:
            assert change.cost_a is not None and change.cost_a.ratio == pytest.approx(0.9, rel=0.03)
            assert change.cost_a.n == BLOCKS
            assert change.cost_ratio == pytest.approx(1.0, rel=0.03)
            assert change.low is not None and change.high is not None and change.low < change.cost_ratio < change.high
            assert change.word == "no change seen"


@pytest.mark.parametrize(("then", "now", "word"), [(0.9, 0.6, "lower"), (0.6, 0.9, "higher")])
def test_a_cost_that_changed_is_seen(plan: Plan, then: float, now: float, word: str) -> None:
    a, b = (measured(plan, cost=cost, host=1.0, seed=seed) for cost, seed in ((then, 1), (now, 2)))
    found = [one for one in changes(a, b, metrics=["goodput"], plan=plan.as_record()) if one.cost_ratio]
    assert found and {change.word for change in found} == {word}
    assert all(change.cost_ratio == pytest.approx(now / then, rel=0.03) for change in found)


def test_no_change_is_told_as_one_at_most_at_the_stated_rate(plan: Plan) -> None:
    wrong = total = 0
    for seed in range(40):
        a, b = (measured(plan, cost=0.9, host=1.0, seed=2 * seed + n, noise=0.1) for n in (0, 1))
        found = [one for one in changes(a, b, metrics=["goodput"], plan=plan.as_record()) if one.cost_ratio]
        wrong += sum(change.word != "no change seen" for change in found)
        total += len(found)
    assert total >= 100 and wrong <= 0.05 * total


def test_what_is_in_one_run_only_and_what_has_too_few_blocks(plan: Plan) -> None:
    a = measured(plan, cost=0.9, host=1.0, seed=1)
    b = [trial for trial in a if trial.levels["runtime"] == "runc"]
    of_gvisor = [one for one in changes(a, b, metrics=["goodput"], plan=plan.as_record()) if one.b is None]
    assert of_gvisor and all(one.ratio is None and one.cost_b is None and one.cost_a for one in of_gvisor)
    one_block = [trial for trial in a if trial.block == 0]
    few = [one for one in changes(one_block, one_block, metrics=["goodput"], plan=plan.as_record()) if one.cost_ratio]
    assert few and all((one.cost_ratio, one.low, one.word) == (1.0, None, "") for one in few)
    assert changes(a, b, metrics=["latency_p99"], plan=plan.as_record()) == ()


@pytest.mark.parametrize(
    ("record", "kind"),
    [
        ({"blocks": {"least": 5, "most": 5}, "state": "complete"}, "fixed"),
        ({"blocks": {"least": 5, "most": 5}, "state": "interrupted"}, "median"),
        ({"blocks": {"least": 5, "most": 40}, "state": "complete", "interval": "t"}, "t"),
        ({"blocks": {"least": 5, "most": 40}, "state": "complete", "interval": "median"}, "median"),
        ({"blocks": {"least": 5, "most": 5}, "state": "complete", "interval": "median"}, "fixed"),
        ({"state": "complete"}, "median"),
    ],
)
def test_only_blocks_fixed_beforehand_have_students_interval(record: dict[str, Any], kind: str) -> None:
    assert interval_kind(record) == kind


def test_blocks_fixed_beforehand_bound_a_change_sooner(plan: Plan) -> None:
    a, b = (
        [trial for trial in measured(plan, cost=cost, host=1.0, seed=seed) if trial.block < 4]
        for cost, seed in ((0.9, 1), (0.6, 2))
    )
    at_every_look, fixed = (
        [one for one in changes(a, b, metrics=["goodput"], plan=plan.as_record(), kinds=kinds) if one.cost_ratio]
        for kinds in (("t", "t"), ("fixed", "fixed"))
    )
    assert {one.word for one in fixed} == {"lower"} and {one.word for one in at_every_look} == {""}


def test_attempts_that_were_set_aside_count_nowhere(plan: Plan) -> None:
    a = measured(plan, cost=0.9, host=1.0, seed=1)
    wild = [dataclasses.replace(trial, set_aside=True, metrics={"goodput": 1e9}) for trial in a]
    ratios = [one.ratio for one in changes(a, [*wild, *a], metrics=["goodput"], plan=plan.as_record())]
    assert all(ratio is not None and math.isclose(ratio, 1.0) for ratio in ratios)
