"""What is to be measured: the lab's experiment with a profile and the caller's wishes applied.

Pure. The caller's wishes go before the profile's, the profile's before the experiment's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tare.errors import UsageError
from tare.manifest import Experiment, Factor, Level
from tare.trials.levels import normal, show


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """The factors with the levels to measure; the baseline is always among those of ``compare``."""

    compare: str
    baseline: Level
    factors: Mapping[str, Factor]
    blocks: int
    warmup_seconds: float
    duration_seconds: float


def settle(
    experiment: Experiment,
    *,
    profile: str | None = None,
    blocks: int | None = None,
    duration_seconds: float | None = None,
    levels: Mapping[str, tuple[str, ...]] | None = None,
) -> Design:
    """Return the design. ``levels`` holds words as typed; those of a factor whose levels are numbers become numbers.

    Raises UsageError for an unknown profile, factor or level, and for blocks or a duration that is not positive.
    """
    chosen = None
    if profile is not None:
        chosen = experiment.profiles.get(profile)
        if chosen is None:
            known = ", ".join(sorted(experiment.profiles)) or "none"
            raise UsageError(f"profile {profile!r} is not known; this lab has: {known}")
    settled: dict[str, tuple[Level, ...]] = {}
    for name, factor in experiment.factors.items():
        settled[name] = (chosen.levels.get(name) if chosen else None) or factor.levels
    for name, words in (levels or {}).items():
        if name not in experiment.factors:
            raise UsageError(f"factor {name!r} is not known; this lab has: {', '.join(sorted(experiment.factors))}")
        settled[name] = tuple(_level(experiment, name, word) for word in words)
    if experiment.baseline not in settled[experiment.compare]:
        settled[experiment.compare] = (experiment.baseline, *settled[experiment.compare])
    if blocks is None:
        blocks = chosen.blocks if chosen and chosen.blocks is not None else experiment.blocks
    if duration_seconds is None:
        of_profile = chosen.duration_seconds if chosen else None
        duration_seconds = experiment.duration_seconds if of_profile is None else of_profile
    warmup = chosen.warmup_seconds if chosen and chosen.warmup_seconds is not None else experiment.warmup_seconds
    if blocks < 1:
        raise UsageError(f"blocks: expected at least 1, found {blocks}")
    if duration_seconds <= 0:
        raise UsageError(f"duration: expected more than 0 s, found {duration_seconds:g} s")
    return Design(
        compare=experiment.compare,
        baseline=normal(experiment.baseline),
        factors={
            name: Factor(
                levels=_distinct(settled[name]), scope=factor.scope, unit=factor.unit, description=factor.description
            )
            for name, factor in experiment.factors.items()
        },
        blocks=blocks,
        warmup_seconds=warmup,
        duration_seconds=duration_seconds,
    )


def _level(experiment: Experiment, name: str, word: str) -> Level:
    """A number is taken as it is; a word must be a level that the lab names somewhere."""
    declared = list(experiment.factors[name].levels)
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
