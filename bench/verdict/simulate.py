"""False alarms at any look, coverage and power of the confidence sequences. Writes bench/verdict/simulations.json.

    python bench/verdict/simulate.py && python bench/verdict/page.py

Deterministic: the figures follow from the seed.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from scipy.stats import t as student

from tare.stats.sequence import Method, t_factor
from tare.stats.simulation import NOISES, Array, Flags, Order, differences, excluded

SIMULATIONS = Path(__file__).parent / "simulations.json"
ALPHA = 0.05
BLOCKS = 40
ROWS = 20_000
CELLS = (2, 3, 4)
EFFECTS = (0.25, 0.5, 1.0, 2.0, 4.0)
SEED = 20261121


def t_from_the_third_block(values: Array) -> Flags:
    """The t sequence without the rule of `least_values`."""
    return _outside(values, np.array([t_factor(n, alpha=ALPHA) for n in range(1, BLOCKS + 1)]))


def student_at_every_look(values: Array) -> Flags:
    """Student's 95 % interval, looked at after every block from the third on, as if it were the only look."""
    n = np.arange(3, BLOCKS + 1)
    return _outside(values, np.concatenate([[np.inf, np.inf], student.ppf(1 - ALPHA / 2, n - 1) / np.sqrt(n)]))


def _outside(values: Array, factors: Array) -> Flags:
    n = np.arange(1, BLOCKS + 1)
    mean = np.cumsum(values, axis=1) / n
    deviation = np.sqrt(np.maximum(np.cumsum(values**2, axis=1) - n * mean**2, 0) / np.maximum(n - 1, 1))
    with np.errstate(invalid="ignore"):  # an infinite factor of no deviation excludes nothing
        outside: Flags = np.abs(mean) > factors * deviation
    return outside


JUDGES: Mapping[str, tuple[Order, Callable[[Array], Flags]]] = {
    "t": ("random", lambda values: excluded(values, alpha=ALPHA)),
    "median": ("random", lambda values: excluded(values, alpha=ALPHA, method="median")),
    "t, orders balanced in fours": ("in fours", lambda values: excluded(values, alpha=ALPHA)),
    "t from the third block": ("random", t_from_the_third_block),
    "Student at every look": ("random", student_at_every_look),
}


def false_alarms() -> list[dict[str, object]]:
    """Return for each noise the share of runs of 40 blocks in which the true ratio is ever excluded.

    The largest share over 2, 3 and 4 cells a block.
    """
    rows: list[dict[str, object]] = []
    for noise in NOISES:
        rates: dict[str, list[float]] = {}
        for cells in CELLS:
            slots = NOISES[noise](_seeded(noise, cells), ROWS, BLOCKS * cells)
            values = {
                order: differences(_seeded(noise, cells, order), slots, cells=cells, order=order)
                for order in ("random", "in fours")
            }
            for name, (order, judge) in JUDGES.items():
                rates.setdefault(name, []).append(float(judge(values[order]).any(axis=1).mean()))
        rows.append({"noise": noise} | {name: max(found) for name, found in rates.items()})
    return rows


def power() -> list[dict[str, object]]:
    """Return for each effect (in deviations of a block's value, normal noise) how soon it is told from none."""
    rows: list[dict[str, object]] = []
    methods: tuple[Method, ...] = ("t", "median")
    for effect in EFFECTS:
        values = _seeded("power", effect).normal(effect, 1, size=(ROWS, BLOCKS))
        for method in methods:
            told = excluded(values, alpha=ALPHA, method=method)
            stop = np.where(told.any(axis=1), told.argmax(axis=1), BLOCKS - 1)
            misses = excluded(values, alpha=ALPHA, truth=effect, method=method)
            rows.append(
                {
                    "effect": effect,
                    "method": method,
                    "decided": {str(n): float(told[:, :n].any(axis=1).mean()) for n in (6, 10, 20, 40)},
                    "median_blocks": float(np.median(np.where(told.any(axis=1), stop + 1, np.inf))),
                    "covered_when_stopped": float(1 - misses[np.arange(ROWS), stop].mean()),
                    "covered_always": float(1 - misses.any(axis=1).mean()),
                }
            )
    for row in rows:
        if row["median_blocks"] == float("inf"):
            row["median_blocks"] = None
    return rows


def _seeded(*names: object) -> np.random.Generator:
    return np.random.default_rng((SEED, zlib.crc32(repr(names).encode())))


def main() -> None:
    facts = {"seed": SEED, "runs": ROWS, "alpha": ALPHA, "blocks": BLOCKS}
    SIMULATIONS.write_text(
        json.dumps({"facts": facts, "false_alarms": false_alarms(), "power": power()}, indent=1) + "\n"
    )


if __name__ == "__main__":
    main()
