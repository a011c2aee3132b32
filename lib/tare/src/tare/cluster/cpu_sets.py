"""Which CPUs each node has. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tare import manifest
from tare.cgroup import cpu_list
from tare.errors import UsageError


def divide(nodes: Mapping[str, manifest.Node], online: Sequence[int]) -> dict[str, tuple[int, ...]]:
    """Return each node's CPUs, disjoint unless the machine has fewer CPUs than nodes.

    A node with ``cpus`` gets those; the rest is divided among the others in proportion to
    ``cpu_weight``, at least one each, in order of name. When there are not enough, the others
    share what is left, or everything if nothing is. Raises UsageError for a set that is not a
    list of online CPUs or overlaps another's.
    """
    fixed: dict[str, tuple[int, ...]] = {}
    for name, node in nodes.items():
        if node.cpus is not None:
            fixed[name] = _fixed(name, node.cpus, online, fixed)
    taken = {cpu for cpus in fixed.values() for cpu in cpus}
    free = [cpu for cpu in sorted(online) if cpu not in taken]
    others = [name for name in sorted(nodes) if name not in fixed]
    if len(free) < len(others):
        return {**fixed, **{name: tuple(free or sorted(online)) for name in others}}
    counts = _apportion({name: max(1, nodes[name].cpu_weight) for name in others}, len(free))
    shares = {}
    for name in others:
        shares[name], free = tuple(free[: counts[name]]), free[counts[name] :]
    return {name: fixed.get(name) or shares[name] for name in nodes}


def _fixed(name: str, text: str, online: Sequence[int], others: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    where = f"nodes.{name}.cpus"
    try:
        if not (cpus := cpu_list(text)):
            raise ValueError("it names no CPU")
    except ValueError as error:
        raise UsageError(f'{where}: expected a CPU list such as "0-2,5", found {text!r}: {error}') from None
    if missing := set(cpus) - set(online):
        raise UsageError(f"{where}: this machine has no CPU {min(missing)}; it has {', '.join(map(str, online))}")
    for other, theirs in others.items():
        if both := set(cpus) & set(theirs):
            raise UsageError(f"{where}: CPU {min(both)} belongs to the node {other} already; give each node its own")
    return cpus


def _apportion(weights: Mapping[str, int], total: int) -> dict[str, int]:
    """Divide ``total`` by weight in whole numbers of at least one: each further one goes where it is most due."""
    counts = dict.fromkeys(weights, 1)
    for _ in range(total - len(weights) if weights else 0):
        due = max(weights, key=lambda name: (weights[name] / (counts[name] + 1), name))
        counts[due] += 1
    return counts
