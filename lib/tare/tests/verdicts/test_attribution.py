"""The cost of a level taken apart: hop, layer, encryption."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.manifest import AttributionStep, Level
from tare.trials.trial import Trial
from tare.verdicts.attribution import Attribution, attribute
from tare.verdicts.compare import IntervalKind, compare

WAY = (
    AttributionStep(cause="hop", level="bytes"),
    AttributionStep(cause="layer", level="http"),
    AttributionStep(cause="encryption", level="tls"),
)
LEVELS = ("none", "bytes", "http", "tls")

# Three blocks whose logarithms do not lie on a line.
VALUES = {"none": (100, 110, 95), "bytes": (50, 54, 49), "http": (25, 26, 25), "tls": (24, 25, 22)}


def trial(block: int, arm: Level, value: float | None, *, share: float = 0.5, pair: int = 0) -> Trial:
    return Trial(
        index=0,
        block=block,
        deployment=0,
        levels={"arm": arm, "load_share": share},
        began_at=0.0,
        seconds=1.0,
        metrics={} if value is None else {"throughput": value},
        succeeded=1,
        failed=0,
        client_bound=False,
        failures={},
        notes=(),
        pair=pair,
    )


def measured(values: Mapping[str, tuple[float | None, ...]], *, share: float = 0.5) -> list[Trial]:
    return [
        trial(block, arm, value, share=share) for arm, of_arm in values.items() for block, value in enumerate(of_arm)
    ]


def taken(
    trials: list[Trial], *, way: tuple[AttributionStep, ...] = WAY, kind: IntervalKind = "fixed"
) -> tuple[Attribution, ...]:
    return attribute(trials, way, metric="throughput", factor="arm", baseline="none", kind=kind)


def product(found: Attribution) -> float:
    return math.prod(step.comparison.ratio or math.nan for step in found.steps)


def causes(found: Attribution) -> list[tuple[str, Level, Level]]:
    return [(step.cause, step.before, step.comparison.level) for step in found.steps]


def test_each_level_is_held_against_the_one_before() -> None:
    (found,) = taken(measured(VALUES))
    assert causes(found) == [("hop", "none", "bytes"), ("layer", "bytes", "http"), ("encryption", "http", "tls")]
    assert found.whole.level == "tls" and found.whole.baseline_value == pytest.approx(305 / 3)
    assert {step.comparison.n for step in found.steps} == {found.whole.n} == {3}
    assert found.steps[0].comparison.ratio == pytest.approx((50 / 100 * 54 / 110 * 49 / 95) ** (1 / 3))


@pytest.mark.parametrize("kind", ["fixed", "t", "median"])
def test_a_step_is_a_comparison_of_the_same_kind(kind: IntervalKind) -> None:
    """Seven blocks, so that every kind has an interval."""
    values = {arm: tuple(of_arm[block % 3] * (1 + block / 50) for block in range(7)) for arm, of_arm in VALUES.items()}
    trials = measured(values)
    (found,) = taken(trials, kind=kind)
    for step in found.steps:
        both = [one for one in trials if one.levels["arm"] in (step.before, step.comparison.level)]
        (expected,) = compare(both, metric="throughput", factor="arm", baseline=step.before, kind=kind)
        assert step.comparison == expected and expected.low is not None


positive = st.floats(min_value=1e-3, max_value=1e6)


@given(st.lists(st.tuples(positive, positive, positive, positive), min_size=1, max_size=8))
def test_geometric_means_multiply_to_the_whole(blocks: list[tuple[float, float, float, float]]) -> None:
    (found,) = taken(measured(dict(zip(LEVELS, zip(*blocks, strict=True), strict=True))))
    assert product(found) == pytest.approx(found.whole.ratio, rel=1e-9)


def test_medians_multiply_to_the_whole_only_roughly() -> None:
    (found,) = taken(
        measured({"none": (1, 1, 1), "bytes": (2, 1, 4), "http": (2, 5, 4), "tls": (6, 5, 1)}), kind="median"
    )
    assert (product(found), found.whole.ratio) == (pytest.approx(2.0), pytest.approx(5.0))


@pytest.mark.parametrize(
    ("missing", "told"),
    [
        (["http"], [("hop", "none", "bytes"), ("layer and encryption", "bytes", "tls")]),
        (["bytes"], [("hop and layer", "none", "http"), ("encryption", "http", "tls")]),
        (["bytes", "http"], [("hop and layer and encryption", "none", "tls")]),
    ],
)
def test_a_cause_whose_level_was_not_measured_is_told_with_the_next(
    missing: list[str], told: list[tuple[str, Level, Level]]
) -> None:
    (found,) = taken(measured({arm: values for arm, values in VALUES.items() if arm not in missing}))
    assert causes(found) == told
    assert product(found) == pytest.approx(found.whole.ratio)


@pytest.mark.parametrize("missing", ["none", "tls"])
def test_without_the_level_or_the_baseline_there_is_nothing_to_take_apart(missing: str) -> None:
    assert taken(measured({arm: values for arm, values in VALUES.items() if arm != missing})) == ()
    assert taken(measured({**VALUES, missing: (None, None, None)})) == ()


def test_each_condition_goes_its_own_way() -> None:
    without_http = {arm: values for arm, values in VALUES.items() if arm != "http"}
    one, other = taken(measured(VALUES) + measured(without_http, share=0.8))
    assert [one.whole.condition, other.whole.condition] == [{"load_share": 0.5}, {"load_share": 0.8}]
    assert [step.cause for step in other.steps] == ["hop", "layer and encryption"]


@pytest.mark.parametrize("lost", [None, 0.0])
def test_all_are_over_the_blocks_that_have_every_level(lost: float | None) -> None:
    (found,) = taken(measured({**VALUES, "bytes": (50, lost, 49)}))
    assert {step.comparison.n for step in found.steps} == {found.whole.n} == {2}
    assert product(found) == pytest.approx(found.whole.ratio)


def test_levels_that_share_no_block_are_not_taken_apart() -> None:
    assert taken(measured({**VALUES, "bytes": (50, None, None), "http": (None, 25, 25)})) == ()


def test_what_was_set_aside_and_the_a_a_arm_do_not_count() -> None:
    (expected,) = taken(measured(VALUES))
    aside = dataclasses.replace(trial(0, "tls", 1.0), set_aside=True)
    again = dataclasses.replace(trial(0, "none", 1.0), aa=True)
    assert taken([aside, *measured(VALUES), again]) == (expected,)


def test_in_a_duet_one_step_is_taken_and_several_share_no_pair() -> None:
    trials = [
        trial(block, arm, value, pair=pair)
        for block in range(2)
        for pair, level in enumerate(LEVELS[1:], start=1)
        for arm, value in (("none", 100.0), (level, 50.0))
    ]
    assert taken(trials) == ()
    (found,) = taken(trials, way=WAY[-1:])
    assert (found.whole.ratio, found.whole.n) == (pytest.approx(0.5), 2)


def test_levels_that_are_numbers_are_known_as_numbers() -> None:
    way = (AttributionStep(cause="two more", level=3), AttributionStep(cause="one more", level=4))
    trials = [trial(block, level, 10 * level) for block in range(2) for level in (1.0, 3.0, 4.0)]
    (found,) = attribute(trials, way, metric="throughput", factor="arm", baseline=1)
    assert causes(found) == [("two more", 1.0, 3.0), ("one more", 3.0, 4.0)]
