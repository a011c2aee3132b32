"""False alarms at any stopping time, by simulation of what the product does: random order, judged after every block.

Where a rate must be at most 5 %, the 99 % upper confidence bound of the simulated rate must be; where a method must be
seen to fail, the 99 % lower bound must be above 5 %. The seeds are fixed.
"""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from scipy.stats import beta, t

from tare.stats.multiplicity import directional_level
from tare.stats.sequence import Method, sequence
from tare.stats.simulation import (
    NOISES,
    Array,
    Flags,
    Order,
    autoregressive,
    below,
    differences,
    excluded,
    normal,
    periodic,
)

ALPHA = 0.05
BLOCKS = 40
ROWS = 10_000


def seeded(*names: object) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(repr(names).encode()))


def surely_at_most(hits: Flags, rate: float) -> bool:
    """Clopper and Pearson's upper 99 % bound."""
    return float(beta.ppf(0.99, hits.sum() + 1, len(hits) - hits.sum())) <= rate


def surely_above(hits: Flags, rate: float) -> bool:
    return float(beta.ppf(0.01, hits.sum(), len(hits) - hits.sum() + 1)) > rate


def no_effect(name: str, cells: int, order: Order = "random") -> Array:
    rng = seeded(name, cells, order)
    return differences(rng, NOISES[name](rng, ROWS, BLOCKS * cells), cells=cells, order=order)


@pytest.mark.parametrize("cells", [2, 4])
@pytest.mark.parametrize("noise", NOISES)
def test_at_most_one_run_in_twenty_ever_excludes_the_truth(noise: str, cells: int) -> None:
    values = no_effect(noise, cells)
    assert surely_at_most(excluded(values, alpha=ALPHA).any(axis=1), ALPHA)
    assert surely_at_most(excluded(values, alpha=ALPHA, method="median").any(axis=1), ALPHA)


@pytest.mark.parametrize("alpha", [0.1, 0.025])
@pytest.mark.parametrize("noise", ["normal", "drift, 20 a slot", "periodic, 4 slots"])
def test_other_error_rates_hold_too(noise: str, alpha: float) -> None:
    assert not surely_above(excluded(no_effect(noise, 2), alpha=alpha).any(axis=1), alpha)


def test_the_truth_may_be_an_effect() -> None:
    rng = seeded("effect")
    values = differences(rng, normal(rng, ROWS, 2 * BLOCKS), cells=2) + 3.0
    assert surely_at_most(excluded(values, alpha=ALPHA, truth=3.0).any(axis=1), ALPHA)
    assert excluded(values, alpha=ALPHA, truth=0.0).any(axis=1).mean() > 0.99


def test_looking_at_a_student_interval_after_every_block_fails() -> None:
    """What the sequences are for; and that this simulation can see a method that does not hold."""
    values = no_effect("normal", 2)
    n = np.arange(1, BLOCKS + 1)
    mean = np.cumsum(values, axis=1) / n
    deviation = np.sqrt((np.cumsum(values**2, axis=1) - n * mean**2)[:, 5:] / (n[5:] - 1))
    outside = np.abs(mean[:, 5:]) > t.ppf(0.975, n[5:] - 1) * deviation / np.sqrt(n[5:])
    assert surely_above(outside.any(axis=1), 3 * ALPHA)


def test_the_t_sequence_alone_does_not_hold_under_strong_drift_from_three_blocks_on() -> None:
    """Why `least_values` is there: under drift the differences have one size, and three equal signs are no rarity."""
    from tare.stats.sequence import t_sequence

    values = no_effect("drift, 20 a slot", 2)[:1000, :6]
    outside = [not all(t_sequence(row[:n], alpha=ALPHA).contains(0) for n in range(3, 7)) for row in values.tolist()]
    assert surely_above(np.array(outside), ALPHA)


def test_balancing_orders_in_groups_of_four_would_not_hold() -> None:
    """Why every block's order is drawn anew: an order used again repeats what a periodic disturbance did to it."""
    for cells in (2, 4):
        values = no_effect("periodic, 4 slots", cells, "in fours")
        assert surely_above(excluded(values, alpha=ALPHA).any(axis=1), 2 * ALPHA)


@pytest.mark.parametrize("method", ["t", "median"])
def test_the_simulation_judges_as_the_product_does(method: Method) -> None:
    rng = seeded("same", method)
    values = rng.normal(size=(40, 15))
    values[:10] = np.round(values[:10])
    values[10:14] = 0.25
    found = excluded(values, alpha=0.1, truth=0.25, method=method)
    for row, outside in zip(values.tolist(), found.tolist(), strict=True):
        said = [not sequence(row[:n], alpha=0.1, method=method).contains(0.25) for n in range(1, 16)]
        assert outside == said


@pytest.mark.parametrize("order", ["random", "in fours"])
def test_orders_are_permutations_of_each_block(order: Order) -> None:
    """On a noise that tells its slot, a block's value is a distance between two of its slots."""
    slots = np.tile(np.arange(24.0), (500, 1))
    values = differences(seeded(order), slots, cells=3, order=order)
    assert values.shape == (500, 8)
    assert set(np.unique(values)) == {-2, -1, 1, 2}
    assert abs(values.mean()) < 0.1
    balanced = bool(np.all(values[:, :4].sum(axis=1) == 0) and np.all(values[:, 4:].sum(axis=1) == 0))
    assert balanced == (order == "in fours")


def test_shapes_are_what_they_say() -> None:
    rng = seeded("shapes")
    for noise in NOISES.values():
        assert noise(rng, 3, 50).shape == (3, 50)
        assert np.isfinite(noise(rng, 3, 50)).all()
    correlated = autoregressive(0.9)(rng, 2000, 30)
    assert correlated.std() == pytest.approx(1, abs=0.02)
    assert np.corrcoef(correlated[:, 10], correlated[:, 11])[0, 1] == pytest.approx(0.9, abs=0.02)
    assert periodic(7.3, 3.0)(rng, 2000, 30).var() == pytest.approx(1 + 9 / 2, rel=0.05)


@pytest.mark.parametrize("budgets", [1, 3])
@pytest.mark.parametrize("bound", [0.0, 0.3], ids=["at the truth", "above the truth"])
def test_budgets_share_their_error_rate(budgets: int, bound: float) -> None:
    """Budgets on correlated metrics, each judged until decided: a wrong verdict on any in at most 5 % of the runs."""
    rows = 4000
    rng = seeded("budgets", budgets, bound)
    shared = rng.normal(size=(rows, BLOCKS))
    metrics = [(shared + rng.normal(size=(rows, BLOCKS))) / np.sqrt(2) for _ in range(budgets)]
    bounds = [0.0, *[bound] * (budgets - 1)]
    # by [decided so far][budget]: is the interval all above the bound (missed), or all below it (held)?
    levels = [directional_level(ALPHA, budgets=budgets, decided=decided) for decided in range(budgets)]
    missed = np.array([[below(-v, alpha=a, point=-b) for v, b in zip(metrics, bounds, strict=True)] for a in levels])
    held = np.array([[below(v, alpha=a, point=b) for v, b in zip(metrics, bounds, strict=True)] for a in levels])
    wrong = np.zeros(rows, dtype=bool)
    for row in range(rows):
        open_budgets = set(range(budgets))
        for block in range(BLOCKS):
            for budget in sorted(open_budgets):
                decided = budgets - len(open_budgets)
                if missed[decided, budget, row, block] or held[decided, budget, row, block]:
                    # The truth, 0, is within every bound: "missed" is wrong.
                    wrong[row] |= bool(missed[decided, budget, row, block])
                    open_budgets.remove(budget)
    assert surely_at_most(wrong, ALPHA)
