from __future__ import annotations

import dataclasses

import pytest

from tare.errors import UsageError
from tare.manifest import Experiment, Factor, Metric, Profile
from tare.trials.design import Blocks, settle

FACTORS = "runtime, send_rate, total_cpus"


def factor(*levels: str | float, scope: str = "run", unit: str | None = None) -> Factor:
    return Factor(levels=levels, scope=scope, unit=unit, description="a factor")  # type: ignore[arg-type]


EXPERIMENT = Experiment(
    service="fabric",
    loads=("caliper",),
    compare="runtime",
    baseline="runc",
    factors={
        "runtime": factor("runc", "gvisor", "kata", scope="deployment"),
        "total_cpus": factor(0.5, 1, 2, unit="cpu"),
        "send_rate": factor(25, 50, unit="tx/s"),
    },
    metrics={"goodput": Metric(unit="tx/s", better="higher", description="successes a second")},
    blocks=2,
    warmup_seconds=5.0,
    duration_seconds=20.0,
    profiles={"smoke": Profile(description="small", blocks=1, duration_seconds=5.0, levels={"send_rate": (10,)})},
)


def test_the_experiment_is_the_default() -> None:
    design = settle(EXPERIMENT)
    assert design.blocks == Blocks(least=2, most=2)
    assert design.factors["send_rate"].levels == (25.0, 50.0)
    assert (design.warmup_seconds, design.duration_seconds) == (5.0, 20.0)


def test_a_profile_replaces_what_it_sets_and_no_more() -> None:
    design = settle(EXPERIMENT, profile="smoke")
    assert (design.blocks.most, design.duration_seconds, design.warmup_seconds) == (1, 5.0, 5.0)
    assert design.factors["send_rate"].levels == (10.0,)
    assert design.factors["runtime"].levels == ("runc", "gvisor", "kata")


def test_the_call_goes_before_the_profile() -> None:
    design = settle(
        EXPERIMENT,
        profile="smoke",
        blocks=Blocks(least=3, most=4),
        duration_seconds=7,
        levels={"send_rate": ("30", "30.0")},
    )
    assert (design.blocks.least, design.blocks.most, design.duration_seconds) == (3, 4, 7)
    assert design.factors["send_rate"].levels == (30.0,)


def test_the_baseline_is_always_among_the_compared_levels() -> None:
    assert settle(EXPERIMENT, levels={"runtime": ("gvisor",)}).factors["runtime"].levels == ("runc", "gvisor")


def test_a_profile_may_set_zero_warmup() -> None:
    without = dataclasses.replace(EXPERIMENT, profiles={"cold": Profile(description="cold", warmup_seconds=0.0)})
    assert settle(without, profile="cold").warmup_seconds == 0.0


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"profile": "big"}, "profile 'big' is not known; this lab has: smoke"),
        ({"levels": {"runtme": ("runc",)}}, "factor 'runtme' is not known; this lab has: " + FACTORS),
        ({"levels": {"runtime": ("kat",)}}, "level runtime=kat is not known; this lab has: runc, gvisor, kata"),
        ({"levels": {"send_rate": ("fast",)}}, "level send_rate=fast: expected a number, such as 25"),
        ({"duration_seconds": 0.0}, "duration: expected more than 0 s, found 0 s"),
        ({"warmup_seconds": -1.0}, "warmup: expected 0 s or more, found -1 s"),
        ({"compare": "send_rate"}, "factor 'send_rate' is compared: name the baseline among its levels"),
        ({"compare": "speed", "baseline": 1}, "factor 'speed' is not known; this lab has: " + FACTORS),
    ],
)
def test_a_wrong_wish_is_told(wishes: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        settle(EXPERIMENT, **wishes)  # type: ignore[arg-type]
    assert str(caught.value) == message


def test_blocks_are_the_least_and_the_most() -> None:
    for least, most in ((0, 1), (3, 2)):
        with pytest.raises(UsageError, match=rf"blocks: expected the least and the most.*found \({least}, {most}\)"):
            Blocks(least=least, most=most)


def test_another_factor_can_be_compared_and_stand_beside_the_labs() -> None:
    design = settle(EXPERIMENT, compare="connections", baseline=8, factors={"connections": factor(8, 64)})
    assert (design.compare, design.baseline) == ("connections", 8.0)
    assert list(design.factors) == ["runtime", "total_cpus", "send_rate", "connections"]


def test_given_levels_go_before_the_profiles() -> None:
    assert settle(EXPERIMENT, profile="smoke", factors={"send_rate": factor(77)}).factors["send_rate"].levels == (77.0,)
