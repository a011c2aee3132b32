"""Whether a duet may be run, what its plan looks like, and that its figures are paired as they were measured."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tare.manifest import Factor, Level
from tare.trials.design import Blocks, Design
from tare.trials.duet import LEAST_OVERLAP, apart, obstacle
from tare.trials.levels import without
from tare.trials.plan import IN_TURN, Plan, PlannedTrial, make
from tare.trials.trial import Trial
from tare.verdicts.compare import compare
from tare.verdicts.latencies import compare_latencies

CPUS = st.sets(st.integers(0, 7), min_size=1, max_size=4).map(sorted)
SIDES = st.fixed_dictionaries({"service": CPUS, "load": CPUS})


@given(first=SIDES, second=SIDES)
def test_a_duet_is_chosen_only_for_sides_that_share_no_cpu_and_are_alike(
    first: dict[str, list[int]], second: dict[str, list[int]]
) -> None:
    shared = {*first["service"], *first["load"]} & {*second["service"], *second["load"]}
    alike = all(len(first[part]) == len(second[part]) for part in first)
    found = obstacle([first, second], service="fabric", twice=True)
    assert (found is None) == (not shared and alike)
    assert obstacle([second, first], service="fabric", twice=True) == found or not shared
    assert all(str(cpu) in (found or "") for cpu in shared)


@given(sides=st.lists(SIDES, max_size=2))
def test_a_duet_is_never_chosen_for_what_cannot_be_deployed_twice_or_has_one_side(
    sides: Sequence[dict[str, list[int]]],
) -> None:
    assert obstacle(sides, service="mesh", twice=False) == "the service mesh cannot be deployed twice"
    assert obstacle(sides[:1], service="fabric", twice=True) is not None


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        ({"service": [2, 3], "load": [4]}, None),
        ({"service": [1, 3], "load": [4]}, "the sides share CPU 1"),
        ({"service": [0, 1], "load": [2]}, "the sides share CPUs 0, 1"),
        ({"service": [3, 4], "load": [5, 6]}, "the sides are unlike: CPUs of the load are 1 on one and 2 on the other"),
    ],
)
def test_the_reason_is_told(second: dict[str, list[int]], reason: str | None) -> None:
    assert obstacle([{"service": [0, 1], "load": [7]}, second], service="fabric", twice=True) == reason


SPAN = st.tuples(st.floats(0, 100), st.floats(0.1, 50)).map(lambda t: (t[0], t[0] + t[1]))


@given(one=SPAN, other=SPAN)
def test_rounds_that_do_not_overlap_are_told(one: tuple[float, float], other: tuple[float, float]) -> None:
    assert not apart([one, one])
    assert bool(apart([one, other])) == bool(apart([other, one]))
    if one[1] <= other[0] or other[1] <= one[0]:
        assert apart([one, other])


def test_the_overlap_is_of_the_shorter_round() -> None:
    assert not apart([(0.0, 10.0), (2.0, 60.0)])
    (told,) = apart([(0.0, 10.0), (2.1, 60.0)])
    assert told.startswith(f"the two of the pair ran together for 7.9 of 10.0 s, less than {LEAST_OVERLAP:.0%}: ")


def design(compare: str, *, aa: bool = True, levels: Sequence[Level] = ("runc", "gvisor", "kata")) -> Design:
    rates = (25.0, 50.0)
    return Design(
        compare=compare,
        baseline={"runtime": "runc", "send_rate": 25.0}[compare],
        factors={
            "runtime": Factor(levels=tuple(levels), scope="deployment", unit=None, description="d"),
            "send_rate": Factor(levels=rates, scope="run", unit="tx/s", description="d"),
        },
        blocks=Blocks(least=2, most=40),
        warmup_seconds=1.0,
        duration_seconds=2.0,
        aa=aa,
        duet=True,
    )


def pairs(block: Sequence[PlannedTrial]) -> list[tuple[PlannedTrial, PlannedTrial]]:
    """The trials of a block two by two, as they stand in it."""
    return list(zip(block[::2], block[1::2], strict=True))


PLANS = st.builds(
    make,
    st.builds(design, st.sampled_from(["runtime", "send_rate"]), aa=st.booleans()),
    seed=st.integers(0, 1 << 32),
    unavailable=st.just({}),
)


@given(made=PLANS, number=st.integers(0, 39))
def test_every_trial_of_a_duet_stands_beside_a_baseline_of_its_own(made: Plan, number: int) -> None:
    assert made.duet
    block = made.block(number)
    compare, baseline = made.design.compare, made.design.baseline
    for one, two in pairs(block):
        assert one.pair == two.pair != IN_TURN
        assert {one.side, two.side} == {0, 1}
        assert one.deployment == two.deployment
        assert (two.levels[compare], two.aa) == (baseline, False)
        assert without(one.levels, compare) == without(two.levels, compare)
        assert one.aa == (one.levels[compare] == baseline)
    assert Counter(trial.pair for trial in block) == {pair: 2 for pair in range(1, len(block) // 2 + 1)}
    # Every cell is there, and what is no baseline once.
    once = [trial.levels for trial in block if trial.levels[compare] != baseline or trial.aa]
    assert len(once) == len(block) // 2
    assert {str(cell) for cell in made.cells} == {str(trial.levels) for trial in block}
    assert [trial.index for trial in block] == list(range(number * len(block), (number + 1) * len(block)))
    assert len(block) == made.trials_per_block


@given(made=PLANS, number=st.integers(0, 39))
def test_a_deployment_has_one_set_of_levels_on_each_side(made: Plan, number: int) -> None:
    standing: dict[tuple[int, int], set[Level]] = {}
    for trial in made.block(number):
        standing.setdefault((trial.deployment, trial.side), set()).add(trial.levels["runtime"])
    assert all(len(levels) == 1 for levels in standing.values())
    assert len(standing) == made.deployments_per_block


def test_the_side_is_tossed_anew_in_every_block() -> None:
    made = make(design("runtime"), seed=5, unavailable={})
    sides = [next(t.side for t in made.block(n) if t.levels["runtime"] == "gvisor") for n in range(400)]
    assert 150 < sum(sides) < 250
    changes = sum(one != two for one, two in itertools.pairwise(sides))
    assert 150 < changes < 250


def test_a_duet_that_cannot_be_run_is_the_plan_in_turn_and_says_why() -> None:
    asked = make(design("runtime"), seed=5, unavailable={}, against_duet="the sides share CPU 1")
    in_turn = make(dataclasses.replace(design("runtime"), duet=False), seed=5, unavailable={})
    assert not asked.duet
    assert asked.duet_told == "duet was asked for; run in turn: the sides share CPU 1"
    assert [asked.block(n) for n in range(5)] == [in_turn.block(n) for n in range(5)]
    assert in_turn.duet_told == ""
    assert asked.as_record() == in_turn.as_record()


def test_a_lone_baseline_is_no_duet() -> None:
    made = make(design("runtime", aa=False, levels=["runc", "kata"]), seed=1, unavailable={"runtime": {"kata": "none"}})
    assert made.duet_told.endswith("run in turn: nothing is there to run beside the baseline")
    assert len(made.block(0)) == 2


@settings(max_examples=20)
@given(made=PLANS, seed=st.integers(0, 1000))
def test_comparisons_take_the_pair_s_own_baseline(made: Plan, seed: int) -> None:
    # Each pair has a minute of its own, which strikes both alike: only within it is the ratio the level's own.
    compared, baseline = made.design.compare, made.design.baseline
    cost = {"runc": 1.0, "gvisor": 2.0, "kata": 3.0, 25.0: 1.0, 50.0: 4.0}

    def minute(trial: PlannedTrial) -> float:
        return math.exp((seed + 17 * trial.block + 5 * trial.pair) % 23 - 11)

    trials = [
        Trial(
            index=trial.index,
            block=trial.block,
            deployment=trial.deployment,
            levels=trial.levels,
            aa=trial.aa,
            pair=trial.pair,
            side=trial.side,
            began_at=0.0,
            seconds=1.0,
            metrics={"x": minute(trial) * cost[trial.levels[compared]]},
            succeeded=1,
            failed=0,
            client_bound=False,
            failures={},
            notes=(),
            latencies_seconds={"wrk": (minute(trial) * cost[trial.levels[compared]],) * 30},
        )
        for number in range(3)
        for trial in made.block(number)
    ]
    found = compare(trials, metric="x", factor=compared, baseline=baseline)
    assert len(found) == made.trials_per_block // 2
    for one in found:
        assert one.n == 3
        assert one.ratio == pytest.approx(cost[one.level])
        assert one.value == pytest.approx(cost[one.level] * (one.baseline_value or 0.0))
    latencies = compare_latencies(trials, factor=compared, baseline=baseline, seed=1)
    assert len(latencies) == len(found)
    for of_level in latencies:
        assert of_level.n == 3
        assert of_level.quantiles[0].ratio == pytest.approx(cost[of_level.level], rel=0.01)
