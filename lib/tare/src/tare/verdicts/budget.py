"""Budgets: what is claimed of estimates, and the verdict on it. Pure.

A claim is held when its whole interval is inside what the budget allows, missed when the whole interval is
outside, and undecided otherwise: then another block may decide it, and the error rate stays what it was.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

from tare import quantity
from tare.errors import TareError, UsageError
from tare.verdicts.estimate import Contrast, Estimate, Figure, Found, Source

State = Literal["held", "missed", "undecided"]

# The error rate of a budget that nothing else sets it for.
DEFAULT_ALPHA = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """An estimate lies between ``low`` and ``high`` (its unit); ``text`` is the allowed range as a person reads it."""

    estimate: Estimate
    low: float
    high: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A claim, what was found, and what that says of it."""

    claim: Claim
    found: Found
    state: State

    def sentence(self) -> str:
        """Return the figure, its interval, n and the budget in one line."""
        show, found = self.claim.estimate.show, self.found
        interval = f"{show_bound(show, found.interval.low)} … {show_bound(show, found.interval.high)}"
        if not found.bounded:
            interval = "not bounded yet"
        left_out = f", {found.left_out} left out without a value" if found.left_out else ""
        return (
            f"{self.state}: {self.claim.estimate.text} = {show(found.value)}, interval {interval} "
            f"({100 * (1 - found.alpha):.4g} %, valid at every look; n = {found.n} blocks{left_out}), "
            f"budget {self.claim.text}"
        )


def show_bound(show: Callable[[float | None], str], bound: float) -> str:
    return show(bound) if math.isfinite(bound) else ("-∞" if bound < 0 else "∞")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the blocks so far say of a budget, claim by claim."""

    state: State
    judged: tuple[Judged, ...]

    def lines(self) -> list[str]:
        """Return a line for each claim; of several, first the verdict on the whole."""
        sentences = [judged.sentence() for judged in self.judged]
        return sentences if len(sentences) == 1 else [f"{self.state}: {len(sentences)} claims together", *sentences]


class Undecided(TareError):
    """The blocks there are decide neither way; carries the verdict."""

    def __init__(self, verdict: Verdict, why: str) -> None:
        self.verdict = verdict
        self.why = why
        super().__init__("\n".join([*verdict.lines(), why]))


@runtime_checkable
class Judge(Protocol):
    """A run that can go on measuring until a budget is decided."""

    def decide(self, budget: Budget) -> Verdict:
        """Return the verdict, measuring as many blocks as it needs and the run's design allows."""
        ...


class Budget:
    """One or more claims that hold together.

    Its truth is its verdict: the first of its sources that is a ``Judge`` measures on until it is decided. One of
    stored runs alone is judged at 5 %. Undecided is neither true nor false: ``Undecided`` is raised.
    """

    def __init__(self, claims: Iterable[Claim], *, text: str) -> None:
        self.claims = tuple(claims)
        self.text = text
        self.verdict: Verdict | None = None

    @property
    def sources(self) -> tuple[Source, ...]:
        """The runs it draws on, each once."""
        found = [source for claim in self.claims for source in claim.estimate.sources]
        return tuple({id(source): source for source in found}.values())

    def judge(self, *, alpha: float) -> Verdict:
        """Return the verdict from the blocks there are.

        The claims share ``alpha`` (Bonferroni); one with two bounds can be wrong at both, and has two shares.
        """
        shares = sum(math.isfinite(claim.low) + math.isfinite(claim.high) for claim in self.claims)
        judged = tuple(judge(claim, alpha=alpha / shares) for claim in self.claims)
        states = {each.state for each in judged}
        state: State = "missed" if "missed" in states else "undecided" if "undecided" in states else "held"
        return Verdict(state=state, judged=judged)

    def __bool__(self) -> bool:
        judge = next((source for source in self.sources if isinstance(source, Judge)), None)
        self.verdict = judge.decide(self) if judge else self.judge(alpha=DEFAULT_ALPHA)
        if self.verdict.state == "undecided":
            more = "its design allows no more blocks" if judge else "a stored run has no more blocks"
            raise Undecided(self.verdict, f"{more}; more blocks or longer trials would narrow the interval")
        return self.verdict.state == "held"

    def __repr__(self) -> str:
        return "\n".join(self.verdict.lines()) if self.verdict else self.text


def judge(claim: Claim, *, alpha: float) -> Judged:
    """Return the verdict on one claim from the blocks there are."""
    found = claim.estimate.find(alpha=alpha)
    low, high = found.interval.low, found.interval.high
    state: State
    if found.value is None:
        state = "undecided"
    elif claim.low <= low and high <= claim.high:
        state = "held"
    elif high < claim.low or low > claim.high:
        state = "missed"
    else:
        state = "undecided"
    return Judged(claim=claim, found=found, state=state)


def compared(estimate: Estimate, relation: str, bound: Any) -> Budget:
    """Return the budget ``estimate relation bound``. Two figures are compared by their ratio, differences by theirs.

    Raises UsageError for a bound without a unit where the estimate has one.
    """
    text = f"{estimate.text} {relation} {bound.text if isinstance(bound, Estimate) else repr(bound)}"
    if isinstance(bound, Estimate):
        estimate, limit = _against(estimate, bound, text)
    else:
        limit = quantity.in_base(bound, unit=estimate.unit, what=text)
    low, high = (limit, math.inf) if relation.startswith(">") else (-math.inf, limit)
    claim = Claim(estimate=estimate, low=low, high=high, text=f"{relation} {estimate.show(limit)}")
    return Budget([claim], text=text)


def equivalent(a: Figure, b: Figure, *, within: float | str) -> Budget:
    """Return the budget that two figures are no more than a share apart, such as ``within="2 %"``.

    Their ratio lies between 1 / (1 + share) and 1 + share; both bounds are judged on one interval (TOST, Schuirmann
    1987), of which each has its share of the error rate.
    """
    share = _share(within, "equivalent(..., within=...)")
    ratio = _ratio(a, b, "equivalent")
    claim = Claim(estimate=ratio, low=1 / (1 + share), high=1 + share, text=f"within {share:.3g} of each other")
    return Budget([claim], text=f"equivalent({a.text}, {b.text}, within={within!r})")


def non_inferior(a: Figure, b: Figure, *, margin: float | str) -> Budget:
    """Return the budget that ``a`` is worse than ``b`` by less than a share, in the metric's good direction."""
    share = _share(margin, "non_inferior(..., margin=...)")
    ratio = _ratio(a, b, "non_inferior")
    if a.better == "higher":
        claim = Claim(estimate=ratio, low=1 - share, high=math.inf, text=f"at least {1 - share:.3g}")
    else:
        claim = Claim(estimate=ratio, low=-math.inf, high=1 + share, text=f"at most {1 + share:.3g}")
    return Budget([claim], text=f"non_inferior({a.text}, {b.text}, margin={margin!r})")


def ranking(figures: Sequence[Figure]) -> Budget:
    """Return the budget that the figures stand in this order, the best first, in the metric's good direction.

    Each pair of neighbours is a claim; together they imply all the others. Raises UsageError for fewer than two.
    """
    figures = tuple(figures)
    if len(figures) < 2:
        raise UsageError(f"ranking: expected two figures or more, the best first; found {len(figures)}")
    claims = []
    for better, worse in itertools.pairwise(figures):
        ratio = _ratio(better, worse, "ranking")
        higher = better.better == "higher"
        low, high = (1.0, math.inf) if higher else (-math.inf, 1.0)
        claims.append(Claim(estimate=ratio, low=low, high=high, text=f"{'>=' if higher else '<='} 1"))
    return Budget(claims, text=f"ranking({', '.join(figure.text for figure in figures)})")


def _against(estimate: Estimate, bound: Estimate, text: str) -> tuple[Estimate, float]:
    if isinstance(estimate, Figure) and isinstance(bound, Figure):
        return estimate / bound, 1.0
    if isinstance(estimate, Contrast) and isinstance(bound, Contrast) and estimate.unit == bound.unit:
        for combined, limit in ((estimate.__truediv__(bound), 1.0), (estimate.__sub__(bound), 0.0)):
            if combined is not NotImplemented:
                return combined, limit
    raise UsageError(f"{text}: cannot be compared; compare two figures, two ratios, or two differences of one unit")


def _ratio(a: Figure, b: Figure, who: str) -> Estimate:
    for given in (a, b):
        if not isinstance(given, Figure):
            raise UsageError(f"{who}: expected figures such as lab.goodput(runtime='runc'), found {given!r}")
    return a / b


def _share(value: float | str, what: str) -> float:
    share = quantity.in_base(value, unit="1", what=what)
    if not 0 < share < 1:
        raise UsageError(f"{what}: expected a share between 0 and 1, such as '2 %', found {value!r}")
    return share
