"""How a value in base units is written for a person: scaled, rounded, with its unit."""

from __future__ import annotations

import math


def show(value: float | None, unit: str) -> str:
    """Return a value (base units) as text: ``0.0123`` s is ``12.3 ms``; None is a dash."""
    if value is None:
        return "–"  # noqa: RUF001  # an en dash, as tables print what is not there
    if unit == "s":
        return _scaled(value, (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)))
    if unit == "B":
        return _scaled(value, (("GiB", 2.0**30), ("MiB", 2.0**20), ("KiB", 2.0**10), ("B", 1.0)))
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


def _scaled(value: float, scales: tuple[tuple[str, float], ...]) -> str:
    """Return the value in the largest unit in which it is at least one, else in the smallest."""
    name, scale = next(((name, scale) for name, scale in scales if abs(value) >= scale), scales[-1])
    if value == 0:
        name, scale = scales[0]
    return f"{round_to(value / scale)} {name}"
