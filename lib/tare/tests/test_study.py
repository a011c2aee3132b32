from __future__ import annotations

import dataclasses

from tare.manifest import Study, StudyFigure
from tare.study import beside
from tare.verdicts.compare import Comparison

FIGURE = StudyFigure(
    metric="goodput", levels={"runtime": "kata", "total_cpus": 2}, ratio=0.62, quote="throughput -38.02 %"
)
GENERAL = StudyFigure(metric="goodput", levels={"runtime": "kata"}, ratio=0.8, quote="roughly")
STUDY = Study(title="A study", authors=("A. Author",), figures=(GENERAL, FIGURE))
ROW = Comparison(
    metric="goodput",
    level="kata",
    condition={"total_cpus": 2.0, "send_rate": 300.0},
    aa=False,
    value=60.0,
    baseline_value=100.0,
    ratio=0.6,
    low=0.5,
    high=0.7,
    deviation=0.1,
    n=3,
    left_out=0,
    confidence=0.95,
)


def test_the_figure_that_names_most_levels_stands_beside_a_row() -> None:
    assert beside(STUDY, ROW, factor="runtime") == FIGURE
    assert beside(STUDY, dataclasses.replace(ROW, condition={"total_cpus": 4.0}), factor="runtime") == GENERAL


def test_another_level_or_metric_has_no_figure() -> None:
    assert beside(STUDY, dataclasses.replace(ROW, level="gvisor"), factor="runtime") is None
    assert beside(STUDY, dataclasses.replace(ROW, metric="latency_mean"), factor="runtime") is None
    assert beside(None, ROW, factor="runtime") is None
