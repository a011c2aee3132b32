"""One error rate for several budgets; that it holds is simulated in test_false_alarms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.stats.multiplicity import directional_level, holm


def test_holm_on_his_own_kind_of_example() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx((0.03, 0.06, 0.06))
    assert holm([]) == ()
    assert holm([0.6, 0.7]) == (1.0, 1.0)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_monotone_and_between_no_adjustment_and_bonferroni(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    for p_value, other in zip(p_values, adjusted, strict=True):
        assert p_value <= other <= min(1.0, len(p_values) * p_value) or other == max(adjusted)
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    assert [adjusted[index] for index in order] == sorted(adjusted)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.floats(0.001, 0.5))
def test_holm_rejects_what_the_step_down_procedure_rejects(p_values: list[float], alpha: float) -> None:
    remaining = sorted(range(len(p_values)), key=p_values.__getitem__)
    rejected = set()
    while remaining and p_values[remaining[0]] * len(remaining) <= alpha:
        rejected.add(remaining.pop(0))
    assert {index for index, p_value in enumerate(holm(p_values)) if p_value <= alpha} == rejected


def test_a_p_value_is_a_probability() -> None:
    with pytest.raises(ValueError, match=r"p-value: expected a number from 0 to 1, found 1\.2"):
        holm([0.5, 1.2])


def test_levels_of_budgets_start_at_bonferroni_and_grow() -> None:
    assert directional_level(0.05, budgets=1, decided=0) == 0.05
    assert [directional_level(0.06, budgets=3, decided=d) for d in range(3)] == pytest.approx([0.02, 0.024, 0.03])


@pytest.mark.parametrize(("budgets", "decided"), [(2, 2), (2, -1), (0, 0)])
def test_no_level_for_a_budget_that_is_not_there(budgets: int, decided: int) -> None:
    with pytest.raises(ValueError, match=f"decided: expected 0 to {budgets - 1} of {budgets} budgets, found {decided}"):
        directional_level(0.05, budgets=budgets, decided=decided)


def test_the_error_rate_is_checked() -> None:
    with pytest.raises(ValueError, match="alpha: expected an error rate"):
        directional_level(1.5, budgets=1, decided=0)
