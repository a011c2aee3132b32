"""Whether a level and its baseline may run at the same moment, and whether they did. Pure.

At the same moment, what disturbs the machine strikes both alike. What they do to *each other* it cannot tell from the
level's cost, so they may not have a CPU in common.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

# The share of the shorter of two measured rounds that has to lie in the other.
LEAST_OVERLAP = 0.8

# The CPUs of a side's nodes, by the part they have in it: "service", "load".
Side = Mapping[str, Sequence[int]]


def obstacle(sides: Sequence[Side], *, service: str, twice: bool) -> str | None:
    """Return why no duet can be run, in words that a report takes up; None if it can.

    ``sides`` are those of the lab, ``twice`` says whether the ``service`` can be deployed on two of them.
    """
    if not twice:
        return f"the service {service} cannot be deployed twice"
    if len(sides) < 2:
        return "the lab has one side; experiment.secondSide names the nodes of a second"
    first, second = sides[0], sides[1]
    if shared := sorted(_cpus(first) & _cpus(second)):
        return f"the sides share CPU{'' if len(shared) == 1 else 's'} {', '.join(map(str, shared))}"
    for part in first:
        counts = len(first[part]), len(second[part])
        if counts[0] != counts[1]:
            return f"the sides are unlike: CPUs of the {part} are {counts[0]} on one and {counts[1]} on the other"
    return None


def apart(spans: Sequence[tuple[float, float]]) -> tuple[str, ...]:
    """Say that two measured rounds (Unix times, seconds) did not run at the same moment; nothing if they did."""
    (one_began, one_ended), (other_began, other_ended) = spans
    shorter = min(one_ended - one_began, other_ended - other_began)
    common = max(0.0, min(one_ended, other_ended) - max(one_began, other_began))
    if common >= LEAST_OVERLAP * shorter:
        return ()
    return (
        f"the two of the pair ran together for {common:.1f} of {shorter:.1f} s, less than {LEAST_OVERLAP:.0%}: "
        "longer trials overlap more",
    )


def _cpus(side: Side) -> set[int]:
    return {cpu for cpus in side.values() for cpu in cpus}
