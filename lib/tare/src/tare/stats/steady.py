"""Where the warm-up ends, by change points; "nowhere" is an answer.

Follows E. Barrett, C. F. Bolz-Tereick, R. Killick, S. Mount and L. Tratt, "Virtual machine warmup blows hot and cold"
(OOPSLA 2017): cut the series where its level changes, and call it steady from the first segment on whose level is
that of the last, if that leaves enough of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tare.stats.dependence import drift

Values: TypeAlias = npt.NDArray[np.float64]

FEWEST = 10
SHORTEST_SEGMENT = 3
CANDIDATES = 120
"""A longer series may change at every n-th value only, so that the search stays well under a second."""

PENALTY = 2.5
"""What a further level, or a slope, must save: times log n, in absolute deviations of the noise."""

TREND_P = 0.001


def steady_from(series: Sequence[float], *, tolerance: float = 0.02, least_share: float = 1 / 3) -> int | None:
    """Return the index from which the series keeps its level, or None if it reaches no steady state.

    ``series`` has a value for each second (or iteration). Segments whose medians differ by at most ``tolerance`` of
    the last one's count as one level: change points find differences that no budget asks for. None if the steady part
    is less than ``least_share`` of the series, if a straight line explains the series better than levels do, and for
    fewer than 10 values, which cannot tell. Change points by PELT (R. Killick, P. Fearnhead and I. Eckley, JASA 107,
    2012) with the sum of absolute deviations from the median as cost, which single outliers do not move. Raises
    ValueError for a tolerance below 0 or a share outside (0, 1].
    """
    if tolerance < 0 or not 0 < least_share <= 1:
        raise ValueError(f"expected a tolerance from 0 and a share in (0, 1], found {tolerance!r} and {least_share!r}")
    values = np.asarray(series, dtype=np.float64)
    if len(values) < FEWEST:
        return None
    penalty = PENALTY * np.log(len(values)) * _noise(values)
    segments = np.split(values, _change_points(values, penalty))
    band = tolerance * abs(float(np.median(segments[-1])))
    if _is_a_line(values, segments, penalty) and _trend(values) > band:
        return None
    start = _start_of_last_level(segments, band)
    while _trend(values[start:]) > band:
        # The tail of a curve that flattens out: what is left may be steady without its first quarter.
        start += max(1, (len(values) - start) // 4)
    return start if len(values) - start >= least_share * len(values) else None


def _start_of_last_level(segments: Sequence[Values], band: float) -> int:
    last = float(np.median(segments[-1]))
    start = sum(len(segment) for segment in segments)
    for segment in reversed(segments):
        if abs(float(np.median(segment)) - last) > band:
            break
        start -= len(segment)
    return start


def _trend(values: Values) -> float:
    """Return by how much the values rise or fall from end to end; 0 if that may be chance."""
    slope, p_value = drift(values.tolist())
    return abs(slope) * len(values) if p_value < TREND_P else 0.0


def _is_a_line(values: Values, segments: Sequence[Values], penalty: float) -> bool:
    slope, _ = drift(values.tolist())
    of_line = _deviations(values - slope * np.arange(len(values))) + penalty
    of_levels = sum(_deviations(segment) for segment in segments) + penalty * (len(segments) - 1)
    return of_line < of_levels


def _deviations(values: Values) -> float:
    return float(np.abs(values - np.median(values)).sum())


def _change_points(values: Values, penalty: float) -> list[int]:
    if penalty == 0:
        return [int(index) + 1 for index in np.flatnonzero(np.diff(values))]
    from ruptures import Pelt

    search = Pelt(model="l1", min_size=SHORTEST_SEGMENT, jump=max(1, len(values) // CANDIDATES))
    return [int(point) for point in search.fit(values.reshape(-1, 1)).predict(pen=penalty)[:-1]]


def _noise(values: Values) -> float:
    """Return the long-run deviation of the noise, from differences, which changes of level barely move.

    Taken as AR(1): neighbours at distance 1 and 2 differ by variances of 2 s^2 (1 - r) and 2 s^2 (1 - r^2), so their
    quotient is 1 + r, and a mean wanders like that of independent values of variance s^2 (1 + r) / (1 - r).
    """
    near = float(np.median(np.abs(np.diff(values)))) ** 2
    far = float(np.median(np.abs(values[2:] - values[:-2]))) ** 2
    if near == 0:
        return 1.4826 * math.sqrt(far / 2)
    r = min(max(far / near - 1, 0.0), 0.5)
    return 1.4826 * math.sqrt(near / 2 * (1 + r)) / (1 - r)
