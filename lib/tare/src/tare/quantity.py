"""Quantities with units, as a person writes them ("0.5 ms", "5 %"), from and to base units. Pure.

Base units are those of a metric in the lab: s, B, 1, and rates of them; tx, req and cpu count things.
"""

from __future__ import annotations

import functools
import re
from typing import Any

from tare.errors import UsageError

# A number alone may stand where there is nothing to mistake: a share or a ratio.
DIMENSIONLESS = "1"
_EXAMPLES = {"s": "0.5 ms", "B": "64 KiB", "1": "5 %", "cpu": "0.5 cpu"}


@functools.cache
def _registry() -> Any:
    import pint

    registry: pint.UnitRegistry[float] = pint.UnitRegistry()
    for thing, names in (("transaction", "tx"), ("request", "req"), ("processor", "cpu")):
        registry.define(f"{thing} = [{thing}] = {names}")
    return registry


def in_base(value: Any, *, unit: str, what: str) -> float:
    """Return a value in ``unit``, a base unit. ``value`` is a string with a unit, a pint quantity, or, where the
    unit is 1, a number. ``what`` names the place in errors.

    Raises UsageError, which shows the right form, for a bare number with a dimension, an unknown unit, or another
    dimension.
    """
    example = example_of(unit)
    if isinstance(value, bool) or (not isinstance(value, int | float | str) and not hasattr(value, "units")):
        raise UsageError(f"{what}: expected a quantity such as {example!r}, found {value!r}")
    if isinstance(value, int | float):
        if unit != DIMENSIONLESS:
            raise UsageError(f"{what}: {value!r} has no unit, and this is measured in {unit}. Write {example!r}.")
        return float(value)
    import pint

    try:
        quantity = _registry().Quantity(_normal(value)) if isinstance(value, str) else value
        if isinstance(value, str) and unit != DIMENSIONLESS and not re.search(r"[^\d\s.eE+-]", value):
            raise UsageError(f"{what}: {value!r} has no unit, and this is measured in {unit}. Write {example!r}.")
        target = _registry().Unit("dimensionless" if unit == DIMENSIONLESS else unit)
        # Pint counts information without a dimension: five bytes would pass for the ratio forty.
        if _is_information(str(quantity.units)) != _is_information(str(target)):
            raise pint.DimensionalityError(quantity.units, target)
        return float(_registry().Quantity(quantity.magnitude, str(quantity.units)).to(target).magnitude)
    except pint.DimensionalityError:
        raise UsageError(f"{what}: {value!r} is not in {_said(unit)}. Write {example!r}.") from None
    except (pint.PintError, ValueError, TypeError, AttributeError) as error:
        raise UsageError(f"{what}: {value!r} is no quantity ({error}). Write {example!r}.") from None


def example_of(unit: str) -> str:
    """Return how a quantity in this base unit is written."""
    return _EXAMPLES.get(unit, f"100 {unit}")


def _normal(text: str) -> str:
    """Pint takes the percent sign as an operator unless a unit stands there."""
    return text.replace("%", " percent")


def _is_information(units: str) -> bool:
    return re.search(r"(byte|bit|octet)\b", units) is not None


def _said(unit: str) -> str:
    return "a share or ratio" if unit == DIMENSIONLESS else unit
