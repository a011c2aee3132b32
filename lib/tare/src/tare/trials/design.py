"""What is to be measured: the lab's experiment with a profile and the caller's wishes applied.

Pure. The caller's wishes go before the profile's, the profile's before the experiment's own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

from tare.errors import UsageError
from tare.manifest import Experiment, Factor, Level
from tare.trials.levels import normal, show


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """``least`` blocks are always measured; more, up to ``most``, as long as a budget is undecided."""

    least: int
    most: int

    def __post_init__(self) -> None:
        if not 1 <= self.least <= self.most:
            raise UsageError(
                f"blocks: expected the least and the most, at least 1 and not falling, such as (5, 40); "
                f"found ({self.least}, {self.most})"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """The factors with the levels to measure; the baseline is always among those of ``compare``.

    ``aa`` adds a second trial of each baseline cell to every block. ``resolution`` asks for a fraction of
    the combinations of the factors that are not compared; None for all of them. ``duet`` asks for
    level and baseline at the same moment, where the lab and the machine can.
    """

    compare: str
    baseline: Level
    factors: Mapping[str, Factor]
    blocks: Blocks
    warmup_seconds: float
    duration_seconds: float
    aa: bool = True
    resolution: int | None = None
    duet: bool = False


def settle(
    experiment: Experiment,
    *,
    profile: str | None = None,
    blocks: Blocks | None = None,
    warmup_seconds: float | None = None,
    duration_seconds: float | None = None,
    compare: str | None = None,
    baseline: Level | None = None,
    factors: Mapping[str, Factor] | None = None,
    levels: Mapping[str, tuple[str, ...]] | None = None,
    aa: bool = True,
    resolution: int | None = None,
    duet: bool = False,
) -> Design:
    """Return the design.

    ``factors`` replace those of the lab or stand beside them; ``levels`` holds words as typed, and those of a
    factor whose levels are numbers become numbers. Another ``compare`` needs its ``baseline``.
    Raises UsageError for an unknown profile, factor or level, and for a duration that is not positive.
    """
    chosen = None
    if profile is not None:
        chosen = experiment.profiles.get(profile)
        if chosen is None:
            known = ", ".join(sorted(experiment.profiles)) or "none"
            raise UsageError(f"profile {profile!r} is not known; this lab has: {known}")
    known_factors = {**experiment.factors, **(factors or {})}
    compare = compare or experiment.compare
    if compare not in known_factors:
        raise UsageError(f"factor {compare!r} is not known; this lab has: {', '.join(sorted(experiment.factors))}")
    if baseline is None:
        if compare != experiment.compare:
            raise UsageError(f"factor {compare!r} is compared: name the baseline among its levels")
        baseline = experiment.baseline
    settled: dict[str, tuple[Level, ...]] = {}
    for name, factor in known_factors.items():
        given = name in (factors or {})
        settled[name] = (None if given or chosen is None else chosen.levels.get(name)) or factor.levels
    for name, words in (levels or {}).items():
        if name not in known_factors:
            raise UsageError(f"factor {name!r} is not known; this lab has: {', '.join(sorted(known_factors))}")
        settled[name] = tuple(_level(experiment, known_factors, name, word) for word in words)
    if normal(baseline) not in map(normal, settled[compare]):
        settled[compare] = (baseline, *settled[compare])
    if blocks is None:
        count = chosen.blocks if chosen and chosen.blocks is not None else experiment.blocks
        blocks = Blocks(least=count, most=count)
    if duration_seconds is None:
        of_profile = chosen.duration_seconds if chosen else None
        duration_seconds = experiment.duration_seconds if of_profile is None else of_profile
    if warmup_seconds is None:
        of_profile = chosen.warmup_seconds if chosen else None
        warmup_seconds = experiment.warmup_seconds if of_profile is None else of_profile
    if duration_seconds <= 0:
        raise UsageError(f"duration: expected more than 0 s, found {duration_seconds:g} s")
    if warmup_seconds < 0:
        raise UsageError(f"warmup: expected 0 s or more, found {warmup_seconds:g} s")
    return Design(
        compare=compare,
        baseline=normal(baseline),
        factors={
            name: dataclasses.replace(factor, levels=_distinct(settled[name])) for name, factor in known_factors.items()
        },
        blocks=blocks,
        warmup_seconds=warmup_seconds,
        duration_seconds=duration_seconds,
        aa=aa,
        resolution=resolution,
        duet=duet,
    )


def _level(experiment: Experiment, factors: Mapping[str, Factor], name: str, word: str) -> Level:
    """A number is taken as it is; a word must be a level that the lab names somewhere."""
    declared = list(factors[name].levels)
    for profile in experiment.profiles.values():
        declared.extend(profile.levels.get(name, ()))
    if all(not isinstance(level, str) for level in declared):
        try:
            return float(word)
        except ValueError:
            raise UsageError(f"level {name}={word}: expected a number, such as {show(declared[0])}") from None
    if word not in declared:
        known = ", ".join(show(level) for level in _distinct(tuple(declared)))
        raise UsageError(f"level {name}={word} is not known; this lab has: {known}")
    return word


def _distinct(levels: tuple[Level, ...]) -> tuple[Level, ...]:
    return tuple(dict.fromkeys(normal(level) for level in levels))
