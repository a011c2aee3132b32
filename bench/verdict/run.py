"""How often is each rule wrong, and how many trials and seconds until it is right? Writes bench/verdict/results.json.

    python bench/verdict/run.py && python bench/verdict/page.py

Deterministic: the figures follow from the seed and the recorded traces.
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import numpy as np
from rules import ALPHA, FIXED, MOST_BLOCKS, RULES, SLOTS
from sources import DEVIATION, sources

RESULTS = Path(__file__).parent / "results.json"
EFFECTS = (0.0, 0.02, 0.05, 0.10, 0.30)
ROWS = 2000
SEED = 20261121


def figures() -> list[dict[str, object]]:
    """Return a row for each source, rule and effect: shares of verdicts, trials and seconds (means)."""
    table: list[dict[str, object]] = []
    for source in sources():
        rng = np.random.default_rng((SEED, zlib.crc32(source.name.encode())))
        seconds = source.seconds(rng, rows=ROWS, slots=SLOTS)
        for name, rule in RULES.items():
            for effect in EFFECTS:
                verdicts = rule(np.random.default_rng(SEED), seconds, 1 + effect)
                right = 1 if effect else 0
                table.append(
                    {
                        "kind": source.kind,
                        "source": source.name,
                        "rule": name,
                        "effect": effect,
                        "right": float(np.mean(verdicts.direction == right)),
                        "wrong": float(np.mean((verdicts.direction != right) & (verdicts.direction != 0))),
                        "trials": float(np.mean(verdicts.trials)),
                        "seconds": round(float(np.mean(verdicts.seconds)), 3),
                    }
                )
    return table


def main() -> None:
    facts = {
        "seed": SEED,
        "experiments": ROWS,
        "alpha": ALPHA,
        "most_blocks": MOST_BLOCKS,
        "fixed_measurements_of_each_side": FIXED,
        "deviation_of_simulated_slots": DEVIATION,
    }
    rows = ",\n    ".join(json.dumps(row) for row in figures())
    RESULTS.write_text(f'{{\n  "facts": {json.dumps(facts)},\n  "figures": [\n    {rows}\n  ]\n}}\n')


if __name__ == "__main__":
    main()
