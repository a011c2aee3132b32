"""Combinations of levels: full factorial, or a regular fraction of a two-level one. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from tare.errors import UsageError
from tare.manifest import Level
from tare.trials.levels import Levels


def full(levels: Mapping[str, Sequence[Level]]) -> tuple[Levels, ...]:
    """Return every combination, the last factor's levels changing fastest; one empty combination of no factors."""
    return tuple(dict(zip(levels, combination, strict=True)) for combination in itertools.product(*levels.values()))


def fraction(levels: Mapping[str, Sequence[Level]], *, resolution: int) -> tuple[Levels, ...]:
    """Return the smallest regular fraction of this resolution (Box and Hunter 1961), from pydoe's ``fracfact_by_res``.

    At resolution III no main effect is aliased with another, at IV none with an interaction of two.
    Raises UsageError for a factor that has not two levels, and for a resolution that the factors do not allow.
    """
    for name, of_factor in levels.items():
        if len(of_factor) != 2:
            raise UsageError(
                f"resolution={resolution}: a fraction needs two levels of every factor that is not compared, "
                f"found {len(of_factor)} of {name!r}. Give two, or leave resolution out to measure every combination."
            )
    import pydoe  # with SciPy, a second that the others need not wait

    try:
        signs = pydoe.fracfact_by_res(len(levels), resolution)
    except ValueError as error:
        raise UsageError(f"resolution={resolution}: not possible with {len(levels)} factors: {error}") from None
    return tuple(
        {name: of_factor[int(sign > 0)] for (name, of_factor), sign in zip(levels.items(), row, strict=True)}
        for row in signs
    )
