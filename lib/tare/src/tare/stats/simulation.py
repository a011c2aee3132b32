"""Experiments on made noise, run as the planner runs them: how often is a verdict wrong, how soon is it right?

Everything is on the logarithm of what is measured: a slot is the time of one trial, and noise of deviation 0.05 moves
it by about 5 %. Arrays hold one simulated experiment a row. The shapes have a deviation, or a typical size, of 1.

Only the tests and `bench/verdict` import it: both must ask the same noise and the same judge. It stands beside
`sequence` because `below` is that module's interval for many experiments at once, from the same parts, and changes
with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tare.stats.sequence import ROUNDING, Method, least_values, order_rank, t_factor

Array: TypeAlias = npt.NDArray[np.float64]
Flags: TypeAlias = npt.NDArray[np.bool_]
Noise: TypeAlias = Callable[[np.random.Generator, int, int], Array]

Order = Literal["random", "in fours"]
"""How a block is ordered: drawn anew each time; or balanced in groups of four.

Of such a group two blocks have the order drawn for it and two its reverse, arranged by chance. Drift cancels, but what
is periodic need not: docs/explanation/statistics.md says why the planner does not do it.
"""


def differences(rng: np.random.Generator, noise: Array, *, cells: int, order: Order = "random") -> Array:
    """Return each block's value, level minus baseline, of an experiment in which the two are the same.

    ``noise`` has a row an experiment and a column a slot; a block takes the next ``cells`` slots, in which the
    baseline, the level and ``cells`` - 2 further cells stand in random order.
    """
    rows, slots = noise.shape
    blocks = slots // cells
    positions = rng.permuted(np.tile(np.arange(cells), (rows, blocks, 1)), axis=2)
    if order == "in fours":
        positions = positions[:, np.arange(blocks) // 4 * 4]
        groups = rng.permuted(np.tile([False, False, True, True], (rows, -(-blocks // 4), 1)), axis=2)
        reverse = groups.reshape(rows, -1)[:, :blocks, None]
        positions = np.where(reverse, cells - 1 - positions, positions)
    slot = positions + cells * np.arange(blocks)[:, None]
    return np.take_along_axis(noise, slot[:, :, 1], axis=1) - np.take_along_axis(noise, slot[:, :, 0], axis=1)


def excluded(values: Array, *, alpha: float, truth: float = 0.0, method: Method = "t") -> Flags:
    """Return, for every row and after every value, whether `sequence.sequence` leaves ``truth`` outside."""
    return (below(values, alpha=alpha, point=truth, method=method)) | (
        below(-values, alpha=alpha, point=-truth, method=method)
    )


def below(values: Array, *, alpha: float, point: float, method: Method = "t") -> Flags:
    """Return, for every row and after every value, whether the whole interval of `sequence.sequence` is below."""
    counts = np.arange(1, values.shape[1] + 1)
    ranks = np.array([order_rank(int(n), alpha=alpha) for n in counts])
    by_order = (ranks > 0) & (np.cumsum(values >= point, axis=1) < ranks)
    if method == "median":
        return by_order
    factors = np.array([t_factor(int(n), alpha=alpha) if n >= least_values(alpha) else np.inf for n in counts])
    centred = values - values[:, :1]
    mean = np.cumsum(centred, axis=1) / counts
    squares = np.cumsum(centred**2, axis=1) - counts * mean**2
    deviation = np.sqrt(np.maximum(squares, 0) / np.maximum(counts - 1, 1))
    finite = np.where(np.isinf(factors), 0, factors)
    by_t = np.isfinite(factors) & (values[:, :1] + mean + finite * deviation < point)
    low, high = np.minimum.accumulate(values, axis=1), np.maximum.accumulate(values, axis=1)
    equal = high - low <= ROUNDING * np.maximum(np.abs(low), np.abs(high))
    return np.where(equal, by_order, by_t)


def normal(rng: np.random.Generator, rows: int, slots: int) -> Array:
    return rng.normal(size=(rows, slots))


def log_normal(rng: np.random.Generator, rows: int, slots: int) -> Array:
    """Skewed to the slow side also after the logarithm."""
    return np.exp(rng.normal(size=(rows, slots)))


def student_t3(rng: np.random.Generator, rows: int, slots: int) -> Array:
    return rng.standard_t(3, size=(rows, slots))


def contaminated(rng: np.random.Generator, rows: int, slots: int) -> Array:
    """One slot in ten is disturbed: slower by a normal deviate's size, ten times as large."""
    disturbed = rng.random((rows, slots)) < 0.1
    return normal(rng, rows, slots) + 10 * disturbed * np.abs(normal(rng, rows, slots))


def two_modes(rng: np.random.Generator, rows: int, slots: int) -> Array:
    """Fast or slow by the toss of a coin (turbo, NUMA), with a tenth of the gap as noise."""
    return rng.integers(0, 2, size=(rows, slots)) + 0.1 * normal(rng, rows, slots)


def autoregressive(coefficient: float) -> Noise:
    """Slots resemble their neighbours: AR(1), stationary, of deviation 1."""

    def noise(rng: np.random.Generator, rows: int, slots: int) -> Array:
        values = normal(rng, rows, slots)
        for slot in range(1, slots):
            values[:, slot] = coefficient * values[:, slot - 1] + np.sqrt(1 - coefficient**2) * values[:, slot]
        return values

    return noise


def random_walk(rng: np.random.Generator, rows: int, slots: int) -> Array:
    return np.cumsum(normal(rng, rows, slots), axis=1)


def drift(per_slot: float) -> Noise:
    """A straight line and noise of deviation 1."""
    return lambda rng, rows, slots: normal(rng, rows, slots) + per_slot * np.arange(slots)


def step(rng: np.random.Generator, rows: int, slots: int) -> Array:
    """The machine becomes slower by ten deviations of its noise, once, at any slot."""
    at = rng.integers(0, slots, size=(rows, 1))
    return normal(rng, rows, slots) + 10.0 * (np.arange(slots) >= at)


def periodic(period_slots: float, amplitude: float) -> Noise:
    """A sine wave that begins anywhere, and noise of deviation 1."""

    def noise(rng: np.random.Generator, rows: int, slots: int) -> Array:
        turns = np.arange(slots) / period_slots + rng.random((rows, 1))
        return normal(rng, rows, slots) + amplitude * np.sin(2 * np.pi * turns)

    return noise


NOISES: Mapping[str, Noise] = {
    "normal": normal,
    "log-normal": log_normal,
    "Student t, 3 degrees": student_t3,
    "contaminated": contaminated,
    "two modes": two_modes,
    "AR(1) 0.5": autoregressive(0.5),
    "AR(1) 0.9": autoregressive(0.9),
    "random walk": random_walk,
    "step": step,
    "drift, 0.1 a slot": drift(0.1),
    "drift, 20 a slot": drift(20.0),
    "periodic, 7.3 slots": periodic(7.3, 3.0),
    "periodic, 4 slots": periodic(4.0, 20.0),
}
