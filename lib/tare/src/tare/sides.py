"""The sides of a lab: where a service stands, and where its loads run. Pure.

A side is the lab as the service and the loads of that side see it: the same but for the nodes. So neither has to know
that there is another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import TypeVar

from tare.manifest import Loads, Manifest, Services
from tare.trials.duet import Side

GroupT = TypeVar("GroupT", Services, Loads)


def of_lab(manifest: Manifest) -> tuple[Manifest, ...]:
    """Return the lab's sides: itself, and the same on the nodes of the second side where it has one."""
    second = manifest.experiment.second_side
    if second is None:
        return (manifest,)
    services = _moved(manifest.services, second.service_node)
    return manifest, replace(manifest, services=services, loads=_moved(manifest.loads, second.load_node))


def cpus(side: Manifest, of_nodes: Mapping[str, Sequence[int]]) -> Side:
    """Return the CPUs of a side by the part they have in it; ``of_nodes`` are those of every node of the lab."""
    return {
        part: sorted({cpu for node in _nodes(group) for cpu in of_nodes[node]})
        for part, group in (("service", side.services), ("load", side.loads))
    }


def _moved(group: GroupT, node: str) -> GroupT:
    declared = {field.name: getattr(group, field.name) for field in fields(group)}
    return replace(group, **{name: replace(spec, node=node) for name, spec in declared.items() if spec is not None})


def _nodes(group: Services | Loads) -> set[str]:
    declared = (getattr(group, field.name) for field in fields(group))
    return {spec.node for spec in declared if spec is not None}
