"""Which runtimes can run here, and the RuntimeClass objects of those that can."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tare import manifest
from tare.machine import Machine


def levels(runtimes: Mapping[str, manifest.Runtime], machine: Machine) -> dict[str, str | None]:
    """Return for each runtime None if it can run here, else every reason why not, in one line."""
    return {name: "; ".join(_reasons(runtime, machine)) or None for name, runtime in runtimes.items()}


def _reasons(runtime: manifest.Runtime, machine: Machine) -> list[str]:
    reasons = [f"{lacking.name}: {lacking.detail}" for lacking in machine.lacks(runtime.requires)]
    upstream = runtime.upstream
    if upstream is not None and (upstream.path is None or not Path(upstream.path).exists()):
        reasons.append(upstream.absence)
        return reasons
    for path in (runtime.shim, runtime.binary):
        if path is not None and not Path(path).exists():
            reasons.append(f"{path} is not there")
    return reasons


def objects(runtimes: Mapping[str, manifest.Runtime]) -> list[dict[str, Any]]:
    """Return a RuntimeClass for each runtime, with what it adds to a pod's own needs."""
    classes = []
    for name, runtime in runtimes.items():
        overhead = {"cpu": runtime.overhead_cpu, "memory": runtime.overhead_memory}
        fixed = {resource: quantity for resource, quantity in overhead.items() if quantity is not None}
        classes.append(
            {
                "apiVersion": "node.k8s.io/v1",
                "kind": "RuntimeClass",
                "metadata": {"name": name},
                "handler": runtime.handler,
                **({"overhead": {"podFixed": fixed}} if fixed else {}),
            }
        )
    return classes
