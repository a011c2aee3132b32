from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.trials.trial import Trial
from tare.verdicts.compare import compare, interval

positive = st.floats(min_value=1e-3, max_value=1e6)


def trial(block: int, runtime: str, value: float | None, rate: float = 25.0) -> Trial:
    return Trial(
        index=0,
        block=block,
        deployment=0,
        levels={"runtime": runtime, "send_rate": rate},
        began_at=0.0,
        seconds=1.0,
        metrics={} if value is None else {"goodput": value},
        succeeded=1,
        failed=0,
        client_bound=False,
        failures={},
        notes=(),
    )


def pairs(*values: tuple[float, float]) -> list[Trial]:
    """Trials of a block each: baseline first, then gVisor."""
    return [
        made
        for block, (baseline, level) in enumerate(values)
        for made in (trial(block, "runc", baseline), trial(block, "gvisor", level))
    ]


def only(trials: list[Trial]) -> object:
    (found,) = compare(trials, metric="goodput", factor="runtime", baseline="runc")
    return found


def test_the_ratio_is_the_geometric_mean_within_blocks() -> None:
    (found,) = compare(pairs((100, 50), (10, 20)), metric="goodput", factor="runtime", baseline="runc")
    assert found.ratio == pytest.approx(1.0)
    assert (found.value, found.baseline_value, found.n) == (35, 55, 2)


def test_the_interval_is_students() -> None:
    """ln 0.8, ln 0.9, ln 1.0: mean -0.10950, s 0.11163, t(0.975, 2) = 4.30265, by hand."""
    bounds = interval([math.log(0.8), math.log(0.9), math.log(1.0)], kind="fixed", confidence=0.95)
    assert bounds is not None
    assert (math.exp(bounds.low), math.exp(bounds.high)) == pytest.approx((0.67922, 1.18273), rel=1e-3)


def test_one_block_has_a_ratio_and_no_interval() -> None:
    (found,) = compare(pairs((100, 50)), metric="goodput", factor="runtime", baseline="runc")
    assert (found.ratio, found.low, found.high, found.n) == (pytest.approx(0.5), None, None, 1)


def test_a_pair_with_a_zero_has_no_ratio_and_is_counted() -> None:
    (found,) = compare(pairs((100, 0), (100, 50), (0, 0)), metric="goodput", factor="runtime", baseline="runc")
    assert (found.ratio, found.n, found.left_out) == (pytest.approx(0.5), 1, 2)


def test_a_block_without_its_baseline_is_not_paired() -> None:
    trials = [*pairs((100, 50)), trial(1, "gvisor", 1.0)]
    (found,) = compare(trials, metric="goodput", factor="runtime", baseline="runc")
    assert (found.n, found.ratio) == (1, pytest.approx(0.5))


def test_a_metric_that_was_not_measured_gives_nothing() -> None:
    trials = [trial(0, "runc", None), trial(0, "gvisor", None)]
    (found,) = compare(trials, metric="goodput", factor="runtime", baseline="runc")
    assert (found.value, found.baseline_value, found.ratio, found.n) == (None, None, None, 0)


def test_cells_are_compared_at_the_same_other_levels() -> None:
    trials = [
        trial(0, "runc", 100, 25.0),
        trial(0, "gvisor", 90, 25.0),
        trial(0, "runc", 10, 50.0),
        trial(0, "gvisor", 5, 50.0),
    ]
    found = compare(trials, metric="goodput", factor="runtime", baseline="runc")
    assert [(one.condition, one.ratio) for one in found] == [
        ({"send_rate": 25.0}, pytest.approx(0.9)),
        ({"send_rate": 50.0}, pytest.approx(0.5)),
    ]


def test_a_cell_twice_in_a_block_is_refused() -> None:
    with pytest.raises(ValueError, match="block 0 has the cell runtime=runc send_rate=25 twice"):
        only([trial(0, "runc", 1), trial(0, "runc", 2)])


@given(values=st.lists(st.tuples(positive, positive), min_size=2, max_size=8), scale=positive)
def test_the_ratio_does_not_depend_on_the_unit(values: list[tuple[float, float]], scale: float) -> None:
    def ratio(factor: float) -> float:
        scaled = [(baseline * factor, level * factor) for baseline, level in values]
        (found,) = compare(pairs(*scaled), metric="goodput", factor="runtime", baseline="runc")
        assert found.ratio is not None
        return found.ratio

    assert ratio(scale) == pytest.approx(ratio(1.0), rel=1e-6)


@given(values=st.lists(st.tuples(positive, positive), min_size=2, max_size=8))
def test_swapping_the_sides_inverts_ratio_and_interval(values: list[tuple[float, float]]) -> None:
    (there,) = compare(pairs(*values), metric="goodput", factor="runtime", baseline="runc")
    (back,) = compare(
        pairs(*((level, baseline) for baseline, level in values)), metric="goodput", factor="runtime", baseline="runc"
    )
    assert there.ratio is not None and back.ratio is not None and there.low is not None and back.high is not None
    assert math.log(there.ratio) == pytest.approx(-math.log(back.ratio), abs=1e-6)
    if math.isfinite(back.high):
        assert there.low * back.high == pytest.approx(1.0, rel=1e-6)


@given(logs=st.lists(st.floats(min_value=-5, max_value=5), min_size=2, max_size=10))
def test_the_interval_holds_the_geometric_mean(logs: list[float]) -> None:
    bounds = interval(logs, kind="fixed", confidence=0.95)
    assert bounds is not None
    mean = math.fsum(logs) / len(logs)
    assert bounds.low - 1e-9 <= mean <= bounds.high + 1e-9


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    """3000 draws of four log-normal blocks: 95 % +- 1.2 % (three standard errors)."""
    draw = random.Random(20240201)
    covered = 0
    for _ in range(3000):
        bounds = interval([draw.gauss(math.log(0.9), 0.1) for _ in range(4)], kind="fixed", confidence=0.95)
        assert bounds is not None
        covered += bounds.contains(math.log(0.9))
    assert covered / 3000 == pytest.approx(0.95, abs=0.012)
