"""The published study beside one's own result. Pure.

A figure stands beside a row only where the lab has every level that the figure names; a figure
without such a row is told apart, so that nobody reads it as a confirmation or a contradiction.
"""

from __future__ import annotations

from collections.abc import Sequence

from tare.manifest import Study, StudyFigure
from tare.trials.levels import matches
from tare.verdicts.compare import Comparison


def applies(figure: StudyFigure, comparison: Comparison, *, factor: str) -> bool:
    """Say whether the figure was printed for this metric and for levels that the comparison has."""
    levels = {**comparison.condition, factor: comparison.level}
    return figure.metric == comparison.metric and matches(levels, figure.levels)


def beside(study: Study | None, comparison: Comparison, *, factor: str) -> StudyFigure | None:
    """Return the study's figure for a comparison, the one that names the most levels when several apply."""
    fitting: Sequence[StudyFigure] = [
        figure for figure in (study.figures if study else ()) if applies(figure, comparison, factor=factor)
    ]
    return max(fitting, key=lambda figure: len(figure.levels), default=None)
