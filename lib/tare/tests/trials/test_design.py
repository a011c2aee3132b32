from __future__ import annotations

import dataclasses

import pytest

from tare.errors import UsageError
from tare.manifest import Experiment, Factor, Metric, Profile
from tare.trials.design import settle

FACTORS = "runtime, send_rate, total_cpus"


def factor(*levels: str | float, scope: str = "run", unit: str | None = None) -> Factor:
    return Factor(levels=levels, scope=scope, unit=unit, description="a factor")  # type: ignore[arg-type]


EXPERIMENT = Experiment(
    service="fabric",
    load="caliper",
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
    assert design.blocks == 2
    assert design.factors["send_rate"].levels == (25.0, 50.0)
    assert (design.warmup_seconds, design.duration_seconds) == (5.0, 20.0)


def test_a_profile_replaces_what_it_sets_and_no_more() -> None:
    design = settle(EXPERIMENT, profile="smoke")
    assert (design.blocks, design.duration_seconds, design.warmup_seconds) == (1, 5.0, 5.0)
    assert design.factors["send_rate"].levels == (10.0,)
    assert design.factors["runtime"].levels == ("runc", "gvisor", "kata")


def test_the_call_goes_before_the_profile() -> None:
    design = settle(EXPERIMENT, profile="smoke", blocks=4, duration_seconds=7, levels={"send_rate": ("30", "30.0")})
    assert (design.blocks, design.duration_seconds) == (4, 7)
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
        ({"blocks": 0}, "blocks: expected at least 1, found 0"),
    ],
)
def test_a_wrong_wish_is_told(wishes: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        settle(EXPERIMENT, **wishes)  # type: ignore[arg-type]
    assert str(caught.value) == message
