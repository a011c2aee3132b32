"""Which levels of a lab's factors can run on this machine, and why the others cannot. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tare.manifest import Factor, Level, Manifest
from tare.trials.levels import normal

# The factor whose levels are names of the lab's runtimes.
RUNTIME_FACTOR = "runtime"
# The factor whose levels are CPUs that all of the service's containers have together.
TOTAL_CPUS_FACTOR = "total_cpus"
# The factor whose levels are arms of the lab's meshes.
ARM_FACTOR = "arm"


def reasons(
    manifest: Manifest,
    factors: Mapping[str, Factor],
    *,
    runtimes: Mapping[str, str | None],
    cpus: Mapping[str, Sequence[int]],
) -> dict[str, dict[Level, str | None]]:
    """Return, for each level of each factor, None if it can run here, else the reason why not.

    ``runtimes`` says the same of the lab's runtimes, ``cpus`` are the CPUs of each of its nodes.
    """
    found: dict[str, dict[Level, str | None]] = {}
    for name, factor in factors.items():
        levels = map(normal, factor.levels)
        if name == RUNTIME_FACTOR:
            found[name] = {level: _runtime(level, runtimes) for level in levels}
        elif name == TOTAL_CPUS_FACTOR:
            found[name] = {level: _total_cpus(manifest, level, cpus) for level in levels}
        elif name == ARM_FACTOR and manifest.meshes:
            found[name] = {level: _arm(manifest, level) for level in levels}
        else:
            found[name] = dict.fromkeys(levels)
    return found


def _runtime(level: Level, runtimes: Mapping[str, str | None]) -> str | None:
    if level not in runtimes:
        return f"the lab declares no runtime {level!r}; it has {', '.join(sorted(runtimes))}"
    return runtimes[str(level)]


def _arm(manifest: Manifest, level: Level) -> str | None:
    for mesh in manifest.meshes.values():
        if level in mesh.arms:
            return mesh.upstream.absence if mesh.upstream is not None and mesh.upstream.path is None else None
    return f"no mesh of the lab has an arm {level!r}"


def _total_cpus(manifest: Manifest, level: Level, cpus: Mapping[str, Sequence[int]]) -> str | None:
    fabric = manifest.services.fabric
    if fabric is None or isinstance(level, str) or level <= len(cpus[fabric.node]):
        return None
    count = len(cpus[fabric.node])
    return f"node {fabric.node!r} has {count} CPU{'' if count == 1 else 's'} on this machine"
