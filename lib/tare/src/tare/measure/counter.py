"""Counters that were read now and then, looked at between two times. Pure."""

from __future__ import annotations

import bisect
from collections.abc import Sequence


def rise(times: Sequence[float], values: Sequence[float], between: tuple[float, float]) -> float:
    """Return by how much a counter rose between two times, from its ``values`` at ascending ``times``.

    Between the readings it is taken to rise evenly, outside of them to stand still. Raises ValueError without any.
    """
    if not times:
        raise ValueError("the rise of a counter that was never read")
    began, ended = between
    return _at(times, values, ended) - _at(times, values, began)


def _at(times: Sequence[float], values: Sequence[float], when: float) -> float:
    after = bisect.bisect_left(times, when)
    if after == 0:
        return values[0]
    if after == len(times):
        return values[-1]
    share = (when - times[after - 1]) / (times[after] - times[after - 1])
    return values[after - 1] + share * (values[after] - values[after - 1])
