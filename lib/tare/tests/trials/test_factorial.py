from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.errors import UsageError
from tare.trials.factorial import fraction, full

LEVELS = st.dictionaries(
    st.sampled_from("abcd"), st.lists(st.integers(0, 9), min_size=1, max_size=3, unique=True), max_size=4
)


@given(LEVELS)
def test_full_has_every_combination_once(levels: dict[str, list[int]]) -> None:
    found = full(levels)
    assert [tuple(each.values()) for each in found] == list(itertools.product(*levels.values()))
    assert all(list(each) == list(levels) for each in found)


def test_a_fraction_is_balanced_and_smaller() -> None:
    levels = {name: ("low", "high") for name in ("a", "b", "c")}
    found = fraction(levels, resolution=3)
    assert len(found) == 4
    for name in levels:
        assert [each[name] for each in found].count("low") == 2
    # No two main effects are aliased: every pair of factors has all four combinations.
    for one, other in itertools.combinations(levels, 2):
        assert len({(each[one], each[other]) for each in found}) == 4


def test_a_fraction_needs_two_levels_of_every_factor() -> None:
    with pytest.raises(UsageError, match=r"a fraction needs two levels .* found 3 of 'rate'"):
        fraction({"rate": (1, 2, 3), "cpus": (1, 2)}, resolution=3)


def test_a_resolution_that_the_factors_do_not_allow_is_told() -> None:
    with pytest.raises(UsageError, match="resolution=3: not possible with 1 factors"):
        fraction({"rate": (1, 2)}, resolution=3)
