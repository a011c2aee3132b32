from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.errors import UsageError
from tare.stats.sequence import Method
from tare.verdicts.budget import equivalent, non_inferior, ranking
from tare.verdicts.estimate import Figure


@dataclass(frozen=True)
class Stored:
    """A run that is what it is."""

    method: Method = "t"


RUN = Stored()


def figure(
    values: Mapping[int, float],
    text: str = "latency(x)",
    *,
    unit: str = "s",
    better: Literal["higher", "lower"] = "lower",
    source: Stored = RUN,
    blocks: int | None = None,
) -> Figure:
    return Figure(
        text=text,
        unit=unit,
        better=better,
        source=source,
        values=lambda: values,
        blocks=lambda: len(values) if blocks is None else blocks,
    )


def level(values: list[float], text: str = "latency(x)", **rest: object) -> Figure:
    return figure(dict(enumerate(values)), text, **rest)  # type: ignore[arg-type]


ONE = [1.0, 1.1, 0.9, 1.05, 0.95, 1.0, 1.02, 0.97, 1.01, 0.99]
TWO = [2.0, 2.22, 1.79, 2.11, 1.9, 2.01, 2.03, 1.95, 2.02, 1.98]
BASE = level(ONE, "latency(base)")
TWICE = level(TWO, "latency(twice)")

BLOCKS = st.lists(st.floats(0.5, 2.0), min_size=3, max_size=12)


def test_a_ratio_is_taken_within_blocks() -> None:
    found = (TWICE / BASE).find(alpha=0.05)
    assert found.value == pytest.approx(2.0, rel=0.01)
    assert found.interval.low < 2.0 < found.interval.high and found.interval.width < 0.2
    assert (found.n, found.left_out) == (10, 0)


def test_a_difference_is_in_the_unit_of_its_figures() -> None:
    difference = TWICE - BASE
    assert difference.unit == "s"
    assert difference.find(alpha=0.05).value == pytest.approx(1.005, rel=0.01)
    assert (difference <= "1500 ms").judge(alpha=0.05).state == "held"
    assert (difference <= "0.5 s").judge(alpha=0.05).state == "missed"


@given(a=BLOCKS, scale=st.floats(0.1, 10))
def test_what_strikes_a_whole_block_falls_out_of_the_ratio(a: list[float], scale: float) -> None:
    slow = [value * scale * (1 + block) for block, value in enumerate(a)]
    ratio = level(slow) / level([value * (1 + block) for block, value in enumerate(a)])
    assert ratio.find(alpha=0.05).value == pytest.approx(scale)


@given(a=BLOCKS, b=BLOCKS)
def test_the_other_way_round_is_the_inverse(a: list[float], b: list[float]) -> None:
    one, other = (level(a) / level(b)).find(alpha=0.05), (level(b) / level(a)).find(alpha=0.05)
    assert one.value is not None and other.value is not None
    assert one.value * other.value == pytest.approx(1.0)
    if math.isfinite(one.interval.high) and one.interval.low > 0:
        assert one.interval.low == pytest.approx(1 / other.interval.high)


def test_one_less_a_ratio_is_a_share() -> None:
    loss = 1 - BASE / TWICE
    assert loss.show(loss.find(alpha=0.05).value) == "50.1 %"
    assert (loss <= "60 %").judge(alpha=0.05).state == "held"
    assert (loss <= "40 %").judge(alpha=0.05).state == "missed"
    assert ((TWICE / BASE) - 1 <= "110 %").judge(alpha=0.05).state == "held"


def test_ratios_of_ratios_and_differences_of_differences() -> None:
    assert ((TWICE / BASE) / (TWICE / BASE)).find(alpha=0.05).value == 1.0
    assert ((TWICE - BASE) - (TWICE - BASE)).find(alpha=0.05).value == 0.0
    assert (TWICE / BASE >= BASE / TWICE).judge(alpha=0.05).state == "held"


def test_blocks_without_a_value_are_left_out_and_counted() -> None:
    partial = figure({0: 2.0, 1: 2.2, 3: 0.0}, blocks=4)
    found = (partial / BASE).find(alpha=0.05)
    assert (found.n, found.left_out) == (2, 2)
    assert "2 left out without a value" in (partial / BASE >= 1).judge(alpha=0.05).lines()[0]


def test_nothing_measured_is_undecided() -> None:
    judged = (level([]) / BASE >= 0.5).judge(alpha=0.05)
    assert judged.state == "undecided" and "not bounded yet" in judged.lines()[0]


def test_runs_that_share_no_block_have_the_sum_of_their_intervals() -> None:
    earlier = level(ONE, "latency(base, then)", source=Stored(method="median"))
    ratio = (TWICE / earlier).find(alpha=0.05)
    assert ratio.value == pytest.approx(2.0, rel=0.01)
    assert ratio.interval.width > (TWICE / BASE).find(alpha=0.05).interval.width
    cost = (TWICE / BASE) / (level([2.0] * 10, source=earlier.sources[0]) / earlier)  # type: ignore[arg-type]
    assert cost.find(alpha=0.05).value == pytest.approx(1.0, rel=0.02)


def test_a_bare_number_for_a_time_shows_the_right_form() -> None:
    with pytest.raises(UsageError) as caught:
        _ = TWICE - BASE <= 0.5
    assert str(caught.value) == (
        "latency(twice) - latency(base) <= 0.5: 0.5 has no unit, and this is measured in s. Write '0.5 ms'."
    )


def test_figures_of_two_units_are_not_compared() -> None:
    with pytest.raises(UsageError, match="in s and in tx/s; compare figures of one unit"):
        _ = BASE / level([1.0], "goodput(x)", unit="tx/s")


def test_equality_and_truth_of_a_figure_are_refused() -> None:
    with pytest.raises(UsageError, match=r"two measured figures are never equal.*equivalent"):
        _ = BASE == TWICE
    with pytest.raises(UsageError, match="neither true nor false: compare it"):
        assert BASE / TWICE


def test_sums_and_products_of_figures_are_no_figures() -> None:
    for wrong in (lambda: BASE + TWICE, lambda: (TWICE / BASE) / BASE, lambda: (TWICE - BASE) / (TWICE - BASE)):
        with pytest.raises(TypeError):
            wrong()


def test_equivalence_needs_the_whole_interval_inside() -> None:
    near = level([value * 1.001 for value in ONE[:-1]] + [0.991], "latency(near)")
    assert equivalent(near, BASE, within="2 %").judge(alpha=0.05).state == "held"
    assert equivalent(TWICE, BASE, within="2 %").judge(alpha=0.05).state == "missed"
    noisy = level([1.0, 1.3, 0.8, 1.05, 0.9, 1.1, 1.0, 0.9, 1.1, 1.0], "latency(noisy)")
    assert equivalent(noisy, BASE, within=0.02).judge(alpha=0.05).state == "undecided"
    with pytest.raises(UsageError, match="expected a share between 0 and 1, such as '2 %', found 2"):
        equivalent(near, BASE, within=2)


def test_non_inferiority_knows_the_good_direction() -> None:
    assert non_inferior(TWICE, BASE, margin="5 %").judge(alpha=0.05).state == "missed"
    assert non_inferior(BASE, TWICE, margin="5 %").judge(alpha=0.05).state == "held"
    fast = level(TWO, "goodput(fast)", unit="tx/s", better="higher")
    slow = level(ONE, "goodput(slow)", unit="tx/s", better="higher")
    assert non_inferior(slow, fast, margin="5 %").judge(alpha=0.05).state == "missed"


def test_a_ranking_holds_when_every_pair_of_neighbours_does() -> None:
    most = level([4.0, 4.4, 3.61, 4.2, 3.8, 4.0, 4.1, 3.9, 4.0, 3.95], "latency(most)")
    assert ranking([BASE, TWICE, most]).judge(alpha=0.05).state == "held"
    missed = ranking([BASE, most, TWICE]).judge(alpha=0.05)
    assert missed.state == "missed"
    assert [line.split(":")[0] for line in missed.lines()] == ["missed", "held", "missed"]
    with pytest.raises(UsageError, match="expected two figures or more, the best first; found 1"):
        ranking([BASE])


def test_the_sentence_has_the_figure_the_interval_n_and_the_budget() -> None:
    sentence = (TWICE / BASE <= 1.5).judge(alpha=0.05).lines()[0]
    assert sentence.startswith("missed: latency(twice) / latency(base) = 2.00, interval 1.9")
    assert sentence.endswith("(95 %, valid at every look; n = 10 blocks), budget <= 1.50")
