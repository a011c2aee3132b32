"""Levels of factors: their canonical form and how they are written."""

from __future__ import annotations

from collections.abc import Mapping

from tare.manifest import Level

Levels = Mapping[str, Level]


def normal(level: Level) -> Level:
    """Return the level in the form it is kept and compared in: a number is a float."""
    return level if isinstance(level, str) else float(level)


def show(level: Level, unit: str | None = None) -> str:
    """Return the level as a person writes it, with its unit when it has one: ``0.5 cpu``, ``runc``."""
    text = level if isinstance(level, str) else f"{level:g}"
    return f"{text} {unit}" if unit and not isinstance(level, str) else text


def describe(levels: Levels) -> str:
    """Return the levels in one line, factors in order of name: ``runtime=runc send_rate=25``."""
    return " ".join(f"{name}={show(levels[name])}" for name in sorted(levels))


def matches(levels: Levels, wanted: Levels) -> bool:
    """Say whether ``levels`` has every level of ``wanted``; numbers are equal as numbers."""
    return all(name in levels and normal(levels[name]) == normal(level) for name, level in wanted.items())


def without(levels: Levels, factor: str) -> dict[str, Level]:
    """Return the levels of all the other factors: the condition under which ``factor`` is compared."""
    return {name: level for name, level in levels.items() if name != factor}
