"""One error rate for several budgets; that it holds is simulated in test_false_alarms."""

from __future__ import annotations

import pytest

from tare.stats.multiplicity import directional_level


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
