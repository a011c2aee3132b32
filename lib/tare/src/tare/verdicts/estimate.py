"""Estimates: what a metric is at a cell, and ratios and differences of such, one observation a block. Pure.

Values of one run are compared within their block, so that what disturbs a block strikes both sides alike. Values of
different runs share no block; their intervals are combined instead, each at its share of the error rate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from tare import quantity
from tare.errors import UsageError
from tare.stats.sequence import Interval, Method, centre, sequence
from tare.units import ratio as show_ratio
from tare.units import show

if TYPE_CHECKING:
    from tare.verdicts.budget import Budget

Scale = Literal["log", "linear"]


class Source(Protocol):
    """One run, which values come from; ``method`` is how its intervals are made."""

    @property
    def method(self) -> Method: ...


Values = Callable[[], Mapping[int, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One run's share of an estimate: a value a block on the estimate's scale, and how many blocks have none."""

    source: Source
    values: Values
    left_out: Callable[[], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """An estimate in its unit, with the bounds that hold at ``1 - alpha`` at every look; ``n`` blocks are in it.

    ``value`` is None without a block. ``bounded`` is false while the interval holds everything. ``left_out`` blocks
    have no value, such as a latency where nothing succeeded.
    """

    value: float | None
    interval: Interval
    bounded: bool
    n: int
    left_out: int
    alpha: float


class Estimate:
    """A figure with an interval. It takes part in ``/`` and ``-``, and compared with a number, a quantity or another
    estimate it gives a budget. ``unit`` is a base unit, ``text`` how the test wrote it."""

    def __init__(
        self, *, text: str, unit: str, scale: Scale, parts: tuple[Part, ...], offset: float = 0.0, sign: int = 1
    ) -> None:
        self.text = text
        self.unit = unit
        self._scale = scale
        self._parts = parts
        self._offset = offset
        self._sign = sign

    @property
    def sources(self) -> tuple[Source, ...]:
        """The runs it draws on, each once."""
        return tuple({id(part.source): part.source for part in self._parts}.values())

    def find(self, *, alpha: float) -> Found:
        """Return the estimate from the blocks there are; see ``Found``."""
        each = [list(part.values().values()) for part in self._parts]
        interval = _sum(
            [
                sequence(values, alpha=alpha / len(self._parts), method=part.source.method)
                for part, values in zip(self._parts, each, strict=True)
            ]
        )
        low, high = sorted((self._back(interval.low), self._back(interval.high)))
        centres = [
            centre(values, method=part.source.method) for part, values in zip(self._parts, each, strict=True) if values
        ]
        return Found(
            value=self._back(math.fsum(centres)) if len(centres) == len(each) else None,
            interval=Interval(low=low, high=high),
            bounded=math.isfinite(interval.width),
            n=min(map(len, each)),
            left_out=sum(part.left_out() for part in self._parts),
            alpha=alpha,
        )

    def show(self, value: float | None) -> str:
        """Return a value of this estimate as text: a ratio as a number, another share as percent."""
        if self._scale == "log" and self._offset == 0:
            return show_ratio(value)
        return show(value, self.unit)

    def _back(self, value: float) -> float:
        if self._scale == "log":
            # Two wildly different blocks have a bound beyond any float: it is infinite, no error.
            value = math.exp(value) if value < 709 else math.inf
        return self._offset + self._sign * value

    def _budget(self, relation: str, bound: Any) -> Budget:
        from tare.verdicts import budget

        return budget.compared(self, relation, bound)

    def __ge__(self, bound: Any) -> Budget:
        return self._budget(">=", bound)

    def __gt__(self, bound: Any) -> Budget:
        return self._budget(">", bound)

    def __le__(self, bound: Any) -> Budget:
        return self._budget("<=", bound)

    def __lt__(self, bound: Any) -> Budget:
        return self._budget("<", bound)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Estimate | int | float | str):
            raise UsageError(
                f"{self.text} == {_text(other)}: two measured figures are never equal; "
                'say how far apart they may be: equivalent(a, b, within="2 %")'
            )
        return NotImplemented

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise UsageError(f"{self.text} is a figure, neither true nor false: compare it, as in `{self.text} <= ...`")

    def __repr__(self) -> str:
        return self.text

    def __truediv__(self, other: Any) -> Estimate:
        return NotImplemented

    def __sub__(self, other: Any) -> Estimate:
        return NotImplemented


class Contrast(Estimate):
    """A ratio or a difference of figures."""

    def __truediv__(self, other: Any) -> Estimate:
        if not isinstance(other, Contrast) or "linear" in (self._scale, other._scale) or self._offset or other._offset:
            return NotImplemented
        return Contrast(
            text=f"({self.text}) / ({other.text})", unit="1", scale="log", parts=_minus(self._parts, other._parts)
        )

    def __sub__(self, other: Any) -> Estimate:
        if isinstance(other, Contrast) and self._scale == other._scale == "linear" and self.unit == other.unit:
            return Contrast(
                text=f"({self.text}) - ({other.text})",
                unit=self.unit,
                scale="linear",
                parts=_minus(self._parts, other._parts),
            )
        if isinstance(other, Estimate):
            return NotImplemented
        shift = quantity.in_base(other, unit=self.unit, what=f"{self.text} - ...")
        return self._moved(f"{self.text} - {_text(other)}", self._offset - shift, self._sign)

    def __rsub__(self, other: Any) -> Estimate:
        start = quantity.in_base(other, unit=self.unit, what=f"... - {self.text}")
        return self._moved(f"{_text(other)} - {self.text}", start - self._offset, -self._sign)

    def _moved(self, text: str, offset: float, sign: int) -> Contrast:
        return Contrast(text=text, unit=self.unit, scale=self._scale, parts=self._parts, offset=offset, sign=sign)


class Figure(Estimate):
    """A metric at one cell of one run: ``values`` gives its value in each block, ``blocks`` all that were measured."""

    def __init__(
        self,
        *,
        text: str,
        unit: str,
        better: Literal["higher", "lower"],
        source: Source,
        values: Values,
        blocks: Callable[[], int],
    ) -> None:
        self.better = better
        self._source = source
        self._values = values
        self._blocks = blocks
        super().__init__(
            text=text,
            unit=unit,
            scale="linear",
            parts=(Part(source=source, values=values, left_out=lambda: blocks() - len(values())),),
        )

    def __truediv__(self, other: Any) -> Estimate:
        if not isinstance(other, Figure):
            return NotImplemented
        self._same_unit(other, "/")
        return Contrast(
            text=f"{self.text} / {other.text}", unit="1", scale="log", parts=self._paired(other, _log_ratio)
        )

    def __sub__(self, other: Any) -> Estimate:
        if not isinstance(other, Figure):
            return NotImplemented
        self._same_unit(other, "-")
        return Contrast(
            text=f"{self.text} - {other.text}", unit=self.unit, scale="linear", parts=self._paired(other, _difference)
        )

    def _same_unit(self, other: Figure, sign: str) -> None:
        if self.unit != other.unit:
            raise UsageError(
                f"{self.text} {sign} {other.text}: in {self.unit} and in {other.unit}; compare figures of one unit"
            )

    def _paired(self, other: Figure, combine: Callable[[float, float], float | None]) -> tuple[Part, ...]:
        """Combine block by block, or, of two runs, keep each side as a part of its own."""
        if self._source is other._source:

            def values() -> dict[int, float]:
                mine, theirs = self._values(), other._values()
                pairs = {block: combine(mine[block], theirs[block]) for block in sorted(mine.keys() & theirs.keys())}
                return {block: value for block, value in pairs.items() if value is not None}

            return (Part(source=self._source, values=values, left_out=lambda: self._blocks() - len(values())),)
        neutral = 1.0 if combine is _log_ratio else 0.0
        return (self._alone(lambda value: combine(value, neutral)), other._alone(lambda value: combine(neutral, value)))

    def _alone(self, link: Callable[[float], float | None]) -> Part:
        def values() -> dict[int, float]:
            linked = {block: link(value) for block, value in self._values().items()}
            return {block: value for block, value in linked.items() if value is not None}

        return Part(source=self._source, values=values, left_out=lambda: self._blocks() - len(values()))


def _log_ratio(above: float, below: float) -> float | None:
    """The logarithm of a ratio; a figure of zero or less has none."""
    return math.log(above / below) if above > 0 and below > 0 else None


def _difference(left: float, right: float) -> float | None:
    return left - right


def _minus(left: tuple[Part, ...], right: tuple[Part, ...]) -> tuple[Part, ...]:
    """Subtract parts: those of one run block by block, the others side by side."""
    if len(left) == len(right) == 1 and left[0].source is right[0].source:
        mine, theirs = left[0], right[0]

        def values() -> dict[int, float]:
            found, taken = mine.values(), theirs.values()
            return {block: found[block] - taken[block] for block in sorted(found.keys() & taken.keys())}

        return (Part(source=mine.source, values=values, left_out=lambda: max(mine.left_out(), theirs.left_out())),)
    return (*left, *(_negative(part) for part in right))


def _negative(part: Part) -> Part:
    def values() -> dict[int, float]:
        return {block: -value for block, value in part.values().items()}

    return Part(source=part.source, values=values, left_out=part.left_out)


def _sum(intervals: list[Interval]) -> Interval:
    return Interval(
        low=math.fsum(interval.low for interval in intervals), high=math.fsum(interval.high for interval in intervals)
    )


def _text(value: object) -> str:
    return value.text if isinstance(value, Estimate) else repr(value)
