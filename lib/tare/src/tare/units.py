"""How a value in base units is written for a person: scaled, rounded, with its unit."""

from __future__ import annotations

import math
from collections.abc import Iterable

_Scales = tuple[tuple[str, float], ...]

_SECONDS: _Scales = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6))
_BYTES: _Scales = (("GiB", 2.0**30), ("MiB", 2.0**20), ("KiB", 2.0**10), ("B", 1.0))


def show(value: float | None, unit: str) -> str:
    """Return a value (base units) as text: ``0.0123`` s is ``12.3 ms``; None is a dash."""
    if value is None:
        return "–"  # noqa: RUF001  # an en dash, as tables print what is not there
    if unit == "s":
        return _scaled(value, _SECONDS)
    if unit == "B":
        return _scaled(value, _BYTES)
    if unit == "1":
        return f"{round_to(value * 100)} %"
    return f"{round_to(value)} {unit}"


def round_to(value: float, digits: int = 3) -> str:
    """Return the value with ``digits`` significant digits and no exponent: ``276.6`` is ``277``, ``0.0`` is ``0``."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else f"{value}"
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    return f"{round(value, decimals):.{max(decimals, 0)}f}"


def ratio(value: float | None) -> str:
    """Return a ratio to the baseline, such as ``0.93``."""
    return "–" if value is None else round_to(value)  # noqa: RUF001


def axis(values: Iterable[float], unit: str) -> tuple[float, str]:
    """Return what one unit of an axis is in base units, and its name, so that the largest value reads well on it."""
    largest = max(map(abs, values), default=0.0)
    if unit == "1":
        return 0.01, "%"
    scales = {"s": _SECONDS, "B": _BYTES}.get(unit, ((unit, 1.0),))
    name, scale = _scale(largest, scales)
    return scale, name


def _scaled(value: float, scales: _Scales) -> str:
    name, scale = _scale(value, scales)
    return f"{round_to(value / scale)} {name}"


def _scale(value: float, scales: _Scales) -> tuple[str, float]:
    """Return the largest unit in which the value is at least one, else the smallest; nothing is in the largest."""
    if value == 0:
        return scales[0]
    return next(((name, scale) for name, scale in scales if abs(value) >= scale), scales[-1])
