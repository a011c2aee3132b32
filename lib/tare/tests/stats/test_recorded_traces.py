"""A/A traces recorded on a real, busy machine: no more false alarms than on made noise."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import beta

from tare.stats.sequence import Method
from tare.stats.simulation import Array, differences, excluded

TRACES = Path(__file__).parents[4] / "bench" / "verdict" / "traces"
NAMES = ("cpu", "tcp", "memory", "processes")
ROWS, BLOCKS = 10_000, 40


def log_seconds(name: str) -> Array:
    with (TRACES / f"{name}.csv").open(newline="") as stream:
        return np.log([float(row["seconds"]) for row in csv.DictReader(stream)])


@pytest.mark.parametrize("method", ["t", "median"])
@pytest.mark.parametrize("cells", [2, 4])
@pytest.mark.parametrize("name", NAMES)
def test_at_most_one_run_in_twenty_ever_excludes_no_effect(name: str, cells: int, method: Method) -> None:
    """Windows of the trace overlap, but the order of every block is drawn anew, and that is what the rate rests on."""
    rng = np.random.default_rng(cells)
    trace = log_seconds(name)
    begin = rng.integers(0, len(trace) - BLOCKS * cells + 1, size=(ROWS, 1))
    values = differences(rng, trace[begin + np.arange(BLOCKS * cells)], cells=cells)
    hits = excluded(values, alpha=0.05, method=method).any(axis=1).sum()
    assert beta.ppf(0.99, hits + 1, ROWS - hits) <= 0.05


def test_the_traces_are_whole_and_say_where_they_are_from() -> None:
    facts = json.loads((TRACES / "host.json").read_text())
    assert facts["cpu_model"]
    assert facts["kernel"]
    assert sorted(facts["load_average_before_and_after"]) == sorted(NAMES)
    for name in NAMES:
        trace = log_seconds(name)
        assert len(trace) == facts["slots"] >= 400
        assert np.isfinite(trace).all()
