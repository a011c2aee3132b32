"""Several budgets on one experiment share one error rate."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return the adjusted p-values, in the order given: reject those at most alpha, and the family's error is alpha.

    The i-th smallest of m is multiplied by m - i + 1 and never put below the one before it. S. Holm, "A simple
    sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979). Raises ValueError
    for a p-value outside [0, 1].
    """
    for p_value in p_values:
        if not 0 <= p_value <= 1:
            raise ValueError(f"p-value: expected a number from 0 to 1, found {p_value!r}")
    adjusted = [0.0] * len(p_values)
    least = 0.0
    for position, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        least = max(least, min(1.0, (len(p_values) - position) * p_values[index]))
        adjusted[index] = least
    return tuple(adjusted)


def directional_level(alpha: float, *, budgets: int, decided: int) -> float:
    """Return the level of the two-sided sequence on which the next of ``budgets`` is judged: 2 alpha / (2 m - d).

    A budget is two one-sided hypotheses, "the effect is above the bound" and "it is not"; rejecting one is the verdict
    "held", rejecting the other "missed". Of the 2 m hypotheses of m budgets exactly m are true, one of each pair. Holm
    tests each at alpha / (2 m - d) after d rejections, and a two-sided symmetric sequence of level 2 x spends x on
    each side, which gives the level.

    Proof that a wrong verdict anywhere has probability alpha at most. Consider the first wrong one. Each budget
    decided before it was decided rightly, and it is not among them, so d <= m - 1 and the level then is at most
    L = 2 alpha / (m + 1); levels only grow with d, and a sequence at a larger level lies inside one at a smaller.
    So for some budget the sequence at level L left the truth on the side of its one true hypothesis, before it left
    it on the other, where the verdict would have been right and final. That has probability L / 2 for each of the m
    budgets, together m alpha / (m + 1) < alpha. It asks no independence of the budgets.

    Raises ValueError unless 0 < alpha < 1 and 0 <= decided < budgets.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha: expected an error rate between 0 and 1, such as 0.05, found {alpha!r}")
    if not 0 <= decided < budgets:
        raise ValueError(f"decided: expected 0 to {budgets - 1} of {budgets} budgets, found {decided}")
    return 2 * alpha / (2 * budgets - decided)
