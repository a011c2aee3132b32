"""Several budgets on one experiment share one error rate."""

from __future__ import annotations


def directional_level(alpha: float, *, budgets: int, decided: int) -> float:
    """Return the level of the two-sided sequence on which the next of ``budgets`` is judged: 2 alpha / (2 m - d).

    A budget is two one-sided hypotheses, "the effect is above the bound" and "it is not"; rejecting one is the verdict
    "held", rejecting the other "missed". Of the 2 m hypotheses of m budgets exactly m are true, one of each pair. Holm
    tests each at alpha / (2 m - d) after d rejections (S. Holm, "A simple sequentially rejective multiple test
    procedure", Scandinavian Journal of Statistics 6, 1979), and a two-sided symmetric sequence of level 2 x spends x
    on each side, which gives the level.

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
