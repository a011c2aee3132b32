"""Whether a trial's figures were steady while they were taken: the warm-up is looked for, not assumed. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.trials.trial import NOT_CHECKED

if TYPE_CHECKING:
    from tare.loads import LoadResult

# Fewer seconds show no course that change points could be found in.
LEAST_SECONDS = 10
NO_STEADY_STATE = "no steady state"


def steadiness(result: LoadResult) -> str:
    """Return from which second of the measured part on the load's completions were steady, in words that are kept."""
    from tare.stats.steady import steady_from

    if not result.completed_per_second:
        return f"{result.load}: {NOT_CHECKED}, it tells no completions per second"
    seconds = result.completed_per_second
    if len(seconds) < LEAST_SECONDS:
        return f"{result.load}: {NOT_CHECKED}, {len(seconds)} s are too short (at least {LEAST_SECONDS} s)"
    first = steady_from(seconds)
    if first is None:
        return f"{result.load}: {NO_STEADY_STATE}"
    return f"{result.load}: steady from second {first}"
