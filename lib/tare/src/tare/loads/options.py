"""The options of a load: what each takes, and an error that shows the right form. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tare import quantity
from tare.errors import UsageError

Value = int | float | bool | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option. Without a ``default`` it has to be given.

    A count is a whole number above 0. An amount is a number above 0 in ``unit`` (a base unit), or text with a
    unit ("2 s"). A switch is True or False, or "on" or "off", as levels of a factor are written.
    """

    kind: Literal["count", "amount", "switch", "text"]
    description: str
    example: Value
    default: Value | None = None
    unit: str = quantity.DIMENSIONLESS

    @property
    def expected(self) -> str:
        """What it takes, in words."""
        if self.kind == "amount":
            return f"a number above 0 (in {self.unit}), or text with its unit"
        return {"count": "a whole number above 0", "switch": "True or False", "text": "a text"}[self.kind]


def settle(load: str, known: Mapping[str, Option], given: Mapping[str, object]) -> dict[str, Any]:
    """Return all the known options by name: counts as int, amounts as float in base units, switches as bool.

    Raises UsageError for an option that is not known, one that is missing, and a value it does not take.
    """
    for name, value in given.items():
        if name not in known:
            raise UsageError(f"load {load}: option {name!r} (found with {value!r}) is not known; {_listed(known)}")
    return {name: _settle_one(load, name, option, given) for name, option in known.items()}


def _settle_one(load: str, name: str, option: Option, given: Mapping[str, object]) -> Value:
    if name not in given:
        if option.default is None:
            raise UsageError(
                f"load {load}: option {name!r} is missing: {option.description}. Write {_form(name, option)}."
            )
        return option.default
    value = _converted(f"load {load}: option {name!r}", option, given[name])
    if value is None:
        found = f"expected {option.expected}, found {given[name]!r}"
        raise UsageError(f"load {load}: option {name!r}: {found}. Write {_form(name, option)}.")
    return value


def _converted(what: str, option: Option, found: object) -> Value | None:
    """Return the value, or None if it is none of its kind."""
    number = found if isinstance(found, int | float) and not isinstance(found, bool) else None
    match option.kind:
        case "count":
            # Levels of factors are kept as floats.
            return int(number) if number is not None and 0 < number < math.inf and number == int(number) else None
        case "amount":
            if isinstance(found, str):
                number = quantity.in_base(found, unit=option.unit, what=what)
            return float(number) if number is not None and 0 < number < math.inf else None
        case "switch":
            return found if isinstance(found, bool) else {"on": True, "off": False}.get(str(found))
        case "text":
            return found if isinstance(found, str) and found else None


def _form(name: str, option: Option) -> str:
    return f"{name}={option.example!r}"


def _listed(known: Mapping[str, Option]) -> str:
    return "there are: " + "; ".join(f"{_form(name, option)} ({option.description})" for name, option in known.items())
